#pragma once
// The rules by which registrations of one port conflict (docs/port-sharing.md).

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "peer/messages.h"
#include "sharing/port_entries.h"

namespace httpsys::sharing {

// Why a registration is refused.
struct Conflict {
  int error = 0;  // A positive errno.
  uint64_t member = 0;
  std::string prefix;
  std::string queue = {};  // The queue of the conflicting prefix.
  ConflictReason reason = ConflictReason::kNone;
  std::string wanted = {};  // With kTerms: the prefix of the new registration that is in conflict.
};

// Checks one registration against the entries of a port. Both may be long, so entries are found by
// common properties (EntryIndex), and results that hold for many prefixes are computed once.
// Neither must change during use.
class PortRules {
 public:
  PortRules(const PortEntries& entries, uint16_t port, uint64_t member,
            const peer::Register& wanted);

  // Returns the first conflict. EINVAL: no prefix of this port. ENOENT: the queue to attach to does
  // not exist. EADDRINUSE: any other conflict.
  std::optional<Conflict> Check();
  // Returns a conflict with another server's prefix that forbids these client certificate rules.
  std::optional<Conflict> CheckTerms();

 private:
  // The sockets on which a prefix is served. Prefixes with the same place conflict with the same
  // entries, except for entries with the same key.
  using Place =
      // (is TLS, is bound to an address, address)
      std::tuple<bool, bool, std::array<uint8_t, 16>>;

  struct Found {
    const StateEntry* there = nullptr;
    ConflictReason reason = ConflictReason::kNone;
  };

  // A server with other certificate rules than the candidate's, and with entries that no
  // ClientHello can distinguish from the candidate.
  struct Other {
    const StateEntry* first = nullptr;  // The first of these entries.
    // An entry whose queue or prefix the registration does not have; nullptr = none.
    const StateEntry* unwanted = nullptr;
  };

  static Place PlaceOf(const UrlPrefix& prefix);
  std::optional<Conflict> CheckOne(size_t index);
  const std::string* FindOwnScheme(size_t index);
  Found FindConflict(const StateEntry& candidate);
  Found FindByPlace(const StateEntry& candidate) const;
  // ArePlain(): both the registration and entries of this kind are for a whole port. IsExclusive():
  // one of them demands to be the only one on the port.
  bool ArePlain(const EntryIndex::Kind& kind) const;
  bool IsExclusive(const EntryIndex::Kind& kind) const;
  ConflictReason ReasonAt(const StateEntry& there, const StateEntry& candidate) const;
  const StateEntry* FirstInTheWay(const EntryIndex::Kind& kind, const EntryIndex::Servers& servers,
                                  const StateEntry& candidate) const;
  const StateEntry* FindOtherTerms(const StateEntry& candidate);
  const std::vector<Other>& OthersOf(const StateEntry& candidate);
  bool IsThere(const peer::PrefixItem& item) const;
  Conflict TermsConflict(const StateEntry& there, const std::string& text) const;

  const PortEntries& entries_;
  const uint64_t member_;
  const peer::Register& wanted_;
  std::vector<std::optional<StateEntry>> candidates_;  // Nothing for an invalid prefix.
  std::unordered_set<std::string_view> keys_;          // The keys of the candidates.
  std::map<Place, size_t> places_;  // The index of the first candidate of each place so far.
  std::map<Place, Found> by_place_;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<Other>> others_;
};

}  // namespace httpsys::sharing
