#include "win/session.h"

#include <uv.h>

#include <algorithm>
#include <string>

#include "common/limits.h"

namespace httpsys::win {
namespace {

using records::ErrorKind;

// Errors as records have them: positive, of libuv.
constexpr int kReset = -UV_ECONNRESET;
constexpr int kCancelled = -UV_ECANCELED;

constexpr std::string_view kNoServer =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
constexpr std::string_view kNoMethod =
    "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

uint64_t NowMs() { return uv_hrtime() / 1'000'000; }

}  // namespace

// -- Servers.

void Session::SetServer(uint32_t server_id, ServerSettings settings) {
  Server& server = servers_[server_id];
  server.settings = std::move(settings);
  server.is_listening = true;
}

void Session::Unlisten(uint32_t server_id) {
  const auto found = servers_.find(server_id);
  if (found == servers_.end()) return;
  found->second.is_listening = false;
  if (found->second.connections == 0) servers_.erase(found);
}

void Session::Leave(uint32_t server_id) {
  const auto found = servers_.find(server_id);
  if (found == servers_.end()) return;
  if (--found->second.connections == 0 && !found->second.is_listening) servers_.erase(found);
}

// -- Requests.

void Session::OnRequest(const HTTP_REQUEST& request) {
  const auto server_id = static_cast<uint32_t>(request.UrlContext >> 32);
  const auto server = servers_.find(server_id);
  if (server == servers_.end()) return AnswerAlone(request.RequestId, kNoServer);
  if (!incoming_.Read(request)) return AnswerAlone(request.RequestId, kNoMethod);
  const ServerSettings& settings = server->second.settings;
  KernelConnection* connection = FindOrOpen(request, server_id);
  Exchange* exchange = AddExchange(connection, request.RequestId);
  if (incoming_.head_bytes() >= settings.header_bytes_max ||
      incoming_.head().lines.size() > settings.header_lines_max) {
    return Refuse(exchange, ErrorKind::kHeaderOverflow);
  }
  const uint64_t known_bytes =
      std::max<uint64_t>(incoming_.head().content_length, incoming_.body().size());
  if (settings.body_bytes_max != 0 && known_bytes > settings.body_bytes_max) {
    return Refuse(exchange, ErrorKind::kBodyTooLarge);
  }
  exchange->has_more_body = incoming_.has_more_body();
  exchange->awaits_continue =
      exchange->has_more_body && (incoming_.flags() & records::kFlagExpectContinue) != 0;
  exchange->body_bytes = incoming_.body().size();
  engine::RecordWriter::Request record;
  record.slot = connection->slot;
  record.server_id = server_id;
  record.prefix_id = static_cast<uint32_t>(request.UrlContext);
  record.flags = incoming_.flags();
  record.arrival_ns = uv_hrtime();
  record.head_bytes = incoming_.head_bytes();
  record.body = incoming_.body();
  records_->RequestHead(incoming_.head(), record);
  ReceiveBody(exchange);
}

void Session::Refuse(Exchange* exchange, ErrorKind kind) {
  exchange->is_refused = true;
  records_->Error(exchange->connection->slot, kind, {});
}

KernelConnection* Session::FindOrOpen(const HTTP_REQUEST& request, uint32_t server_id) {
  std::unique_ptr<KernelConnection>& entry = connections_[{request.ConnectionId, server_id}];
  if (entry == nullptr) {
    entry = std::make_unique<KernelConnection>();
    entry->id = request.ConnectionId;
    entry->server_id = server_id;
  }
  StopIdleTimer(entry.get());
  if (!entry->is_open) Open(entry.get(), request);
  return entry.get();
}

void Session::Open(KernelConnection* connection, const HTTP_REQUEST& request) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<uint32_t>(slots_.size()));
    slots_.push_back(nullptr);
  }
  connection->slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[connection->slot] = connection;
  connection->is_open = true;
  connection->window_bytes = limits::kReceiveWindowBytes;
  connection->credit_bytes = 0;
  ++servers_[connection->server_id].connections;
  records_->Open(connection->slot, connection->server_id, DescribeAddresses(request), 0, {});
  Watch(connection);
}

void Session::Watch(KernelConnection* connection) {
  if (is_core_only_ || connection->is_watched) return;
  connection->is_watched = true;
  const CallResult result =
      kernel_->WaitForDisconnect(connection->id, &connection->disconnect_call);
  if (result.error == ERROR_IO_PENDING) {
    ++calls_;
  } else {
    // It has ended already: the request's own calls will say so.
    connection->is_watched = false;
  }
}

Exchange* Session::AddExchange(KernelConnection* connection, HTTP_REQUEST_ID id) {
  auto owned = std::make_unique<Exchange>(kernel_, id, is_core_only_);
  Exchange* exchange = owned.get();
  exchanges_.emplace(exchange, std::move(owned));
  exchange->connection = connection;
  if (connection != nullptr) connection->exchanges.push_back(exchange);
  return exchange;
}

// A request that JavaScript does not hear of.
void Session::AnswerAlone(HTTP_REQUEST_ID id, std::string_view response) {
  Exchange* exchange = AddExchange(nullptr, id);
  exchange->Write(response, 0);
  exchange->End(true);
  Touch(exchange);
}

// -- Bodies.

void Session::ReceiveBody(Exchange* exchange) {
  while (exchange->has_more_body && !exchange->is_receiving() && !exchange->awaits_continue &&
         exchange->connection != nullptr && exchange->connection->window_bytes > 0 &&
         !queue_->stalled()) {
    const CallResult result =
        exchange->Receive(static_cast<size_t>(exchange->connection->window_bytes));
    if (result.error == ERROR_IO_PENDING) {
      ++calls_;
      return;
    }
    OnBody(exchange, result);
  }
}

void Session::OnBody(Exchange* exchange, const CallResult& result) {
  KernelConnection* connection = exchange->connection;
  if (result.error != NO_ERROR) {
    exchange->OnReceiveFailed();
    if (!exchange->has_more_body || connection == nullptr) return;
    if (result.error == ERROR_HANDLE_EOF || exchange->is_ended()) return EndBody(exchange);
    return OnGone(connection, kReset);
  }
  const std::string_view bytes = exchange->OnReceived(result.bytes);
  if (!exchange->has_more_body || connection == nullptr) return;
  if (bytes.empty()) return EndBody(exchange);
  exchange->body_bytes += bytes.size();
  const uint64_t most = servers_[connection->server_id].settings.body_bytes_max;
  if (most != 0 && exchange->body_bytes > most) {
    exchange->has_more_body = false;
    return Refuse(exchange, ErrorKind::kBodyTooLarge);
  }
  connection->window_bytes -= static_cast<int64_t>(bytes.size());
  records_->Body(connection->slot, bytes);
}

void Session::EndBody(Exchange* exchange) {
  exchange->has_more_body = false;
  records_->BodyEnd(exchange->connection->slot, {});
}

void Session::OnWindow(KernelConnection* connection, uint32_t bytes) {
  connection->window_bytes += bytes;
  for (Exchange* exchange : std::deque(connection->exchanges)) ReceiveBody(exchange);
}

void Session::Resume() {
  std::vector<Exchange*> waiting;
  for (const auto& [exchange, owned] : exchanges_) {
    if (exchange->has_more_body && !exchange->is_discarded) waiting.push_back(exchange);
  }
  for (Exchange* exchange : waiting) ReceiveBody(exchange);
}

// -- Responses.

Exchange* Session::Current(const KernelConnection* connection) {
  for (Exchange* exchange : connection->exchanges) {
    if (!exchange->is_ended()) return exchange;
  }
  return nullptr;
}

void Session::Touch(Exchange* exchange) {
  if (exchange->is_touched) return;
  exchange->is_touched = true;
  touched_.push_back(exchange);
}

void Session::Flush() {
  // Pumping touches nothing new but what it aborts.
  while (!touched_.empty()) {
    for (Exchange* exchange : std::exchange(touched_, {})) {
      exchange->is_touched = false;
      if (!exchange->is_discarded) Pump(exchange);
    }
  }
  std::erase_if(discarded_, [this](Exchange* exchange) {
    if (exchange->has_calls()) return false;
    exchanges_.erase(exchange);
    return true;
  });
}

void Session::Pump(Exchange* exchange) {
  if (exchange->is_hopeless()) {
    if (exchange->connection != nullptr) return Destroy(exchange->connection);
    return Discard(exchange);
  }
  // The application has said that it wants the body.
  if (!exchange->awaits_continue) ReceiveBody(exchange);
  while (!exchange->is_discarded && exchange->CanSend()) {
    const CallResult result = exchange->Send();
    if (result.error == ERROR_IO_PENDING) {
      ++calls_;
      return;
    }
    OnSent(exchange, result);
  }
}

void Session::OnSent(Exchange* exchange, const CallResult& result) {
  KernelConnection* connection = exchange->connection;
  size_t bytes = exchange->TakeSentHeadBytes();
  const std::vector<Exchange::Piece> pieces = exchange->TakeSent();
  for (const Exchange::Piece& piece : pieces) bytes += piece.payload_bytes;
  Drop(pieces, result.error == NO_ERROR ? 0 : kReset);
  if (exchange->is_discarded) return;
  if (result.error != NO_ERROR) {
    if (connection != nullptr) return OnGone(connection, kReset);
    return is_core_only_ ? Discard(exchange) : Abort(exchange);
  }
  if (connection != nullptr) Credit(connection, bytes);
  if (exchange->is_done()) OnDone(exchange);
}

// Blocks among them are JavaScript's again.
void Session::Drop(std::vector<Exchange::Piece> pieces, int error) {
  for (const Exchange::Piece& piece : pieces) {
    if (piece.block == nullptr) continue;
    lent_->Return(piece.block_id);
    records_->BlockDone(piece.block_id, error);
  }
}

void Session::Credit(KernelConnection* connection, size_t bytes) {
  connection->credit_bytes += bytes;
  if (connection->credit_bytes < limits::kCreditBytes) return;
  records_->Credit(connection->slot, static_cast<uint32_t>(connection->credit_bytes));
  connection->credit_bytes = 0;
}

void Session::OnDone(Exchange* exchange) {
  KernelConnection* connection = exchange->connection;
  Discard(exchange);
  if (connection == nullptr) return;
  // The kernel throws away what is left of the body.
  if (exchange->has_more_body) EndBody(exchange);
  std::erase(connection->exchanges, exchange);
  exchange->connection = nullptr;
  if (exchange->closes()) return Close(connection, 0);
  if (connection->exchanges.empty()) StartIdleTimer(connection, connection->idle_timeout_ms);
}

void Session::Discard(Exchange* exchange) {
  if (exchange->is_discarded) return;
  exchange->is_discarded = true;
  discarded_.push_back(exchange);
}

// -- Ends.

void Session::Abort(Exchange* exchange) {
  Drop(exchange->Abort(), kCancelled);
  exchange->connection = nullptr;
  if (is_core_only_) {
    Touch(exchange);
  } else {
    Discard(exchange);
  }
}

void Session::Destroy(KernelConnection* connection) {
  for (Exchange* exchange : std::exchange(connection->exchanges, {})) {
    exchange->connection = nullptr;
    if (exchange->is_refused && exchange->has_head()) {
      // As on a socket: what was written leaves.
      exchange->End(true);
      Touch(exchange);
    } else if (!exchange->is_ended() || exchange->is_hopeless()) {
      Abort(exchange);
    }
  }
  Close(connection, 0);
}

void Session::OnGone(KernelConnection* connection, int error) {
  for (Exchange* exchange : std::exchange(connection->exchanges, {})) {
    exchange->connection = nullptr;
    if (is_core_only_) {
      Drop(exchange->TakeWaiting(), kCancelled);
    } else {
      // A call may have failed for another reason: then the client has to hear of it.
      Drop(exchange->Abort(), kCancelled);
    }
    Discard(exchange);
  }
  Close(connection, error);
}

void Session::Close(KernelConnection* connection, int error) {
  if (connection->is_open) {
    connection->is_open = false;
    StopIdleTimer(connection);
    slots_[connection->slot] = nullptr;
    records_->Closed(connection->slot, error, false);
    Leave(connection->server_id);
  }
  for (Exchange* exchange : std::exchange(connection->exchanges, {})) {
    exchange->connection = nullptr;
  }
  ForgetIfUnused(connection);
}

void Session::ForgetIfUnused(KernelConnection* connection) {
  if (connection->is_open || connection->is_watched) return;
  connections_.erase({connection->id, connection->server_id});
}

KernelConnection* Session::Find(uint32_t slot) const {
  return slot < slots_.size() ? slots_[slot] : nullptr;
}

void Session::Release(uint32_t slot) {
  if (slot < slots_.size() && slots_[slot] == nullptr) free_slots_.push_back(slot);
}

// -- Idle connections.

void Session::StartIdleTimer(KernelConnection* connection, uint32_t timeout_ms) {
  StopIdleTimer(connection);
  connection->idle_timeout_ms = timeout_ms;
  if (timeout_ms == 0 || !connection->exchanges.empty()) return;
  connection->idle_deadline_ms = NowMs() + timeout_ms;
  timers_.emplace(connection->idle_deadline_ms, connection->slot);
}

void Session::StopIdleTimer(KernelConnection* connection) {
  if (connection->idle_deadline_ms == 0) return;
  timers_.erase({connection->idle_deadline_ms, connection->slot});
  connection->idle_deadline_ms = 0;
}

uint32_t Session::TimeoutMs(uint32_t most) const {
  if (timers_.empty()) return most;
  const uint64_t now = NowMs();
  const uint64_t deadline = timers_.begin()->first;
  return deadline <= now ? 0 : static_cast<uint32_t>(std::min<uint64_t>(most, deadline - now));
}

void Session::RunTimers() {
  const uint64_t now = NowMs();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    KernelConnection* connection = slots_[timers_.begin()->second];
    timers_.erase(timers_.begin());
    connection->idle_deadline_ms = 0;
    Close(connection, 0);
  }
}

// -- Completions.

void Session::OnCompletion(Operation* operation, const CallResult& result) {
  --calls_;
  if (operation->kind == OperationKind::kDisconnect) {
    KernelConnection* connection =
        static_cast<KernelConnection::DisconnectCall*>(operation)->connection;
    connection->is_watched = false;
    if (!connection->is_open) return ForgetIfUnused(connection);
    return OnGone(connection, Current(connection) == nullptr ? 0 : kReset);
  }
  Exchange* exchange = Exchange::Of(operation);
  if (operation->kind == OperationKind::kReceiveBody) {
    OnBody(exchange, result);
    if (!exchange->is_discarded) ReceiveBody(exchange);
    return;
  }
  OnSent(exchange, result);
  if (!exchange->is_discarded) Touch(exchange);
}

bool Session::IsSent() const {
  return std::none_of(exchanges_.begin(), exchanges_.end(), [](const auto& entry) {
    return !entry.first->is_discarded && (entry.first->is_sending() || entry.first->CanSend());
  });
}

}  // namespace httpsys::win
