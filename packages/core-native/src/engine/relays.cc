#include "engine/relays.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/limits.h"
#include "common/socket_calls.h"
#include "engine/canned_replies.h"
#include "engine/http1_session.h"
#include "engine/socket_options.h"

namespace httpsys::engine {
namespace {

bool MakePair(int* ends) {
#ifdef __linux__
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0;
#else
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return false;
  for (int i = 0; i < 2; ++i) {
    SetCloseOnExec(ends[i]);
    fcntl(ends[i], F_SETFL, O_NONBLOCK);
    SuppressSigpipe(ends[i]);
  }
  return true;
#endif
}

}  // namespace

void Relays::Start(Transport* transport, Http1Session* session) {
  transport_ = transport;
  session_ = session;
}

void Relays::Close() {
  for (const auto& [id, relay] : relays_) {
    if (relay->connection != nullptr) relay->connection->relay = nullptr;
    close(relay->fd);
    uv_close(reinterpret_cast<uv_handle_t*>(&relay->poll),
             [](uv_handle_t* handle) { delete static_cast<Relay*>(handle->data); });
  }
  relays_.clear();
}

Relay* Relays::Open(Connection* connection, uint64_t member) {
  int ends[2];
  if (relays_.size() >= limits::kRelaysMax || !MakePair(ends)) return nullptr;
  auto* relay = new Relay;
  if (uv_poll_init(loop_, &relay->poll, ends[0]) != 0) {
    close(ends[0]);
    close(ends[1]);
    delete relay;
    return nullptr;
  }
  relay->poll.data = relay;
  relay->owner = this;
  relay->connection = connection;
  relay->member = member;
  relay->id = next_id_++;
  relay->fd = ends[0];
  connection->relay = relay;
  relays_[relay->id] = relay;
  HandedConnection handed;
  handed.fd = ends[1];
  handed.port = connection->local_port;
  handed.hops = static_cast<uint8_t>(connection->hops + 1);
  handed.origin = std::make_unique<RelayOrigin>();
  handed.origin->id = relay->id;
  handed.origin->addresses = DescribeConnection(connection->fd, nullptr);
  links_->HandOver(member, std::move(handed));
  Watch(relay);
  return relay;
}

bool Relays::IsOnlyAt(const Connection* connection, uint64_t member) {
  const Relay* relay = connection->relay;
  return connection->unanswered == 0 ||
         (relay != nullptr && relay->member == member && relay->pending == connection->unanswered);
}

bool Relays::HasPending(const Connection* connection) {
  return connection->relay != nullptr && connection->relay->pending != 0;
}

bool Relays::Send(Connection* connection, uint64_t member, std::string_view request) {
  if (connection->relay != nullptr && connection->relay->member != member) {
    if (HasPending(connection)) return false;
    Free(connection->relay);
  }
  Relay* relay = connection->relay != nullptr ? connection->relay : Open(connection, member);
  if (relay == nullptr || relay->unsent.size() > limits::kRelayUnsentBytesMax) return false;
  ++relay->pending;
  relay->unsent.append(request);
  Write(relay);
  return true;
}

// -- The pair.

void Relays::Watch(Relay* relay) {
  int wanted = relay->connection->queue == nullptr ? UV_READABLE : 0;
  if (!relay->unsent.empty()) wanted |= UV_WRITABLE;
  if (wanted == 0) {
    uv_poll_stop(&relay->poll);
  } else {
    uv_poll_start(&relay->poll, wanted, OnPoll);
  }
}

void Relays::OnPoll(uv_poll_t* poll, int status, int events) {
  auto* relay = static_cast<Relay*>(poll->data);
  Relays* self = relay->owner;
  if (relay->connection == nullptr) return;
  if (status < 0) return self->End(relay);
  if ((events & UV_WRITABLE) != 0) self->Write(relay);
  if ((events & UV_READABLE) != 0) self->Read(relay);
}

// What the member does not read any more is met as its end by the next read.
void Relays::Write(Relay* relay) {
  while (!relay->unsent.empty()) {
    const ssize_t sent = send(relay->fd, relay->unsent.data(), relay->unsent.size(), kSendFlags);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) relay->unsent.clear();
    if (sent < 0) break;
    relay->unsent.erase(0, static_cast<size_t>(sent));
  }
  Watch(relay);
}

void Relays::Read(Relay* relay) {
  if (buffer_.empty()) buffer_.resize(limits::kReadBytes);
  for (int i = 0; i < limits::kReadsPerEvent; ++i) {
    Connection* connection = relay->connection;
    // Behind: goes on when the client has taken what it was sent.
    if (connection->queue != nullptr) return Watch(relay);
    const ssize_t got = recv(relay->fd, buffer_.data(), buffer_.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got <= 0) return End(relay);
    relay->received += static_cast<uint64_t>(got);
    transport_->Send(connection, {buffer_.data(), static_cast<size_t>(got)}, 0);
    transport_->Flush(connection);
    if (relay->connection == nullptr) return;
    CheckAnswers(relay);
    if (relay->connection == nullptr || static_cast<size_t>(got) < buffer_.size()) return;
  }
}

void Relays::CheckAnswers(Relay* relay) {
  Connection* connection = relay->connection;
  while (!relay->answers.empty() && relay->answers.front().total <= relay->received) {
    const bool closes = relay->answers.front().closes != 0;
    relay->answered_bytes = relay->answers.front().total;
    relay->answers.pop_front();
    if (relay->pending == 0) continue;
    --relay->pending;
    if (connection->idle_timeout_ms == 0) connection->idle_timeout_ms = limits::kNativeIdleMs;
    // What follows in the input is looked at when the output has left.
    transport_->Touch(connection);
    session_->OnAnswered(connection);
    if (closes) {
      transport_->FinishAfterOutput(connection, AfterOutput::kClose);
      return;
    }
  }
}

// The member has closed its end.
void Relays::End(Relay* relay) {
  Connection* connection = relay->connection;
  // How far the answers go may still be unread.
  if (relay->pending != 0) links_->ReadNow(relay->member);
  if (relay->connection == nullptr) return;
  const uint32_t lost = relay->pending;
  const bool is_begun = !relay->answers.empty() || relay->received != relay->answered_bytes;
  Free(relay);
  if (lost == 0) return;
  if (!is_begun) {
    transport_->Send(connection, OfflineReply(), 0);
  }
  transport_->FinishAfterOutput(connection, AfterOutput::kClose);
  transport_->Flush(connection);
}

void Relays::Resume(Connection* connection) {
  if (connection->relay != nullptr) Watch(connection->relay);
}

void Relays::OnAnswered(const peer::Answered& answer) {
  const auto found = relays_.find(answer.id);
  if (found == relays_.end()) return;
  Relay* relay = found->second;
  if (relay->answers.size() >= limits::kRelayAnswersMax) return End(relay);
  relay->answers.push_back(answer);
  CheckAnswers(relay);
}

void Relays::OnRefused(uint32_t id) {
  const auto found = relays_.find(id);
  if (found != relays_.end()) End(found->second);
}

void Relays::OnDetached(Connection* connection) {
  if (connection->relay != nullptr) Free(connection->relay);
}

void Relays::Free(Relay* relay) {
  relay->connection->relay = nullptr;
  relay->connection = nullptr;
  relays_.erase(relay->id);
  uv_close(reinterpret_cast<uv_handle_t*>(&relay->poll),
           [](uv_handle_t* handle) { delete static_cast<Relay*>(handle->data); });
  close(relay->fd);
}

}  // namespace httpsys::engine
