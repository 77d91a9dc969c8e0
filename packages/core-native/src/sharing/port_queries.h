#pragma once
// The coordinator's answers to programs that ask for the state of a port: a PortReport, collected
// from all members.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/port_report.h"
#include "sharing/port_record.h"

namespace httpsys::sharing {

// A pure state machine. Thread: one at a time.
class PortQueries {
 public:
  PortQueries(PortRecord* record, PortEffects* effects) : record_(record), effects_(effects) {}

  // Returns the report of this engine. `query` is the payload of kStateQuery.
  static MemberReport Describe(const PortRecord& record, PortEffects* effects,
                               std::string_view query);

  // Begins an answer for the link `asking`, and asks the members the same `query`.
  void Begin(LinkId asking, std::string_view query, const std::vector<LinkId>& members,
             uint64_t now_ms);
  // Adds a member's answer. Returns false if it is no MemberReport.
  void OnState(LinkId member, std::string_view payload, uint64_t now_ms);
  void OnBroken(LinkId link, uint64_t now_ms);
  // Sends the answers that are complete or have waited long enough.
  void Finish(uint64_t now_ms);
  bool has_any() const { return !queries_.empty(); }
  void Clear() { queries_.clear(); }

 private:
  struct Query {
    LinkId link = 0;
    uint64_t deadline_ms = 0;
    std::set<LinkId> waiting;
    std::vector<MemberReport> members;
    size_t bytes = 0;  // Size of the members as bytes of a frame.
  };

  PortRecord* const record_;
  PortEffects* const effects_;
  std::vector<Query> queries_;
};

}  // namespace httpsys::sharing
