#include "win/session.h"

#include <uv.h>

#include <algorithm>
#include <string>

#include "base/limits.h"
#include "http1/request_host.h"
#include "records/records.h"

namespace httpsys::win {
namespace {

using records::ErrorKind;

// Errors in records: positive errno values of libuv.
constexpr int kReset = -UV_ECONNRESET;
constexpr int kCancelled = -UV_ECANCELED;

constexpr std::string_view kNoServer =
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: "
    "close\r\n\r\n";
constexpr std::string_view kUnauthorized = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n";
constexpr std::string_view kNoMethod =
    "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
constexpr std::string_view kTooManyLines =
    "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\n"
    "Connection: close\r\n\r\n";

uint64_t NowMs() { return uv_hrtime() / 1'000'000; }

// Returns the prefix of a request from a queue that another process made, or 0 if none matches.
uint32_t PrefixIdOf(const UrlPrefixTable& prefixes, const IncomingRequest& request) {
  const http1::RequestHead& head = request.head();
  const Route route = prefixes.Match(http1::HostOf(head).name, head.target, {});
  return route.status == RouteStatus::kMatch ? route.id : 0;
}

}  // namespace

// -- Servers.

void Session::SetServer(uint32_t server_id, ServerSettings settings) {
  Server& server = servers_[server_id];
  if (settings.prefixes.is_whole) server.by_id.clear();
  for (const NumberedPrefix& changed : std::exchange(settings.prefixes.changes, {})) {
    UrlPrefix prefix;
    if (ParseUrlPrefix(changed.text, &prefix) == PrefixError::kNone) {
      server.by_id.insert_or_assign(changed.id, std::move(prefix));
    } else {
      server.by_id.erase(changed.id);
    }
  }
  server.settings = std::move(settings);
  server.prefixes = {};
  for (const auto& [id, prefix] : server.by_id) (void)server.prefixes.Add(prefix, id);
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

// Returns true if the server admits no anonymous users and the request's user did not log in.
// Closes the handles of logins, which belong to this process.
bool Session::RefusesUnknownUser(const ServerSettings& settings,
                                 const HTTP_REQUEST& request) const {
  if (settings.kernel.auth_schemes == 0) return false;
  bool is_known = false;
  for (USHORT i = 0; i < request.RequestInfoCount; ++i) {
    const HTTP_REQUEST_INFO& info = request.pRequestInfo[i];
    if (info.InfoType != kRequestInfoAuth || info.pInfo == nullptr) continue;
    const auto* user = static_cast<const HTTP_REQUEST_AUTH_INFO*>(info.pInfo);
    if (user->AuthStatus == HttpAuthStatusSuccess) is_known = true;
    if (user->AccessToken != nullptr) CloseHandle(user->AccessToken);
  }
  return !is_known && !settings.kernel.allow_anonymous;
}

void Session::OnRequest(const std::shared_ptr<KernelQueue>& queue, uint32_t server_id,
                        const HTTP_REQUEST& request) {
  const bool is_of_others = server_id != 0;
  if (!is_of_others) server_id = static_cast<uint32_t>(request.UrlContext >> 32);
  const auto server = servers_.find(server_id);
  if (server == servers_.end()) return AnswerAlone(queue, request.RequestId, kNoServer);
  if (!incoming_.Read(request)) return AnswerAlone(queue, request.RequestId, kNoMethod);
  if (incoming_.head().lines.size() > limits::kRequestLinesMax) {
    return AnswerAlone(queue, request.RequestId, kTooManyLines);
  }
  if (RefusesUnknownUser(server->second.settings, request)) {
    return AnswerAlone(queue, request.RequestId, kUnauthorized);
  }
  const ServerSettings& settings = server->second.settings;
  KernelConnection* connection = FindOrOpen(queue, request, server_id);
  if (incoming_.is_stream()) connection = OpenStream(connection);
  Exchange* exchange = AddExchange(queue, connection, request.RequestId);
  exchange->is_stream = incoming_.is_stream();
  exchange->is_head_request = incoming_.method() == "HEAD";
  exchange->is_buffered = settings.kernel.buffer_responses;
  if (!settings.kernel.log_directory.empty()) {
    exchange->log =
        std::make_unique<LogFields>(request, DescribeAddresses(request), incoming_.method());
  }
  if (incoming_.head_bytes() >= settings.max_header_size ||
      incoming_.head().lines.size() > settings.max_header_lines) {
    return Refuse(exchange, ErrorKind::kHeaderOverflow);
  }
  const uint64_t known_bytes =
      std::max<uint64_t>(incoming_.head().content_length, incoming_.body().size());
  if (settings.max_request_body_size != 0 && known_bytes > settings.max_request_body_size) {
    return Refuse(exchange, ErrorKind::kBodyTooLarge);
  }
  exchange->has_more_body = incoming_.has_more_body();
  exchange->awaits_continue =
      exchange->has_more_body && (incoming_.flags() & records::kFlagExpectContinue) != 0;
  exchange->body_bytes = incoming_.body().size();
  engine::RecordWriter::Request record;
  record.slot = connection->slot;
  if (connection->parent != nullptr) record.parent_slot = connection->parent->slot;
  record.server_id = server_id;
  record.prefix_id = is_of_others ? PrefixIdOf(server->second.prefixes, incoming_)
                                  : static_cast<uint32_t>(request.UrlContext);
  record.flags = incoming_.flags();
  if (is_core_only_) record.flags &= ~uint32_t{records::kFlagUpgrade};
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

KernelConnection* Session::FindOrOpen(const std::shared_ptr<KernelQueue>& queue,
                                      const HTTP_REQUEST& request, uint32_t server_id) {
  std::unique_ptr<KernelConnection>& entry = connections_[{request.ConnectionId, server_id}];
  if (entry == nullptr) {
    entry = std::make_unique<KernelConnection>();
    entry->queue = queue;
    entry->id = request.ConnectionId;
    entry->server_id = server_id;
  }
  StopIdleTimer(entry.get());
  if (!entry->is_open) Open(entry.get(), request);
  return entry.get();
}

KernelConnection* Session::OpenStream(KernelConnection* parent) {
  auto owned = std::make_unique<KernelConnection>();
  KernelConnection* stream = owned.get();
  streams_.emplace(stream, std::move(owned));
  stream->queue = parent->queue;
  stream->id = parent->id;
  stream->server_id = parent->server_id;
  stream->parent = parent;
  parent->streams.insert(stream);
  TakeSlot(stream);
  return stream;
}

void Session::Open(KernelConnection* connection, const HTTP_REQUEST& request) {
  TakeSlot(connection);
  records_->Open(connection->slot, connection->server_id, DescribeAddresses(request), 0,
                 DescribeTls(request));
  Watch(connection);
}

void Session::TakeSlot(KernelConnection* connection) {
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
}

void Session::Watch(KernelConnection* connection) {
  if (is_core_only_ || connection->is_watched) return;
  connection->is_watched = true;
  const CallResult result =
      connection->queue->WaitForDisconnect(connection->id, &connection->disconnect_call);
  if (result.error == ERROR_IO_PENDING) {
    ++calls_;
  } else {
    // The connection has already ended; the calls of its request will report that.
    connection->is_watched = false;
  }
}

Exchange* Session::AddExchange(const std::shared_ptr<KernelQueue>& queue,
                               KernelConnection* connection, HTTP_REQUEST_ID id) {
  auto owned = std::make_unique<Exchange>(queue, id, is_core_only_);
  Exchange* exchange = owned.get();
  exchanges_.emplace(exchange, std::move(owned));
  exchange->connection = connection;
  if (connection != nullptr) connection->exchanges.push_back(exchange);
  return exchange;
}

// Answers a request without JavaScript.
void Session::AnswerAlone(const std::shared_ptr<KernelQueue>& queue, HTTP_REQUEST_ID id,
                          std::string_view response) {
  Exchange* exchange = AddExchange(queue, nullptr, id);
  exchange->Write(response, 0);
  exchange->End(response.find("close") != std::string_view::npos);
  Touch(exchange);
}

// -- Bodies.

void Session::ReceiveBody(Exchange* exchange) {
  while (exchange->WantsBytes() && !exchange->is_receiving() && exchange->connection != nullptr &&
         exchange->connection->window_bytes > 0 && !queue_->stalled()) {
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
  const bool is_opaque = exchange->opaque.is_open();
  if (result.error != NO_ERROR) {
    exchange->OnReceiveFailed();
    if (!exchange->WantsBytes() || connection == nullptr) return;
    if (result.error == ERROR_HANDLE_EOF || exchange->is_ended()) return EndBody(exchange);
    return OnGone(connection, kReset);
  }
  const std::string_view bytes = exchange->OnReceived(result.bytes);
  if (!exchange->WantsBytes() || connection == nullptr) return;
  if (bytes.empty()) return EndBody(exchange);
  if (!is_opaque) {
    exchange->body_bytes += bytes.size();
    const uint64_t most = servers_[connection->server_id].settings.max_request_body_size;
    if (most != 0 && exchange->body_bytes > most) {
      exchange->has_more_body = false;
      return Refuse(exchange, ErrorKind::kBodyTooLarge);
    }
  }
  connection->window_bytes -= static_cast<int64_t>(bytes.size());
  records_->Body(connection->slot, bytes);
}

void Session::EndBody(Exchange* exchange) {
  if (exchange->opaque.is_open()) {
    exchange->opaque.OnPeerEnd();
    records_->Eof(exchange->connection->slot);
    return;
  }
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
    if (exchange->WantsBytes() && !exchange->is_discarded) waiting.push_back(exchange);
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
  // The loop ends, because Pump() touches only exchanges that it aborts.
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
  // The application may just have started to wait for the body (100 Continue).
  ReceiveBody(exchange);
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
  // The system reports neither whether file or connection has failed, nor how many bytes were sent.
  Drop(pieces, result.error == NO_ERROR ? 0 : kCancelled);
  if (exchange->is_discarded) return;
  if (result.error != NO_ERROR) {
    if (connection != nullptr) return OnGone(connection, kReset);
    return is_core_only_ ? Discard(exchange) : Abort(exchange);
  }
  if (connection != nullptr) Credit(connection, bytes);
  if (exchange->is_done()) return OnDone(exchange);
  if (exchange->is_opaque() && !exchange->opaque.is_open()) {
    exchange->opaque.Open();
    ReceiveBody(exchange);
  }
}

// Reports pieces as done or failed: JavaScript gets its blocks back, and files are closed.
void Session::Drop(const std::vector<Exchange::Piece>& pieces, int error) {
  for (const Exchange::Piece& piece : pieces) {
    if (!piece.has_block()) continue;
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
  // The kernel discards the rest of the body.
  if (exchange->has_more_body) EndBody(exchange);
  std::erase(connection->exchanges, exchange);
  exchange->connection = nullptr;
  if (exchange->closes() || connection->parent != nullptr) return Close(connection, 0);
  if (connection->exchanges.empty()) StartIdleTimer(connection, connection->idle_timeout_ms);
}

void Session::Discard(Exchange* exchange) {
  if (exchange->is_discarded) return;
  exchange->is_discarded = true;
  discarded_.push_back(exchange);
}

// -- Ends of exchanges and connections.

void Session::Abort(Exchange* exchange) {
  Drop(exchange->Abort(), kCancelled);
  exchange->connection = nullptr;
  if (is_core_only_) {
    Touch(exchange);
  } else {
    Discard(exchange);
  }
}

void Session::OnUpgrade(KernelConnection* connection, bool is_held) {
  Exchange* exchange = Current(connection);
  if (exchange == nullptr) return;
  exchange->opaque.Accept(is_held);
  ReceiveBody(exchange);
}

void Session::AskCertificate(KernelConnection* connection) {
  if (connection->certificate_call == nullptr) {
    connection->certificate_call = std::make_unique<CertificateCall>(connection);
  }
  CertificateCall* call = connection->certificate_call.get();
  // The outstanding call answers this request for the certificate, too.
  if (call->is_outstanding()) return;
  CallResult result;
  if (call->Start(connection->queue.get(), connection->id, &result)) {
    ++calls_;
  } else {
    OnCertificate(connection, result);
  }
}

void Session::OnCertificate(KernelConnection* connection, CallResult result) {
  CertificateCall* call = connection->certificate_call.get();
  CertificateCall::Answer answer;
  while (!call->OnCompletion(result, &answer)) {
    if (!call->Start(connection->queue.get(), connection->id, &result)) continue;
    ++calls_;
    return;
  }
  if (!connection->is_open) return ForgetIfUnused(connection);
  records_->PeerCertificate(connection->slot, answer.error, answer.verify_result,
                            answer.certificates);
}

void Session::Destroy(KernelConnection* connection) {
  for (Exchange* exchange : connection->exchanges) {
    if (!exchange->is_opaque() || exchange->is_ended() || !exchange->IsIdle()) continue;
    exchange->End(true);
    Touch(exchange);
  }
  Reset(connection);
}

void Session::Reset(KernelConnection* connection) {
  for (KernelConnection* stream : std::set(connection->streams)) Reset(stream);
  for (Exchange* exchange : std::exchange(connection->exchanges, {})) {
    exchange->connection = nullptr;
    if (exchange->is_refused && exchange->has_head()) {
      // Send the rest of the answer, as on a socket.
      exchange->End(true);
      Touch(exchange);
    } else if (!exchange->is_ended() || exchange->is_hopeless() || exchange->HasFile()) {
      // A complete response would still be sent, as on a socket; but a file may be very long.
      Abort(exchange);
    }
  }
  Close(connection, 0);
}

void Session::OnGone(KernelConnection* connection, int error) {
  for (KernelConnection* stream : std::set(connection->streams)) {
    OnGone(stream, Current(stream) == nullptr ? error : kReset);
  }
  for (Exchange* exchange : std::exchange(connection->exchanges, {})) {
    exchange->connection = nullptr;
    if (is_core_only_) {
      Drop(exchange->TakeWaiting(), kCancelled);
    } else {
      // Reset the client: the call may have failed although the connection has not ended.
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
  if (connection->is_open || connection->is_watched || !connection->streams.empty()) return;
  if (connection->certificate_call != nullptr && connection->certificate_call->is_outstanding()) {
    return;
  }
  if (KernelConnection* parent = connection->parent; parent != nullptr) {
    parent->streams.erase(connection);
    const uint32_t idle_ms = connection->idle_timeout_ms;
    streams_.erase(connection);
    if (!parent->streams.empty()) return;
    return parent->is_open ? StartIdleTimer(parent, idle_ms) : ForgetIfUnused(parent);
  }
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
  const bool is_counted = timeout_ms != 0 && timeout_ms != records::kIdleNotCounted;
  if (!is_counted || !connection->exchanges.empty() || !connection->streams.empty()) return;
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
    // The connection may still have bytes that the client sent before it ended.
    const Exchange* current = Current(connection);
    if (current != nullptr && current->opaque.is_open()) return;
    return OnGone(connection, current == nullptr ? 0 : kReset);
  }
  if (operation->kind == OperationKind::kCertificate) {
    return OnCertificate(static_cast<CertificateCall*>(operation)->connection, result);
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
