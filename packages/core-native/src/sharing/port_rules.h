#pragma once
// Who may register what beside whom on one port: docs/port-sharing.md.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "peer/messages.h"
#include "sharing/port_entries.h"

namespace httpsys::sharing {

// Why a registration may not be.
struct Conflict {
  int error = 0;  // A positive errno.
  uint64_t member = 0;
  std::string prefix;
  std::string queue = {};  // Of that prefix.
  ConflictReason reason = ConflictReason::kNone;
  std::string wanted = {};  // With kTerms: the prefix that is in its way.
};

// One registration beside the entries of a port. Both are as long as a port allows: what holds for
// many of the prefixes is worked out once. Used while neither changes.
class PortRules {
 public:
  PortRules(const PortEntries& entries, uint16_t port, uint64_t member,
            const peer::Register& wanted);

  // EINVAL: not a prefix of this port. ENOENT: the queue to attach to does not exist. EADDRINUSE
  // otherwise.
  std::optional<Conflict> Check();
  // Which prefix of others keeps its server from asking for certificates by these terms.
  std::optional<Conflict> CheckTerms();

 private:
  // On which sockets a prefix is served. Prefixes alike in this are alike for all of the port's
  // entries but those with the same key.
  using Place =
      std::tuple<bool, bool, std::array<uint8_t, 16>>;  // TLS, bound to an address, which.

  struct Found {
    const StateEntry* there = nullptr;
    ConflictReason reason = ConflictReason::kNone;
  };

  // A server that has entries which no ClientHello can tell from a candidate's, and other terms.
  struct Other {
    const StateEntry* first = nullptr;     // Of those entries.
    const StateEntry* unwanted = nullptr;  // One that the registration has not, too; or null.
  };

  static Place PlaceOf(const UrlPrefix& prefix);
  std::optional<Conflict> CheckOne(size_t index);
  const std::string* FindOwnScheme(size_t index);
  Found FindConflict(const StateEntry& candidate);
  Found FindByPlace(const StateEntry& candidate) const;
  const StateEntry* FindOtherTerms(const StateEntry& candidate);
  const std::vector<Other>& OthersOf(const StateEntry& candidate);
  bool IsThere(const peer::PrefixItem& item) const;
  Conflict TermsConflict(const StateEntry& there, const std::string& text) const;

  const PortEntries& entries_;
  const uint64_t member_;
  const peer::Register& wanted_;
  std::vector<std::optional<StateEntry>> candidates_;  // Nothing for what is no prefix.
  std::unordered_set<std::string_view> keys_;          // Of the candidates.
  std::map<Place, size_t> places_;                     // The first candidate of each so far.
  std::map<Place, Found> by_place_;
  // Entries by what a ClientHello tells; filled for the first candidate with TLS.
  std::unordered_map<std::string_view, std::vector<const StateEntry*>> by_hello_;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<Other>> others_;
};

}  // namespace httpsys::sharing
