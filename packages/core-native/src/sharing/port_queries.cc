#include "sharing/port_queries.h"

#include <algorithm>
#include <cstdio>
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

// Returns the text as a JSON string. Bytes that are not ASCII are UTF-8 already.
std::string Quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result.push_back('\\');
    if (static_cast<unsigned char>(c) >= 0x20) result.push_back(c);
  }
  return result.append("\"");
}

std::string IdText(uint64_t id) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(id));
  return text;
}

void AppendEntry(const CacheEntry& entry, std::string* text) {
  text->append(text->empty() ? "" : ",").append("{\"url\":").append(Quoted(entry.url));
  text->append(",\"status\":").append(std::to_string(entry.status));
  text->append(",\"policy\":").append(std::to_string(entry.policy));
  text->append(",\"created\":").append(std::to_string(static_cast<int64_t>(entry.created_s)));
  text->append(",\"seconds\":").append(std::to_string(entry.seconds));
  text->append(",\"hits\":").append(std::to_string(entry.hits));
  text->append(",\"headBytes\":").append(std::to_string(entry.head_bytes));
  text->append(",\"bodyBytes\":").append(std::to_string(entry.body_bytes));
  text->append(",\"varies\":").append(entry.varies ? "true" : "false").append("}");
}

// Returns the JSON member `cache` with a comma before it; empty if the query does not ask about
// caches, or no server of this engine has one.
std::string CacheMember(const PortRecord& record, PortEffects* effects, std::string_view payload) {
  peer::CacheQuery query;
  if (payload.empty() || !peer::Decode(payload, &query)) return {};
  bool has_cache = false;
  uint64_t flushed = 0;
  std::string entries;
  record.own.ForEachServer([&](uint32_t server_id) {
    const CacheState state = effects->AskCache(server_id, query);
    has_cache = has_cache || state.has_cache;
    flushed += state.flushed;
    for (const CacheEntry& entry : state.entries) {
      if (entries.size() + entry.url.size() < kMemberBytesMax / 2) AppendEntry(entry, &entries);
    }
  });
  if (!has_cache) return {};
  return ",\"cache\":{\"flushed\":" + std::to_string(flushed) + ",\"entries\":[" + entries + "]}";
}

}  // namespace

std::string PortQueries::Describe(const PortRecord& record, PortEffects* effects,
                                  std::string_view query) {
  const PortCounters counters = effects->Count();
  const peer::Member& self = record.self;
  std::string text =
      "{\"pid\":" + std::to_string(self.pid) + ",\"id\":\"" + IdText(self.id) +
      "\",\"thread\":" + std::to_string(self.thread) +
      ",\"protocol\":" + std::to_string(self.protocol) + ",\"program\":" + Quoted(self.program) +
      ",\"connections\":" + std::to_string(counters.connections) +
      ",\"handedOver\":" + std::to_string(counters.handed_over) +
      ",\"received\":" + std::to_string(counters.received) +
      ",\"cacheAnswers\":" + std::to_string(counters.cache_answers) + ",\"registrations\":[";
  bool is_first = true;
  record.own.ForEach([&](const peer::Register& registered) {
    const auto server = counters.servers.find(registered.server_id);
    const PortCounters::Server queue =
        server == counters.servers.end() ? PortCounters::Server() : server->second;
    for (const peer::PrefixItem& item : registered.prefixes) {
      if (text.size() + item.text.size() > kMemberBytesMax) break;
      const auto requests = counters.requests.find({registered.server_id, item.id});
      text.append(is_first ? "" : ",").append("{\"prefix\":").append(Quoted(item.text));
      text.append(",\"queue\":").append(Quoted(registered.queue));
      text.append(",\"requests\":");
      text.append(std::to_string(requests == counters.requests.end() ? 0 : requests->second));
      text.append(",\"queued\":").append(std::to_string(queue.queued));
      text.append(",\"queueLimit\":").append(std::to_string(queue.queue_limit));
      text.append(",\"refused\":").append(std::to_string(queue.refused)).append("}");
      is_first = false;
    }
  });
  return text.append("]").append(CacheMember(record, effects, query)).append("}");
}

void PortQueries::Begin(LinkId asking, std::string_view asked, const std::vector<LinkId>& members,
                        uint64_t now_ms) {
  const bool is_asking = std::any_of(queries_.begin(), queries_.end(),
                                     [=](const Query& other) { return other.link == asking; });
  if (is_asking) return;
  Query query;
  query.link = asking;
  query.deadline_ms = now_ms + limits::kConfirmMs;
  query.members = Describe(*record_, effects_, asked);
  for (const LinkId member : members) {
    if (effects_->UnsentBytes(member) > limits::kPeerUnsentBytesMax) continue;
    query.waiting.insert(member);
    effects_->Send(member, peer::FrameType::kStateQuery, std::string(asked));
  }
  queries_.push_back(std::move(query));
  Finish(now_ms);
}

void PortQueries::OnState(LinkId member, std::string_view payload, uint64_t now_ms) {
  for (Query& query : queries_) {
    if (query.waiting.erase(member) == 0) continue;
    // Leave out a member that does not fit into the answer.
    if (query.members.size() + payload.size() > kMembersBytesMax) continue;
    if (!query.members.empty()) query.members.push_back(',');
    query.members.append(payload);
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
    const std::string number = std::to_string(record_->number);
    std::string text = "{\"port\":" + number +
                       ",\"protocol\":" + std::to_string(record_->self.protocol) +
                       ",\"coordinator\":" + std::to_string(record_->self.pid) + ",\"members\":[" +
                       query.members + "],\"sockets\":[";
    bool is_first = true;
    for (const PortRecord::Socket& socket : record_->sockets) {
      text.append(is_first ? "\"" : ",\"").append(socket.address);
      text.append(":").append(number).append("\"");
      is_first = false;
    }
    effects_->Send(query.link, peer::FrameType::kState, text.append("]}"));
    return true;
  });
}

}  // namespace httpsys::sharing
