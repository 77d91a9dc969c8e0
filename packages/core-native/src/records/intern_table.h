#pragma once
// Assigns ids to header lines, header names and targets that repeat: JavaScript makes each such
// string once.
//
// The table is bounded and set-associative. A text gets an id when it is seen for the second time.
// Ids count from 0, for use as indices of arrays without holes. A text that evicts another one
// takes over its id, and a new kIntern record tells JavaScript. A client can cause evictions, but
// neither memory use nor long searches; the hash is seeded, so the client cannot choose its
// victims.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"

namespace httpsys {

// The table of one lane. Thread: the lane.
class InternTable {
 public:
  enum class Kind : uint8_t { kNone, kLine, kName, kTarget };

  struct Result {
    bool has_id = false;
    bool is_new = false;  // The id must be defined by a kIntern record before its first use.
    uint32_t id = 0;
  };

  explicit InternTable(uint64_t seed);

  // Begins a request record. Ids returned after this call stay valid until the next call.
  void BeginRecord() { ++record_; }
  // Begins a pass, which may define limits::kInternDefinitionsPerPass new ids.
  void BeginPass() { definitions_left_ = limits::kInternDefinitionsPerPass; }

  // Returns the id of a whole line; assigns one if the line is eligible.
  Result FindLine(std::string_view name, std::string_view value);
  Result FindName(std::string_view name);
  Result FindTarget(std::string_view target);

  // Returns true for names whose values are secrets and never get an id: authorization,
  // proxy-authorization, cookie, set-cookie.
  static bool IsSecret(std::string_view name);

 private:
  struct Entry {
    uint64_t hash = 0;
    uint32_t last_record = 0;  // The count of BeginRecord() at the last use.
    Kind kind = Kind::kNone;
    uint16_t name_bytes = 0;
    uint32_t id = 0;
    std::string text;
  };

  Result Find(Kind kind, uint64_t hash, std::string_view name, std::string_view value);
  Result Define(Kind kind, uint64_t hash, std::string_view name, std::string_view value);
  bool SeenBefore(uint64_t hash);

  static constexpr size_t kEntries = limits::kInternSets * limits::kInternWays;
  static constexpr size_t kSeen = 4096;

  const uint64_t seed_;
  uint32_t record_ = 1;
  uint32_t definitions_left_ = limits::kInternDefinitionsPerPass;
  uint32_t next_id_ = 0;
  std::vector<Entry> entries_;  // Sets of kInternWays entries.
  // Parts of the hashes of texts that were seen once. New entries overwrite old ones.
  std::vector<uint32_t> seen_;
};

}  // namespace httpsys
