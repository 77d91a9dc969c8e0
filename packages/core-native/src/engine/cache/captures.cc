#include "engine/cache/captures.h"

#include <ctime>
#include <optional>
#include <utility>

#include "cache/cache_key.h"
#include "engine/cache/same_origin.h"
#include "http2/response_text.h"

namespace httpsys::engine {
namespace {

using cache::Refusal;
using records::ReplyType;

cache::Received Now() {
  return {static_cast<int64_t>(std::time(nullptr)), uv_hrtime() / 1'000'000};
}

bool Ends(const ReplyRecord& reply) {
  if (reply.has(records::kReplyInterim)) return false;
  return reply.has(records::kReplyEnd) || reply.type() == ReplyType::kEnd ||
         reply.type() == ReplyType::kTrailers;
}

bool IsOfResponse(ReplyType type) {
  switch (type) {
    case ReplyType::kResponse:
    case ReplyType::kData:
    case ReplyType::kBlock:
    case ReplyType::kTrailers:
    case ReplyType::kEnd:
    case ReplyType::kCachePolicy:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Captures::Add(const Connection* connection, std::unique_ptr<CacheExchange> exchange) {
  const auto found = exchanges_.find(connection);
  if (found == exchanges_.end() && exchange == nullptr) return;
  Exchanges& exchanges = found == exchanges_.end() ? exchanges_[connection] : found->second;
  // Requests that are unknown here are before this one: of a server without a cache, or taken back.
  const size_t earlier = connection->message.unanswered() - 1;
  if (exchanges.size() != earlier) {
    LoseAll(&exchanges);
    exchanges.resize(earlier);
  }
  if (exchange != nullptr && exchange->leads) waiting_->Lead(exchange->key);
  exchanges.push_back(std::move(exchange));
}

void Captures::OnReply(Connection* connection, const ReplyRecord& reply) {
  if (!IsOfResponse(reply.type())) return;
  const auto found = exchanges_.find(connection);
  if (found == exchanges_.end()) return;
  Exchanges& exchanges = found->second;
  if (exchanges.size() != connection->message.unanswered()) {
    LoseAll(&exchanges);
    exchanges_.erase(found);
    return;
  }
  CacheExchange* const exchange = exchanges.front().get();
  if (exchange != nullptr) OnOutput(connection, exchange, reply);
  if (!Ends(reply)) return;
  exchanges.pop_front();
  if (exchanges.empty()) exchanges_.erase(found);
}

void Captures::OnOutput(Connection* connection, CacheExchange* exchange, const ReplyRecord& reply) {
  if (reply.has(records::kReplyInterim)) return;
  if (exchange->unsafe != nullptr) return Invalidate(exchange, reply);
  Capture* const capture = exchange->capture.get();
  const bool is_unframed = reply.has(records::kReplyChunked);
  const bool is_all = Ends(reply);
  switch (reply.type()) {
    case ReplyType::kCachePolicy: {
      cache::ResponsePolicy policy;
      policy.kind = static_cast<cache::ResponsePolicy::Kind>(reply.cache_policy().kind);
      policy.seconds = reply.cache_policy().seconds;
      capture->SetPolicy(policy);
      return;
    }
    case ReplyType::kResponse:
      if (is_unframed) {
        capture->OnText(reply.response().head, is_all, Now());
        capture->OnBody(reply.response().body);
      } else {
        capture->OnText(reply.response().all(), is_all, Now());
      }
      break;
    case ReplyType::kData:
      if (is_unframed) {
        capture->OnBody(reply.bytes().bytes);
      } else {
        capture->OnText(reply.bytes().bytes, is_all, Now());
      }
      break;
    case ReplyType::kBlock:
      OnBlock(connection, capture, reply);
      break;
    case ReplyType::kTrailers:
      capture->Refuse(Refusal::kTrailers);
      break;
    default:
      break;
  }
  if (is_all) capture->OnEnd(Now());
  Decide(exchange);
}

// The bytes of files are not captured: the kernel sends them from its own cache, and reading them
// for ours would make the lane wait.
void Captures::OnBlock(Connection* connection, Capture* capture, const ReplyRecord& reply) {
  LentMemory::View view;
  if (!connection->attachment().lent().Find(reply.block_id(), &view)) return;
  if (view.data == nullptr) return capture->Refuse(Refusal::kFile);
  const std::string_view bytes(reinterpret_cast<const char*>(view.data), view.bytes);
  if (reply.has(records::kReplyChunked)) {
    capture->OnBody(bytes);
  } else {
    capture->OnText(bytes, Ends(reply), Now());
  }
}

void Captures::Decide(CacheExchange* exchange) {
  if (!exchange->leads || exchange->is_decided) return;
  const Capture& capture = *exchange->capture;
  if (capture.state() != Capture::State::kRefused && capture.state() != Capture::State::kStored) {
    return;
  }
  exchange->is_decided = true;
  // The next request with another cookie, or for a shorter response, may have better luck.
  const bool is_remembered = capture.state() == Capture::State::kRefused;
  waiting_->OnDecided(exchange->key, exchange->hash, is_remembered);
}

// -- Unsafe requests.

// The head decides; without one that can be read the request may have changed something.
void Captures::Invalidate(CacheExchange* exchange, const ReplyRecord& reply) {
  if (exchange->is_decided || reply.type() == ReplyType::kCachePolicy) return;
  exchange->is_decided = true;
  http2::ResponseHead head;
  const bool is_read = reply.type() == ReplyType::kResponse &&
                       http2::ParseResponseHead(reply.response().head, &head);
  const auto status = static_cast<uint16_t>(is_read ? head.status : 200);
  const CapturedRequest& request = *exchange->unsafe;
  if (!cache::Invalidates(request.facts(), status, exchange->terms->options.rules)) return;
  if (cache_->Drop(request.key())) exchange->terms->counters->Add(CacheCounter::kInvalidated);
  if (!is_read) return;
  for (const auto& [name, value] : head.lines) {
    if (EqualsIgnoringCase(name, "location") || EqualsIgnoringCase(name, "content-location")) {
      DropUrl(*exchange, value);
    }
  }
}

void Captures::DropUrl(const CacheExchange& exchange, std::string_view reference) {
  const http1::RequestHead& request = exchange.unsafe->head();
  const std::optional<std::string> target =
      SameOriginTarget({exchange.is_secure, request.host, request.target}, reference);
  if (!target.has_value()) return;
  http1::RequestHead other = request;
  other.target = *target;
  std::string key;
  if (cache::MakeKey({exchange.is_secure, exchange.scope}, other, &key) && cache_->Drop(key)) {
    exchange.terms->counters->Add(CacheCounter::kInvalidated);
  }
}

// -- Answers that do not come.

void Captures::Lose(CacheExchange* exchange) {
  if (exchange == nullptr) return;
  if (exchange->leads && !exchange->is_decided) waiting_->OnLost(exchange->key);
}

void Captures::LoseAll(Exchanges* exchanges) {
  for (const auto& exchange : *exchanges) Lose(exchange.get());
  exchanges->clear();
}

void Captures::OnDetached(const Connection* connection) {
  if (exchanges_.empty()) return;
  const auto found = exchanges_.find(connection);
  if (found == exchanges_.end()) return;
  LoseAll(&found->second);
  exchanges_.erase(found);
}

}  // namespace httpsys::engine
