#include "connection.h"

#include <algorithm>
#include <utility>

#include "cached_answer.h"
#include "call.h"
#include "control.h"
#include "kernel.h"
#include "request.h"
#include "request_queue.h"
#include "text.h"

namespace httpapi_double {
namespace {

// What is read ahead of its use.
constexpr size_t kInputBytesMax = 128 * 1024;
constexpr size_t kHeadBytesMax = 64 * 1024;
// What is sent at once: a client that reads fast must not keep a caller, or
// others, waiting.
constexpr size_t kTurnBytes = 256 * 1024;
// How long a client that was told the end may go on sending.
constexpr uint32_t kLingerMs = 2000;

}  // namespace

Connection::Connection(uint64_t id, SOCKET socket, uint16_t port, bool is_secure, bool is_control)
    : id_(id), socket_(socket), port_(port), is_secure_(is_secure), is_control_(is_control) {
  int bytes = sizeof local_;
  getsockname(socket, reinterpret_cast<sockaddr*>(&local_), &bytes);
  bytes = sizeof remote_;
  getpeername(socket, reinterpret_cast<sockaddr*>(&remote_), &bytes);
}

Connection::~Connection() { closesocket(socket_); }

// -- Input.

bool Connection::wants_to_read() const {
  if (is_input_ended_) return false;
  return input_.size() + (request_ != nullptr ? request_->body.size() : 0) < kInputBytesMax;
}

void Connection::OnReadable() {
  if (state_ == State::kGone || is_input_ended_) return;
  char bytes[16 * 1024];
  const int count = recv(socket_, bytes, sizeof bytes, 0);
  if (count < 0) {
    if (WSAGetLastError() != WSAEWOULDBLOCK) Leave();
    return;
  }
  if (count == 0) return OnEnd();
  if (state_ == State::kLingering) return;
  input_.append(bytes, static_cast<size_t>(count));
  Process();
}

void Connection::OnEnd() {
  is_input_ended_ = true;
  if (state_ == State::kOpaque) {
    request_->is_body_complete = true;
    request_->ServeBody();
    if (is_output_ended_ && output_.empty()) Leave();
    return;
  }
  // A client that is told all that there is may have stopped listening for
  // more.
  const bool is_answered = request_ == nullptr || request_->is_answered;
  if (!is_answered || output_.empty()) Leave();
}

void Connection::OnBodyRead() { Process(); }

void Connection::BecomeOpaque() {
  state_ = State::kOpaque;
  request_->is_body_complete = is_input_ended_;
  Process();
}

void Connection::Process() {
  if (is_processing_) return;
  is_processing_ = true;
  for (;;) {
    if (state_ == State::kHead) {
      if (!ReadHead()) break;
      continue;
    }
    if (state_ == State::kOpaque) {
      request_->body += input_;
      input_.clear();
      request_->ServeBody();
      break;
    }
    if (state_ != State::kBody) break;
    ReadBody();
    if (state_ == State::kBody) break;
  }
  is_processing_ = false;
  Kernel::Get().Wake();
}

void Connection::ReadBody() {
  // What nobody will ask for goes.
  std::string rest;
  std::string* body = request_ != nullptr ? &request_->body : &rest;
  if (!decoder_.Decode(&input_, body)) {
    // What comes next cannot be told.
    if (request_ == nullptr || !request_->is_head_sent) return Refuse(400, "Bad Request");
    return Reset();
  }
  if (request_ != nullptr) {
    request_->is_body_complete = decoder_.is_done();
    request_->ServeBody();
  } else if (decoder_.is_done()) {
    state_ = State::kHead;
  }
}

bool Connection::ReadHead() {
  while (input_.starts_with("\r\n")) input_.erase(0, 2);
  const size_t end = input_.find("\r\n\r\n");
  if (end == std::string::npos) {
    if (input_.size() > kHeadBytesMax) Refuse(400, "Bad Request");
    return false;
  }
  request_ = std::make_shared<Request>();
  request_->connection = this;
  const bool is_good = ParseHead(std::string_view(input_).substr(0, end), &request_->head);
  input_.erase(0, end + 4);
  if (!is_good || end > kHeadBytesMax) {
    Refuse(400, "Bad Request");
    return false;
  }
  StartRequest();
  return true;
}

void Connection::StartRequest() {
  Kernel& kernel = Kernel::Get();
  const RequestRef request = request_;
  const RequestHead& head = request->head;
  if (is_control_) return Control(head.target);
  UrlGroup* group = nullptr;
  bool is_known_host = false;
  const UrlGroup::Url* url = kernel.Route(Describe(), &group, &is_known_host);
  if (url == nullptr) {
    return is_known_host ? Refuse(404, "Not Found") : Refuse(400, "Bad Request - Invalid Hostname");
  }
  decoder_.Start(head.is_chunked, head.content_length);
  request->is_body_complete = decoder_.is_done();
  request->awaits_continue = head.expects_continue && !request->is_body_complete && input_.empty();
  if (ServeFromCache()) return;
  request->id = kernel.NextId();
  request->url_context = url->context;
  request->queue = group->queue;
  request->auth_schemes = group->auth_schemes;
  state_ = State::kBody;
  ReadBody();
  if (state_ != State::kBody) return;
  const bool is_active = group->state == HttpEnabledStateActive &&
                         kernel.sessions[group->session].state == HttpEnabledStateActive;
  kernel.requests[request->id] = request;
  if (is_active && group->queue != nullptr && group->queue->Deliver(request)) return;
  kernel.requests.erase(request->id);
  // Without a queue it is always told; from a queue that is full or off, if it
  // is to be verbose.
  if (group->queue != nullptr && group->queue->verbosity == Http503ResponseVerbosityBasic) {
    return Reset();
  }
  Refuse(503, "Service Unavailable");
}

Arrival Connection::Describe() const {
  char address[INET6_ADDRSTRLEN] = "";
  if (local_.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(local_);
    inet_ntop(AF_INET, &v4.sin_addr, address, sizeof address);
  } else {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(local_);
    inet_ntop(AF_INET6, &v6.sin6_addr, address, sizeof address);
  }
  return {is_secure_, port_, address, request_->head.host,
          ToLower(PercentDecoded(request_->head.path, true))};
}

std::string Connection::FullUrl() const {
  const RequestHead& head = request_->head;
  return std::string(is_secure_ ? "https://" : "http://") + head.host + ':' +
         std::to_string(port_) + PercentDecoded(head.path, true) + head.query;
}

bool Connection::ServeFromCache() {
  Kernel& kernel = Kernel::Get();
  const RequestHead& head = request_->head;
  if (BypassesCache(head)) return false;
  const ResponseCache::Entry* entry = kernel.cache.Find(FullUrl());
  if (entry == nullptr) return false;
  kernel.ledger.Note("{\"servedFromCache\":" + JsonText(FullUrl()) + '}');
  request_->is_answered = true;
  const std::string close = head.keep_alive ? "" : "Connection: close\r\n";
  state_ = State::kBody;
  Send(CachedAnswer(*entry, head, close), nullptr,
       head.keep_alive ? Next::kNextRequest : Next::kEnd);
  return true;
}

void Connection::Control(const std::string& target) {
  const std::string json = HandleControl(target);
  request_->is_answered = true;
  state_ = State::kBody;
  Send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(json.size()) + "\r\n\r\n" + json,
       nullptr, Next::kNextRequest);
}

// -- Output.

void Connection::Refuse(int status, const std::string& reason) {
  const std::string page = "<h1>" + reason + "</h1>";
  request_ = nullptr;
  state_ = State::kBody;
  Send("HTTP/1.1 " + std::to_string(status) + ' ' + reason +
           "\r\nContent-Type: text/html\r\nServer: "
           "Microsoft-HTTPAPI/2.0\r\nContent-Length: " +
           std::to_string(page.size()) + "\r\nConnection: close\r\n\r\n" + page,
       nullptr, Next::kEnd);
}

void Connection::SendContinue() {
  request_->awaits_continue = false;
  Send("HTTP/1.1 100 Continue\r\n\r\n", nullptr, Next::kMore);
}

void Connection::Send(std::string bytes, CallRef call, Next next) {
  output_.push_back({std::move(bytes), 0, std::move(call), next});
  Flush();
}

void Connection::OnWritable() {
  if (state_ != State::kGone) Flush();
}

void Connection::Flush() {
  size_t turn = kTurnBytes;
  while (!output_.empty()) {
    Output& first = output_.front();
    while (first.sent < first.bytes.size()) {
      const size_t piece = std::min(turn, first.bytes.size() - first.sent);
      const int count =
          turn == 0 ? 0
                    : send(socket_, first.bytes.data() + first.sent, static_cast<int>(piece), 0);
      if (count < 0 && WSAGetLastError() != WSAEWOULDBLOCK) return Leave();
      if (count <= 0) return Kernel::Get().Wake();
      turn -= static_cast<size_t>(count);
      first.sent += static_cast<size_t>(count);
    }
    const Output done = std::move(first);
    output_.pop_front();
    if (done.call != nullptr) {
      done.call->Finish(NO_ERROR, static_cast<uint32_t>(done.bytes.size()));
    }
    if (done.next != Next::kMore) OnSent(done.next);
    if (state_ == State::kGone) return;
  }
}

void Connection::OnSent(Next next) {
  if (state_ == State::kOpaque) {
    is_output_ended_ = true;
    if (is_input_ended_) return Leave();
    FinishRequest();
    return Linger();
  }
  const bool must_continue = request_ != nullptr && request_->awaits_continue;
  FinishRequest();
  if (next == Next::kEnd || must_continue || is_input_ended_) return Linger();
  state_ = decoder_.is_done() ? State::kHead : State::kBody;
  Process();
}

void Connection::FinishRequest() {
  if (request_ == nullptr) return;
  const RequestRef request = std::move(request_);
  request_ = nullptr;
  request->connection = nullptr;
  if (request->body_call != nullptr) request->body_call->Finish(ERROR_CONNECTION_INVALID);
  Kernel::Get().requests.erase(request->id);
}

// -- Ends.

void Connection::EndDisconnectCalls(const QueueHandle& handle) {
  std::vector<CallRef> ended;
  std::erase_if(disconnect_calls_, [&](const CallRef& call) {
    if (call->handle().get() != &handle) return false;
    ended.push_back(call);
    return true;
  });
  for (const CallRef& call : ended) call->Finish(ERROR_OPERATION_ABORTED);
}

// Closing at once would reset what the client has not read yet.
void Connection::Linger() {
  shutdown(socket_, SD_SEND);
  state_ = State::kLingering;
  input_.clear();
  Kernel& kernel = Kernel::Get();
  if (is_input_ended_) return Leave();
  kernel.After(kLingerMs, [&kernel, id = id_] {
    const auto found = kernel.connections.find(id);
    if (found != kernel.connections.end()) found->second->Leave();
  });
}

void Connection::Reset() {
  const linger how{1, 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, reinterpret_cast<const char*>(&how), sizeof how);
  Leave();
}

void Connection::Leave() {
  if (state_ == State::kGone) return;
  state_ = State::kGone;
  if (request_ != nullptr && request_->queue != nullptr) request_->queue->Forget(request_.get());
  FinishRequest();
  for (const Output& output : std::exchange(output_, {})) {
    if (output.call != nullptr) output.call->Finish(ERROR_CONNECTION_INVALID);
  }
  for (const CallRef& call : std::exchange(disconnect_calls_, {})) call->Finish(NO_ERROR);
  Kernel::Get().Bury(id_);
}

}  // namespace httpapi_double
