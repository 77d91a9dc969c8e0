#pragma once
// Answers of a port's coordinator to people who ask for the state of the port: JSON, collected from
// all members.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sharing/port_record.h"

namespace httpsys::sharing {

// A pure state machine. One thread at a time.
class PortQueries {
 public:
  PortQueries(PortRecord* record, PortEffects* effects) : record_(record), effects_(effects) {}

  // What this engine says of itself: one member of the answer.
  static std::string Describe(const PortRecord& record, const PortCounters& counters);

  // Somebody asks; `members` are asked in turn.
  void Begin(LinkId asking, const std::vector<LinkId>& members, uint64_t now_ms);
  // A member has answered.
  void OnState(LinkId member, std::string_view payload, uint64_t now_ms);
  void OnBroken(LinkId link, uint64_t now_ms);
  // Answers what is complete or has waited long enough.
  void Finish(uint64_t now_ms);
  bool has_any() const { return !queries_.empty(); }
  void Clear() { queries_.clear(); }

 private:
  struct Query {
    LinkId link = 0;
    uint64_t deadline_ms = 0;
    std::set<LinkId> waiting;
    std::string members;
  };

  PortRecord* const record_;
  PortEffects* const effects_;
  std::vector<Query> queries_;
};

}  // namespace httpsys::sharing
