#include "engine/connection/input.h"

#include <sys/ioctl.h>
#include <sys/types.h>

#include <cerrno>
#include <utility>

namespace httpsys::engine {

void ReceiveWindows::Lend(Connection* connection) {
  InputState& input = connection->input;
  if (input.has_extra_ || extra_left_ == 0) return;
  --extra_left_;
  input.has_extra_ = true;
  input.window_bytes_ += limits::kReceiveExtraBytes;
}

void ReceiveWindows::EndRead(Connection* connection, uint64_t now_ms) {
  InputState& input = connection->input;
  if ((connection->watch.pauses() & kPauseWindow) != 0 && !input.was_full_) {
    input.was_full_ = true;
    input.full_at_ms_ = static_cast<uint16_t>(now_ms);
  }
  TakeBackUnused(&input);
}

bool ReceiveWindows::Give(Connection* connection, uint32_t bytes, uint64_t now_ms) {
  InputState& input = connection->input;
  const int64_t window = int64_t{input.window_bytes_} + bytes;
  input.window_bytes_ = static_cast<int32_t>(std::min<int64_t>(window, Most(input)));
  TakeBackUnused(&input);
  if (input.was_full_) {
    const uint32_t most_ms = input.keeps_up_ ? limits::kSlowMs : limits::kKeepsUpMs;
    const bool is_slow = static_cast<uint16_t>(now_ms - input.full_at_ms_) > most_ms;
    // Tolerate a missing quarter: JavaScript may have consumed bytes that it has not acknowledged
    // yet.
    const bool is_consumed = input.window_bytes_ >= Most(input) - limits::kReceiveWindowBytes / 4;
    if (is_slow) {
      input.keeps_up_ = false;
      if (input.has_extra_) TakeBack(&input);
    } else if (is_consumed) {
      input.keeps_up_ = true;
    }
    if (is_slow || is_consumed) input.was_full_ = false;
  }
  return (connection->watch.pauses() & kPauseWindow) != 0 && input.window_bytes_ > 0;
}

void ReceiveWindows::OnDetached(Connection* connection) {
  if (connection->input.has_extra_) TakeBack(&connection->input);
}

// Takes the extra window back. JavaScript may have used a part of it, so the window may become
// negative.
void ReceiveWindows::TakeBack(InputState* input) {
  input->has_extra_ = false;
  const int64_t left = int64_t{input->window_bytes_} - limits::kReceiveExtraBytes;
  input->window_bytes_ = static_cast<int32_t>(std::max<int64_t>(left, INT32_MIN));
  ++extra_left_;
}

// Takes the extra window back if JavaScript has consumed most of it.
void ReceiveWindows::TakeBackUnused(InputState* input) {
  constexpr int32_t kEnough = limits::kReceiveExtraBytes + limits::kReceiveWindowBytes / 2;
  if (input->has_extra_ && input->window_bytes_ >= kEnough) TakeBack(input);
}

namespace {

constexpr int kGoodbyeBytesMax = 40;
// Milliseconds that a request of a client that has ended its direction may wait for earlier answers
// of its connection, or for the answer to another client. JavaScript that is busy for a moment
// answers within that time; afterwards the connection ends.
constexpr uint64_t kLeftBehindMs = 500;

// Phases in which only JavaScript can take the next bytes, so that the input must wait for its
// memory. A request head is not among them: the lane may answer it, and RequestGate parks it
// otherwise.
constexpr PhaseSet kForJavaScript =
    PhasesOf({InputPhase::kBodyLength, InputPhase::kBodyChunked, InputPhase::kAwaitUpgrade,
              InputPhase::kUndecided, InputPhase::kOpaque, InputPhase::kWebSocket});

bool MustWaitForMemory(const Connection& connection) {
  return connection.attachment().requests().stalled() &&
         (kForJavaScript >> static_cast<unsigned>(connection.phase()) & 1) != 0;
}

}  // namespace

Input::Input(const uv_loop_t* loop, Transport* transport, const Protocols* protocols,
             ReadObserver* observer)
    : loop_(loop),
      transport_(transport),
      protocols_(protocols),
      observer_(observer),
      buffer_(new char[limits::kLargeReadBytes]) {}

void Input::OnReadable(Connection* connection) {
  windows_.BeginRead(connection);
  bool goes_on = true;
  for (int i = 0; goes_on && i < limits::kReadsPerEvent; ++i) {
    if (MustWaitForMemory(*connection)) {
      PauseForMemory(connection);
      transport_->watch()->Update(connection);
      break;
    }
    goes_on = ReadOnce(connection) && connection->is_open() && connection->watch.pauses() == 0;
  }
  if (ReceiveWindows::MustEndRead(*connection)) windows_.EndRead(connection, uv_now(loop_));
}

void Input::OnDisconnect(Connection* connection) {
  if (connection->server()->config->settings().allow_half_open) return;
  if ((connection->watch.pauses() & kPauseOver) != 0) {
    transport_->OnPeerEnded(connection);
    transport_->WatchLeft(connection);
    return;
  }
  switch (FindAtEnd(*connection)) {
    case AtEnd::kGoOn:
      return;
    case AtEnd::kWait:
      // The timer is stopped if the input is resumed first.
      return transport_->StartIdleTimer(
          connection, connection->watch.waits_for_disk() ? limits::kLeftMs : kLeftBehindMs);
    case AtEnd::kEnd:
      return EndUnread(connection);
  }
}

bool Input::EndLeft(Connection* connection) {
  const WatchState& watch = connection->watch;
  const bool is_left = watch.is_disconnect_told() && (watch.pauses() & kPauseOver) == 0 &&
                       !connection->server()->config->settings().allow_half_open &&
                       FindAtEnd(*connection) != AtEnd::kGoOn;
  if (is_left) EndUnread(connection);
  return is_left;
}

// Unhandled bytes are requests that were not begun. As on Node, they get no answer after the
// client's end.
void Input::EndUnread(Connection* connection) {
  connection->input.DropKept();
  OnReadFailed(connection, 0);
}

Input::AtEnd Input::FindAtEnd(const Connection& connection) {
  const uint8_t pauses = connection.watch.pauses();
  // JavaScript has the socket, or the request will soon have an owner: both learn of the end later.
  if ((pauses & kPauseUpgrade) != 0 || connection.sharing.is_waiting()) return AtEnd::kGoOn;
  if ((pauses & kPauseOrder) != 0) {
    // The answers before this request, the disk, or the answer to another client may never come:
    // limit the wait. A request that waits only for unsent output is resumed, or ends, with the
    // output.
    const bool waits_for_output = connection.message.unanswered() == 0 &&
                                  !connection.watch.waits_for_disk() &&
                                  OutputPass::UnsentBytes(connection) != 0;
    return waits_for_output ? AtEnd::kGoOn : AtEnd::kWait;
  }
  // A parked request waits a moment: JavaScript may be busy only briefly.
  if ((pauses & kPauseMemory) != 0 && connection.phase() == InputPhase::kHead) return AtEnd::kWait;
  // Unread bytes may be just TLS' close_notify alert: the shortest request in a TLS record is
  // longer.
  const int unread_max = connection.tls == nullptr ? 0 : kGoodbyeBytesMax;
  int unread = 0;
  const bool has_unread = ioctl(connection.fd, FIONREAD, &unread) != 0 || unread > unread_max ||
                          (connection.tls != nullptr && connection.tls->has_pending());
  if ((pauses & kPausePipeline) != 0) return has_unread ? AtEnd::kWait : AtEnd::kEnd;
  // If bytes of a body are unread, JavaScript reads them before the end.
  return has_unread || connection.input.partial() != nullptr ? AtEnd::kGoOn : AtEnd::kEnd;
}

void Input::PauseForMemory(Connection* connection) {
  connection->attachment().waiting().Add(connection);
  SocketWatch::Pause(connection, kPauseMemory);
}

// Returns true when there is probably more to read.
bool Input::ReadOnce(Connection* connection) {
  Protocol* protocol = protocols_->Of(connection->phase());
  const size_t shared =
      ReceiveWindows::HasExtra(*connection) ? limits::kLargeReadBytes : limits::kReadBytes;
  const std::span<char> room = protocol->Room(connection, {buffer_.get(), shared});
  if (room.empty()) return false;
  size_t most = room.size();
  const bool is_own = room.data() != buffer_.get();
  const ssize_t got = is_own && connection->tls == nullptr
                          ? ReadMore(connection, protocol, room, &most)
                          : transport_->Receive(connection, room.data(), room.size());
  if (got <= 0) {
    OnReadFailed(connection, got == 0 ? 0 : errno);
    return false;
  }
  ConnectionTimers::SetActive(connection, uv_now(loop_));
  const auto bytes = static_cast<size_t>(got);
  if (room.data() == buffer_.get()) {
    Receive(connection, {buffer_.get(), bytes});
  } else {
    protocol->OnReceived(connection, bytes);
  }
  return bytes == most;
}

// Reads into `room` and into further memory of the protocol, whose size is added to *most.
ssize_t Input::ReadMore(Connection* connection, Protocol* protocol, std::span<char> room,
                        size_t* most) {
  rooms_[0] = {room.data(), room.size()};
  const size_t count = protocol->MoreRoom(connection, std::span(rooms_).subspan(1));
  if (count == 0) return transport_->Receive(connection, room.data(), room.size());
  const std::span<iovec> rooms = std::span(rooms_).first(count + 1);
  for (const iovec& each : rooms.subspan(1)) *most += each.iov_len;
  return Transport::ReceivePlain(connection, rooms);
}

// Handles a failed read; `error` 0 = the end of the client's data.
void Input::OnReadFailed(Connection* connection, int error) {
  if (error == EAGAIN || error == EWOULDBLOCK) return;
  if (error != 0) {
    transport_->Close(connection, error);
    return;
  }
  protocols_->Of(connection->phase())->OnEof(connection);
}

void Input::Receive(Connection* connection, std::string_view bytes) {
  // Receive() nests: frames of HTTP/2 that are being handled may contain bytes of a tunnel.
  const std::string_view outer = std::exchange(segment_, bytes);
  HandleReceived(connection, bytes);
  segment_ = outer;
}

void Input::HandleReceived(Connection* connection, std::string_view bytes) {
  if (connection->input.partial() != nullptr) {
    connection->input.Keep(bytes);
    HandleKept(connection);
    return;
  }
  const size_t used = Handle(connection, bytes);
  if (connection->is_open() && used < bytes.size()) {
    connection->input.KeepOnly(std::string(bytes.substr(used)));
  }
}

void Input::HandleKept(Connection* connection) {
  // Move the bytes out of the connection, so that Keep() does not reallocate them meanwhile.
  std::unique_ptr<std::string> partial = connection->input.TakeKept();
  const size_t used = Handle(connection, *partial);
  if (!connection->is_open()) return;
  if (used != partial->size()) {
    partial->erase(0, used);
    connection->input.KeepOnly(std::move(partial));
  } else if (Protocol* protocol = protocols_->Of(connection->phase()); protocol != nullptr) {
    protocol->OnKeptRead(connection);
  }
}

// Returns how much of the input has been handled.
size_t Input::Handle(Connection* connection, std::string_view input) {
  size_t at = 0;
  while (at < input.size()) {
    Protocol* protocol = protocols_->Of(connection->phase());
    if (protocol == nullptr) break;
    size_t used = 0;
    const Protocol::Advance advance = protocol->OnReadable(connection, input.substr(at), &used);
    at += used;
    const bool is_over = !connection->is_open() || connection->phase() == InputPhase::kRefused ||
                         connection->phase() == InputPhase::kOver;
    if (is_over) {
      at = input.size();
      break;
    }
    if (advance == Protocol::Advance::kWait) break;
  }
  observer_->OnRead(connection);
  return at;
}

void Input::Resume(Connection* connection, PauseReason reason) {
  if (!SocketWatch::Resume(connection, reason)) return;
  if (MustWaitForMemory(*connection)) {
    PauseForMemory(connection);
  } else if (connection->input.partial() != nullptr) {
    const std::string_view outer = std::exchange(segment_, {});
    HandleKept(connection);
    segment_ = outer;
  }
  if (connection->is_open()) transport_->watch()->Update(connection);
}

void Input::OnWindow(Connection* connection, uint32_t bytes) {
  if (windows_.Give(connection, bytes, uv_now(loop_))) Resume(connection, kPauseWindow);
}

}  // namespace httpsys::engine
