#include "engine/connection/input.h"

#include <sys/ioctl.h>
#include <sys/types.h>

#include <cerrno>
#include <utility>

#include "base/limits.h"

namespace httpsys::engine {
namespace {

constexpr int kGoodbyeBytesMax = 40;

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
    if (connection->attachment().requests().stalled()) {
      PauseForMemory(connection);
      transport_->watch()->Update(connection);
      break;
    }
    goes_on = ReadOnce(connection) && connection->is_open() && connection->watch.pauses() == 0;
  }
  if (ReceiveWindows::MustEndRead(*connection)) windows_.EndRead(connection, uv_now(loop_));
}

// Handles the peer's end at once, unless some requests are still in the socket: then the end is
// found when they are read. A request that waits for a disk gets its answer if that comes soon: the
// timer of the connection stops when the input goes on.
void Input::OnDisconnect(Connection* connection) {
  if ((connection->watch.pauses() & kPauseOrder) != 0) {
    transport_->StartIdleTimer(connection, limits::kLeftMs);
    return;
  }
  if ((connection->watch.pauses() & kPauseOver) != 0) {
    transport_->OnPeerEnded(connection);
    transport_->WatchLeft(connection);
    return;
  }
  // A goodbye of TLS is not a request: the shortest request with its record is longer.
  const int unread_max = connection->tls == nullptr ? 0 : kGoodbyeBytesMax;
  int unread = 0;
  if (ioctl(connection->fd, FIONREAD, &unread) != 0 || unread > unread_max) return;
  OnReadFailed(connection, 0);
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
  const auto bytes = static_cast<size_t>(got);
  if (room.data() == buffer_.get()) {
    Receive(connection, {buffer_.get(), bytes});
  } else {
    protocol->OnReceived(connection, bytes);
  }
  return bytes == most;
}

// Reads into the protocol's own memory, and adds what it has beside `room` to `most`.
ssize_t Input::ReadMore(Connection* connection, Protocol* protocol, std::span<char> room,
                        size_t* most) {
  rooms_[0] = {room.data(), room.size()};
  const size_t count = protocol->MoreRoom(connection, std::span(rooms_).subspan(1));
  if (count == 0) return transport_->Receive(connection, room.data(), room.size());
  const std::span<iovec> rooms = std::span(rooms_).first(count + 1);
  for (const iovec& each : rooms.subspan(1)) *most += each.iov_len;
  return Transport::ReceivePlain(connection, rooms);
}

// `error` 0 is the end of the client's data.
void Input::OnReadFailed(Connection* connection, int error) {
  if (error == EAGAIN || error == EWOULDBLOCK) return;
  if (error != 0) {
    transport_->Close(connection, error);
    return;
  }
  protocols_->Of(connection->phase())->OnEof(connection);
}

void Input::Receive(Connection* connection, std::string_view bytes) {
  if (connection->input.partial_ != nullptr) {
    connection->input.partial_->append(bytes);
    HandleKept(connection);
    return;
  }
  const size_t used = Handle(connection, bytes);
  if (connection->is_open() && used < bytes.size()) {
    connection->input.partial_ = std::make_unique<std::string>(bytes.substr(used));
  }
}

  // Bytes of a tunnel may come with a frame of the bytes that are being handled.
  const std::string_view outer = std::exchange(segment_, bytes);
  HandleReceived(connection, bytes);
  segment_ = outer;
}

void Input::HandleReceived(Connection* connection, std::string_view bytes) {
void Input::HandleKept(Connection* connection) {
  // The bytes leave the connection meanwhile, so that they stay in place.
  std::unique_ptr<std::string> partial = TakeKept(connection);
  const size_t used = Handle(connection, *partial);
  if (!connection->is_open()) return;
  if (used != partial->size()) {
    partial->erase(0, used);
    connection->input.partial_ = std::move(partial);
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

void Input::DropKept(Connection* connection, size_t bytes) {
  std::unique_ptr<std::string>& kept = connection->input.partial_;
  kept->erase(0, bytes);
  if (kept->empty()) kept.reset();
}

void Input::Resume(Connection* connection, PauseReason reason) {
  if (!SocketWatch::Resume(connection, reason)) return;
  if (connection->attachment().requests().stalled()) {
    PauseForMemory(connection);
  } else if (connection->input.partial() != nullptr) {
    HandleKept(connection);
  }
  if (connection->is_open()) transport_->watch()->Update(connection);
}

void Input::OnWindow(Connection* connection, uint32_t bytes) {
  if (windows_.Give(connection, bytes, uv_now(loop_))) Resume(connection, kPauseWindow);
}

}  // namespace httpsys::engine
    const std::string_view outer = std::exchange(segment_, {});
    segment_ = outer;
