#include "engine/peers/relays.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/descriptors.h"
#include "base/unix_sockets.h"
#include "engine/connection/connected_socket.h"
#include "records/record_writer.h"

namespace httpsys::engine {
namespace {

bool MakePair(int* ends) {
  if (!OpenUnixPair(ends)) return false;
  SuppressSigpipe(ends[0]);
  SuppressSigpipe(ends[1]);
  return true;
}

// Returns the facts of a TLS session for a frame. Leaves out certificates for which the frame has
// no room, but not whether they were good.
std::string FactsOf(const tls::Session& session) {
  tls::Facts facts = session.Describe();
  if (facts.certificates.size() > limits::kRelayCertificateBytesMax) facts.certificates.clear();
  return EncodeFacts(facts);
}

}  // namespace

void Relays::Start(Exchanges* exchanges, RelayInput* requests, RelayedStreams* streams) {
  exchanges_ = exchanges;
  requests_ = requests;
  streams_ = streams;
}

void Relays::Close() {
  for (const auto& [id, relay] : relays_) {
    if (relay->connection != nullptr) relay->connection->uncommon().relayed.relay = nullptr;
    close(relay->fd);
    uv_close(reinterpret_cast<uv_handle_t*>(&relay->poll),
             [](uv_handle_t* handle) { delete static_cast<Relay*>(handle->data); });
  }
  relays_.clear();
}

Relay* Relays::Open(Connection* connection, uint64_t member) {
  int ends[2];
  if (relays_.size() >= limits::kRelaysMax || !MakePair(ends)) return nullptr;
  if (!LeavesDescriptors(std::max(ends[0], ends[1]))) {
    close(ends[0]);
    close(ends[1]);
    return nullptr;
  }
  if (connection->stream != nullptr) {
    constexpr int kBytes = limits::kRelayStreamBufferBytes;
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &kBytes, sizeof kBytes);
  }
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
  connection->uncommon().relayed.relay = relay;
  relays_[relay->id] = relay;
  HandedConnection handed;
  handed.fd = ends[1];
  handed.port = connection->local_port;
  handed.hops = static_cast<uint8_t>(connection->sharing.hops() + 1);
  handed.origin = std::make_unique<RelayOrigin>();
  handed.origin->id = relay->id;
  handed.origin->is_stream = connection->stream != nullptr;
  const Connection* real = connection->real();
  handed.origin->addresses = DescribeConnection(real->fd, nullptr);
  if (real->tls != nullptr) {
    handed.origin->facts = FactsOf(*real->tls);
    handed.origin->trust = real->tls->trust();
  }
  links_->HandOver(member, std::move(handed));
  Watch(relay);
  return relay;
}

bool Relays::IsOnlyAt(const Connection* connection, uint64_t member) {
  const Relay* relay = Of(connection);
  return connection->message.unanswered() == 0 ||
         (relay != nullptr && relay->member == member && !relay->is_cut &&
          relay->pending == connection->message.unanswered());
}

bool Relays::HasPending(const Connection* connection) {
  return connection->relay() != nullptr && Of(connection)->pending != 0;
}

bool Relays::Send(Connection* connection, uint64_t member, std::string_view head) {
  if (connection->relay() != nullptr && Of(connection)->member != member) {
    if (HasPending(connection)) return false;
    Free(Of(connection));
  }
  if (connection->relay() != nullptr) links_->TellBlocked(member);
  Relay* relay = connection->relay() != nullptr ? Of(connection) : Open(connection, member);
  if (relay == nullptr) return false;
  // The answering member limits the bandwidth, so the limit here ends.
  transport_->output()->throttle()->End(connection);
  ++relay->pending;
  // Send the head of a stream's request at once: the whole request comes in one piece.
  if (connection->stream != nullptr) {
    SendMore(connection, head);
    return true;
  }
  relay->kept.Begin();
  relay->kept.Append(head);
  relay->unsent.append(head);
  if (is_flushing_) {
    Write(relay);
  } else {
    unwritten_.push_back(relay->id);
  }
  return true;
}

// Requests that are read while Flush() runs are written at once, so that no client can keep Flush()
// running.
void Relays::Flush() {
  if (unwritten_.empty()) return;
  is_flushing_ = true;
  for (const uint32_t id : std::exchange(unwritten_, {})) {
    const auto found = relays_.find(id);
    if (found != relays_.end() && found->second->connection != nullptr) Write(found->second);
  }
  is_flushing_ = false;
}

bool Relays::CanSend(const Connection* connection) {
  const Relay* relay = Of(connection);
  return relay == nullptr || relay->unsent.size() < limits::kRelayUnsentBytesMax;
}

size_t Relays::UnsentBytes(const Connection* connection) {
  return connection->relay() == nullptr ? 0 : Of(connection)->unsent.size();
}

void Relays::SendMore(Connection* connection, std::string_view bytes) {
  Relay* relay = Of(connection);
  if (relay == nullptr) return;
  relay->kept.Append(bytes);
  const bool is_behind = !relay->unsent.empty();
  relay->unsent.append(bytes);
  if (!is_behind) Write(relay);
}

bool Relays::EndInput(Connection* connection) {
  Relay* relay = Of(connection);
  if (relay == nullptr || (relay->pending == 0 && !relay->is_opaque)) return false;
  relay->is_ending = true;
  if (relay->unsent.empty()) shutdown(relay->fd, SHUT_WR);
  return true;
}

// -- The pair.

void Relays::Watch(Relay* relay) {
  int wanted = relay->connection->output.queue() == nullptr ? UV_READABLE : 0;
  // After the member's end (is_ended), only the end of both directions matters.
  if (relay->is_ended) wanted = UV_PRIORITIZED;
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
  if (relay->connection == nullptr) return self->SendRest(relay);
  if (status < 0) return self->End(relay);
  if (relay->is_ended && (events & UV_WRITABLE) == 0) return self->CloseBoth(relay);
  if ((events & UV_WRITABLE) != 0) self->Write(relay);
  if (relay->connection != nullptr && (events & UV_READABLE) != 0) self->Read(relay);
}

// Writes to the member. If the member does not read any more, the next read finds its end.
void Relays::Write(Relay* relay) {
  while (!relay->unsent.empty()) {
    const ssize_t sent = send(relay->fd, relay->unsent.data(), relay->unsent.size(), kSendFlags);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
      relay->unsent.clear();
      if (relay->is_ended) return CloseBoth(relay);
    }
    if (sent < 0) break;
    relay->unsent.erase(0, static_cast<size_t>(sent));
  }
  if (relay->unsent.empty() && relay->is_ending) shutdown(relay->fd, SHUT_WR);
  Watch(relay);
  Connection* connection = relay->connection;
  if (connection->stream != nullptr) return streams_->OnRelayDrained(connection);
  if ((connection->watch.pauses() & kPauseRelay) != 0 && CanSend(connection)) {
    input_->Resume(connection, kPauseRelay);
  }
}

void Relays::Read(Relay* relay) {
  if (buffer_.empty()) buffer_.resize(limits::kReadBytes);
  for (int i = 0; i < limits::kReadsPerEvent; ++i) {
    Connection* connection = relay->connection;
    // The client is slow: reading continues when it has taken the earlier output.
    if (connection->output.queue() != nullptr || relay->is_ended) return Watch(relay);
    const ssize_t got = recv(relay->fd, buffer_.data(), buffer_.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got <= 0) return End(relay);
    relay->received += static_cast<uint64_t>(got);
    if (connection->stream != nullptr) {
      // A stream is read once per turn: only after all streams have been sent is it known how much
      // of this output the client takes.
      streams_->OnRelayedBytes(connection, {buffer_.data(), static_cast<size_t>(got)});
      if (relay->connection != nullptr) CheckAnswers(relay);
      return;
    }
    output_->Send(connection, {buffer_.data(), static_cast<size_t>(got)}, 0);
    output_->Flush(connection);
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
    relay->answers.erase(relay->answers.begin());
    if (relay->pending == 0) continue;
    relay->kept.OnAnswered();
    --relay->pending;
    if (connection->stream != nullptr) {
      streams_->OnRelayedAnswer(connection, closes);
      if (relay->connection == nullptr) return;
      continue;
    }
    ConnectionTimers::LimitIdle(connection);
    // Touch the connection: after its output is sent, the lane looks at further input.
    output_->Touch(connection);
    exchanges_->OnAnswered(connection);
    if (closes) {
      transport_->FinishAfterOutput(connection, AfterOutput::kClose);
      return;
    }
  }
  if (!relay->answers.empty()) return;
  if (relay->is_cut) return Fail(relay);
  if (relay->is_returned && relay->pending != 0) OnReturned(relay->id, relay->is_blocked);
}

// Handles the end of the socket pair, which the member has closed.
void Relays::End(Relay* relay) {
  Connection* connection = relay->connection;
  if (connection->stream != nullptr) return EndOfStream(relay);
  // Read the link first: its messages may say where answers end, whether an upgrade was accepted,
  // and why the pair has ended.
  if (relay->pending != 0) links_->ReadNow(relay->member);
  if (relay->connection == nullptr) return;
  if (relay->is_opaque) {
    relay->is_ended = true;
    Watch(relay);
    transport_->FinishAfterOutput(connection, AfterOutput::kShutdown);
    output_->Flush(connection);
    return;
  }
  const bool is_lost = relay->pending != 0;
  // Without kEnded the member's process has died; its link may break before this or after.
  if (is_lost && !relay->is_told) return Fail(relay);
  // The application has closed the tunnel. The client sees the same as without a relay.
  Free(relay);
  if (!is_lost) return;
  transport_->FinishAfterOutput(connection, AfterOutput::kClose);
  output_->Flush(connection);
}

// Handles the member's end of a stream's relay. The stream's client must not take the death of a
// process for the end of a message.
void Relays::EndOfStream(Relay* relay) {
  Connection* connection = relay->connection;
  links_->ReadNow(relay->member);
  if (relay->connection == nullptr) return;
  const bool is_tunnel = relay->is_opaque;
  const bool is_lost = relay->pending != 0 || is_tunnel;
  if (is_lost && !relay->is_told) return Fail(relay);
  if (is_tunnel && relay->is_whole && !relay->is_ended) {
    relay->is_ended = true;
    Watch(relay);
    return streams_->OnRelayedEnd(connection);
  }
  Free(relay);
  if (!is_tunnel) return streams_->OnRelayEnded(connection, is_lost);
  streams_->OnRelayClosed(connection);
}

// Ends a relay whose unanswered requests no process will answer.
void Relays::Fail(Relay* relay) {
  Connection* connection = relay->connection;
  const bool is_lost = relay->pending != 0 || relay->is_opaque;
  const bool is_begun =
      relay->is_opaque || !relay->answers.empty() || relay->received != relay->answered_bytes;
  const std::string requests = relay->kept.Take();
  Free(relay);
  if (connection->stream != nullptr) {
    return is_lost ? streams_->OnRelayFailed(connection, is_begun)
                   : streams_->OnRelayEnded(connection, false);
  }
  if (!is_lost) return;
  if (!is_begun) return requests_->AnswerLost(connection, requests);
  transport_->FinishAfterOutput(connection, AfterOutput::kClose);
  output_->Flush(connection);
}

// Closes both directions of an upgraded connection: nothing goes to the member or comes from it any
// more.
void Relays::CloseBoth(Relay* relay) {
  Connection* connection = relay->connection;
  if (connection->stream != nullptr) return EndOfStream(relay);
  Free(relay);
  transport_->FinishAfterOutput(connection, AfterOutput::kClose);
  output_->Flush(connection);
}

void Relays::Resume(Connection* connection) {
  if (connection->relay() != nullptr) Watch(Of(connection));
}

void Relays::OnAnswered(const peer::Answered& answer) {
  const auto found = relays_.find(answer.id);
  if (found == relays_.end()) return;
  Relay* relay = found->second;
  if (relay->connection == nullptr) return;
  if (relay->answers.size() >= limits::kRelayAnswersMax) return End(relay);
  relay->answers.push_back(answer);
  CheckAnswers(relay);
}

void Relays::OnDecided(const peer::Decided& decision) {
  const auto found = relays_.find(decision.id);
  if (found == relays_.end()) return;
  Relay* relay = found->second;
  Connection* connection = relay->connection;
  if (connection == nullptr) return;
  if (connection->phase() != InputPhase::kRelayUpgrade || relay->pending == 0) return End(relay);
  if (decision.is_upgraded != 0) {
    relay->is_opaque = true;
    relay->pending = 0;
    connection->message.SetUnanswered(0);
  }
  if (connection->stream != nullptr) {
    streams_->OnRelayedUpgrade(connection, relay->is_opaque);
  } else {
    requests_->OnUpgrade(connection, relay->is_opaque);
  }
}

void Relays::Wait(Connection* connection, bool is_blocked) {
  if (is_blocked) {
    owner_->WaitUnbegun(connection);
  } else {
    owner_->WaitReturned(connection);
  }
}

void Relays::OnReturned(uint32_t id, bool is_blocked) {
  const auto found = relays_.find(id);
  if (found == relays_.end()) return;
  Relay* relay = found->second;
  Connection* connection = relay->connection;
  if (connection == nullptr) return;
  // CheckAnswers() calls this again if known answers are incomplete: their bytes come over the
  // socket pair, not over the link.
  relay->is_returned = true;
  relay->is_blocked = is_blocked;
  if (!relay->answers.empty()) return;
  const bool is_kept = connection->stream == nullptr
                           ? relay->kept.has_all() && RelayInput::CanTakeBack(connection)
                           : streams_->CanTakeBack(connection);
  const bool is_whole = is_kept && relay->received == relay->answered_bytes;
  if (relay->pending == 0 || relay->is_opaque || relay->is_ending || !is_whole) return Fail(relay);
  if (connection->stream != nullptr) {
    Free(relay);
    Wait(connection, is_blocked);
    return streams_->TakeBack(connection);
  }
  const std::string requests = relay->kept.Take();
  const uint32_t count = relay->pending;
  Free(relay);
  Wait(connection, is_blocked);
  requests_->TakeBack(connection, requests, count);
}

void Relays::OnEnded(const peer::Ended& end) {
  const auto found = relays_.find(end.id);
  if (found == relays_.end()) return;
  found->second->is_told = true;
  found->second->is_whole = end.is_whole != 0;
}

// Fails the relays to a member whose link has ended: their requests may have begun there, so no
// other member gets them. Tunnels need no link and continue.
void Relays::OnLinkCut(uint64_t member) {
  std::vector<uint32_t> cut;
  for (const auto& [id, relay] : relays_) {
    if (relay->member == member && relay->connection != nullptr && !relay->is_opaque)
      cut.push_back(id);
  }
  for (const uint32_t id : cut) {
    const auto found = relays_.find(id);
    if (found == relays_.end() || found->second->connection == nullptr) continue;
    found->second->is_cut = true;
    CheckAnswers(found->second);
  }
}

void Relays::OnDetached(Connection* connection) {
  Relay* relay = Of(connection);
  if (relay == nullptr) return;
  const bool is_whole = connection->stream != nullptr && streams_->IsWhole(connection);
  if (!is_whole || relay->unsent.empty()) return Free(relay);
  // If a request was answered early, its application still gets the rest of the body.
  connection->uncommon().relayed.relay = nullptr;
  relay->connection = nullptr;
  uv_poll_start(&relay->poll, UV_WRITABLE, OnPoll);
}

void Relays::SendRest(Relay* relay) {
  const ssize_t sent = send(relay->fd, relay->unsent.data(), relay->unsent.size(), kSendFlags);
  if (sent < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return;
  if (sent > 0) relay->unsent.erase(0, static_cast<size_t>(sent));
  if (sent <= 0 || relay->unsent.empty()) Free(relay);
}

void Relays::Free(Relay* relay) {
  if (relay->connection != nullptr) relay->connection->uncommon().relayed.relay = nullptr;
  relay->connection = nullptr;
  relays_.erase(relay->id);
  uv_close(reinterpret_cast<uv_handle_t*>(&relay->poll),
           [](uv_handle_t* handle) { delete static_cast<Relay*>(handle->data); });
  close(relay->fd);
}

}  // namespace httpsys::engine
