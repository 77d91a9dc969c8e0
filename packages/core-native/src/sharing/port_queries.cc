#include "sharing/port_queries.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "peer/frame_reader.h"

namespace httpsys::sharing {
namespace {

// Limit in bytes for the members in an answer. The answer is one frame, which also has up to
// kSharedSocketsMax addresses.
constexpr size_t kMembersBytesMax = peer::kFrameBytesMax - 16 * 1024;
// Limit in bytes for one member in an answer; its further registrations are left out.
constexpr size_t kMemberBytesMax = kMembersBytesMax / 2;

std::string IdText(uint64_t id) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(id));
  return text;
}

// Returns none if the query does not ask about caches, or no server of this engine has one.
std::optional<CacheReport> AskCaches(const PortRecord& record, PortEffects* effects,
                                     std::string_view query) {
  CacheQuestion question;
  if (!peer::Decode(query, &question) || question.wants == CacheQuestion::kNothing) return {};
  std::optional<CacheReport> report;
  size_t bytes = 0;
  record.own.ForEachServer([&](uint32_t server_id) {
    std::optional<CacheReport> answer = effects->AskCache(server_id, question);
    if (!answer.has_value()) return;
    if (!report.has_value()) report.emplace();
    report->flushed += answer->flushed;
    for (CacheEntry& entry : answer->entries) {
      bytes += peer::Encode(entry).size();
      if (bytes < kMemberBytesMax / 2) report->entries.push_back(std::move(entry));
    }
  });
  return report;
}

template <typename Map>
typename Map::mapped_type Find(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? typename Map::mapped_type() : found->second;
}

}  // namespace

MemberReport PortQueries::Describe(const PortRecord& record, PortEffects* effects,
                                   std::string_view query) {
  const PortCounters counters = effects->Count();
  const peer::Member& self = record.self;
  MemberReport report{self.pid, IdText(self.id), self.thread, self.program, self.protocol,
                      {},       counters.member, {}};
  size_t bytes = 0;
  record.own.ForEach([&](const peer::Register& registered) {
    for (const peer::PrefixItem& item : registered.prefixes) {
      RegistrationReport registration{item.text, registered.queue,
                                      Find(counters.prefixes, {registered.server_id, item.id}),
                                      Find(counters.servers, registered.server_id)};
      bytes += peer::Encode(registration).size();
      if (bytes > kMemberBytesMax) break;
      report.registrations.push_back(std::move(registration));
    }
  });
  report.cache = AskCaches(record, effects, query);
  return report;
}

void PortQueries::Begin(LinkId asking, std::string_view asked, const std::vector<LinkId>& members,
                        uint64_t now_ms) {
  const bool is_asking = std::any_of(queries_.begin(), queries_.end(),
                                     [=](const Query& other) { return other.link == asking; });
  if (is_asking) return;
  Query query;
  query.link = asking;
  query.deadline_ms = now_ms + limits::kConfirmMs;
  query.members.push_back(Describe(*record_, effects_, asked));
  query.bytes = peer::Encode(query.members.front()).size();
  for (const LinkId member : members) {
    if (effects_->UnsentBytes(member) > limits::kPeerUnsentBytesMax) continue;
    query.waiting.insert(member);
    effects_->Send(member, peer::FrameType::kStateQuery, std::string(asked));
  }
  queries_.push_back(std::move(query));
  Finish(now_ms);
}

void PortQueries::OnState(LinkId member, std::string_view payload, uint64_t now_ms) {
  const bool is_awaited = std::any_of(queries_.begin(), queries_.end(), [=](const Query& query) {
    return query.waiting.contains(member);
  });
  if (!is_awaited) return;
  MemberReport report;
  const bool is_sound = peer::Decode(payload, &report);
  for (Query& query : queries_) {
    if (query.waiting.erase(member) == 0 || !is_sound) continue;
    // A member that does not fit into the answer is left out.
    if (query.bytes + payload.size() > kMembersBytesMax) continue;
    query.bytes += payload.size();
    query.members.push_back(report);
  }
  Finish(now_ms);
}

void PortQueries::OnBroken(LinkId link, uint64_t now_ms) {
  for (Query& query : queries_) query.waiting.erase(link);
  std::erase_if(queries_, [=](const Query& query) { return query.link == link; });
  Finish(now_ms);
}

void PortQueries::Finish(uint64_t now_ms) {
  std::erase_if(queries_, [&](const Query& query) {
    if (!query.waiting.empty() && now_ms < query.deadline_ms) return false;
    PortReport report{
        record_->number, record_->self.protocol, record_->self.pid, query.members, {}};
    const std::string number = ":" + std::to_string(record_->number);
    for (const PortRecord::Socket& socket : record_->sockets) {
      report.sockets.push_back(socket.address + number);
    }
    effects_->Send(query.link, peer::FrameType::kState, peer::Encode(report));
    return true;
  });
}

}  // namespace httpsys::sharing
