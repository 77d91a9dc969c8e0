#pragma once
// Ids for header lines, header names and targets that come back, so that JavaScript need not make
// the same strings again.
//
// A bounded set-associative table. An id is made for a text seen twice, in order from 0 on, so that
// they are indices of arrays without holes; a text that pushes another out takes over its id, which
// JavaScript is told by a new kIntern record. What a peer sends can cost evictions, never memory or
// long searches; the hash is seeded so that it cannot choose its victims.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"

namespace httpsys {

// Thread: one lane.
class InternTable {
 public:
  enum class Kind : uint8_t { kNone, kLine, kName, kTarget };

  struct Result {
    bool has_id = false;
    bool is_new = false;  // Define the id by a kIntern record before its first use.
    uint32_t id = 0;
  };

  explicit InternTable(uint64_t seed);

  // Ids returned after this call stay what they are until the next one: one call per request
  // record.
  void BeginRecord() { ++record_; }
  // Allows a number of new ids (limits::kInternDefinitionsPerPass).
  void BeginPass() { definitions_left_ = limits::kInternDefinitionsPerPass; }

  // A whole line when it may have an id and has, or gets, one; else nothing.
  Result FindLine(std::string_view name, std::string_view value);
  Result FindName(std::string_view name);
  Result FindTarget(std::string_view target);

  // Lines whose values are secrets never get an id: authorization, proxy-authorization, cookie,
  // set-cookie.
  static bool IsSecret(std::string_view name);

 private:
  struct Entry {
    uint64_t hash = 0;
    uint32_t last_record = 0;  // BeginRecord() count of the last use.
    Kind kind = Kind::kNone;
    uint16_t name_bytes = 0;
    uint32_t id = 0;
    std::string text;
  };

  uint64_t Hash(std::string_view text, uint64_t seed) const;
  Result Find(Kind kind, uint64_t hash, std::string_view name, std::string_view value);
  Result Define(Kind kind, uint64_t hash, std::string_view name, std::string_view value);
  bool SeenBefore(uint64_t hash);

  static constexpr size_t kEntries = limits::kInternSets * limits::kInternWays;
  static constexpr size_t kSeen = 4096;

  const uint64_t seed_;
  uint32_t record_ = 1;
  uint32_t definitions_left_ = limits::kInternDefinitionsPerPass;
  uint32_t next_id_ = 0;
  std::vector<Entry> entries_;  // Sets of kInternWays.
  std::vector<uint32_t> seen_;  // Part of the hash of texts seen once, overwritten at will.
};

}  // namespace httpsys
