#include "sharing/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/descriptors.h"
#include "base/limits.h"

namespace httpsys::sharing {
namespace {

#ifdef MSG_CMSG_CLOEXEC
constexpr int kReceiveFlags = MSG_CMSG_CLOEXEC;
#else
constexpr int kReceiveFlags = 0;
#endif

// Sends up to two pieces of bytes, and descriptors, in one call. Returns the bytes sent, or -1.
ssize_t SendWith(int socket, std::string_view first, std::string_view second,
                 std::span<const int> fds) {
  iovec vectors[2] = {{const_cast<char*>(first.data()), first.size()},
                      {const_cast<char*>(second.data()), second.size()}};
  msghdr message{};
  message.msg_iov = vectors;
  message.msg_iovlen = second.empty() ? 1 : 2;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * peer::kFrameFdsMax)] = {};
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket, &message, kSendFlags);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

void CloseAll(std::vector<int>* fds) {
  for (const int fd : *fds) close(fd);
  fds->clear();
}

// Duplicates descriptors. If the process has too few, closes the copies and returns false.
bool DuplicateAll(std::span<const int> fds, std::vector<int>* copies) {
  for (const int fd : fds) {
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy == -1) {
      CloseAll(copies);
      return false;
    }
    copies->push_back(copy);
  }
  return true;
}

// Appends the descriptors that came with a received message.
void CollectFds(msghdr* message, std::vector<int>* fds) {
  for (cmsghdr* header = CMSG_FIRSTHDR(message); header != nullptr;
       header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= header->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + at, sizeof fd);
#ifndef MSG_CMSG_CLOEXEC
      fcntl(fd, F_SETFD, FD_CLOEXEC);
#endif
      fds->push_back(fd);
    }
  }
}

}  // namespace

Channel::Channel(uv_loop_t* loop, int fd, Handler* handler)
    : fd_(MoveToOwn(fd)), handler_(handler) {
  is_started_ = uv_poll_init(loop, &poll_, fd_) == 0;
  poll_.data = this;
}

Channel::~Channel() {
  for (std::vector<int>& fds : received_fds_) CloseAll(&fds);
  for (Unsent& unsent : unsent_) CloseAll(&unsent.fds);
  close(fd_);
}

int Channel::Start() {
  if (!is_started_) return -EBADF;
  Watch();
  return 0;
}

void Channel::Watch() {
  if (is_closed_ || is_broken_) return;
  const int reading = is_reading_ ? UV_READABLE : UV_DISCONNECT;
  uv_poll_start(&poll_, reading | (unsent_.empty() ? 0 : UV_WRITABLE), OnPoll);
}

void Channel::set_is_reading(bool is_reading) {
  if (is_reading == is_reading_) return;
  is_reading_ = is_reading;
  Watch();
}

void Channel::OnPoll(uv_poll_t* poll, int status, int events) {
  auto* self = static_cast<Channel*>(poll->data);
  if (status < 0) return self->Break();
  if ((events & UV_WRITABLE) != 0) self->FlushUnsent();
  if ((events & (UV_READABLE | UV_DISCONNECT)) != 0 && !self->is_closed_) self->Read();
}

// -- Sending.

bool Channel::Send(peer::FrameType type, std::string_view payload, std::span<const int> fds) {
  const bool is_possible = !is_closed_ && !is_broken_ && payload.size() <= peer::kFrameBytesMax &&
                           fds.size() <= peer::kFrameFdsMax;
  if (!is_possible) return false;
  const std::string header =
      peer::FrameHeader(type, payload.size(), static_cast<uint8_t>(fds.size()));
  const size_t total = header.size() + payload.size();
  size_t sent = 0;
  if (unsent_.empty()) {
    const ssize_t result = SendWith(fd_, header, payload, fds);
    // No OnBroken() here: if the peer has closed its end, the next read reports that.
    if (result < 0 && !IsWouldBlock(errno)) return false;
    sent = result < 0 ? 0 : static_cast<size_t>(result);
    if (sent == total) return true;
  }
  Unsent unsent;
  unsent.bytes = header;
  unsent.bytes.append(payload);
  unsent.at = sent;
  // If the system has taken a part of the frame, the descriptors went with its first byte.
  if (sent == 0 && !DuplicateAll(fds, &unsent.fds)) return false;
  unsent_bytes_ += total - sent;
  unsent_.push_back(std::move(unsent));
  Watch();
  return true;
}

void Channel::FlushUnsent() {
  while (!unsent_.empty()) {
    Unsent& front = unsent_.front();
    const ssize_t result =
        SendWith(fd_, std::string_view(front.bytes).substr(front.at), {}, front.fds);
    if (result < 0) {
      if (!IsWouldBlock(errno)) Break();
      return;
    }
    CloseAll(&front.fds);
    front.at += static_cast<size_t>(result);
    unsent_bytes_ -= static_cast<size_t>(result);
    if (front.at < front.bytes.size()) return;
    unsent_.pop_front();
  }
  Watch();
}

// -- Receiving.

void Channel::Read() {
  for (int i = 0; i < limits::kPeerReadsPerEvent; ++i) {
    const bool is_more = ReadOnce();
    Deliver();
    if (is_closed_) return;
    if (is_broken_) break;
    if (!is_more) break;
  }
  handler_->OnBatchEnd(this);
}

void Channel::ReadNow() {
  if (!is_closed_ && !is_broken_) Read();
}

// Reads once. Returns true if there may be more to read.
bool Channel::ReadOnce() {
  char buffer[16 * 1024];
  iovec vector{buffer, sizeof buffer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * peer::kFrameFdsMax)];
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do {
    got = recvmsg(fd_, &message, kReceiveFlags);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && IsWouldBlock(errno)) return false;
  if (got <= 0) {
    is_broken_ = true;
    return false;
  }
  std::vector<int> fds;
  CollectFds(&message, &fds);
  // MSG_CTRUNC: this process has no free descriptors; the frame is delivered without its own.
  if (!fds.empty() || (message.msg_flags & MSG_CTRUNC) != 0) {
    received_fds_.push_back(std::move(fds));
  }
  reader_.Append({buffer, static_cast<size_t>(got)});
  return true;
}

// Takes the descriptors that came with the frame's first byte.
std::vector<int> Channel::TakeFds(const peer::Frame& frame) {
  if (frame.fds == 0) return {};
  if (received_fds_.empty()) {
    is_broken_ = true;
    return {};
  }
  std::vector<int> fds = std::move(received_fds_.front());
  received_fds_.pop_front();
  if (fds.size() <= frame.fds) return fds;
  is_broken_ = true;
  CloseAll(&fds);
  return fds;
}

// Returns true if received descriptors belong to no frame. Descriptors come with the first byte of
// their frame, so only an incomplete frame may have some.
bool Channel::HasStrayFds() const {
  return received_fds_.size() > (reader_.buffered_bytes() == 0 ? 0u : 1u);
}

void Channel::Deliver() {
  peer::Frame frame;
  while (!is_closed_) {
    const peer::FrameReader::Result result = reader_.Next(&frame);
    if (result == peer::FrameReader::Result::kNeedMore) {
      if (HasStrayFds()) is_broken_ = true;
      break;
    }
    if (result == peer::FrameReader::Result::kBad) {
      is_broken_ = true;
      break;
    }
    const std::vector<int> fds = TakeFds(frame);
    if (is_broken_) break;
    handler_->OnFrame(this, frame, fds);
  }
  if (is_broken_ && !is_closed_) {
    is_broken_ = false;
    Break();
  }
}

void Channel::Break() {
  if (is_broken_ || is_closed_) return;
  is_broken_ = true;
  if (is_started_) uv_poll_stop(&poll_);
  handler_->OnBroken(this);
}

bool Channel::HasUnread() const {
  pollfd watched{fd_, POLLIN, 0};
  return poll(&watched, 1, 0) != 0;
}

// poll() reports the peer's end without being asked for an event.
bool Channel::HasEnded() const {
  pollfd watched{fd_, 0, 0};
  return poll(&watched, 1, 0) != 0;
}

void Channel::ShutDown() { shutdown(fd_, SHUT_RDWR); }

void Channel::ReadRest() {
  is_broken_ = false;
  while (!is_broken_ && ReadOnce()) {
    peer::Frame frame;
    while (!is_broken_ && reader_.Next(&frame) == peer::FrameReader::Result::kFrame) {
      const std::vector<int> fds = TakeFds(frame);
      if (!is_broken_) handler_->OnFrame(this, frame, fds);
    }
    if (HasStrayFds()) break;
  }
  is_broken_ = true;
}

void Channel::Close() {
  if (is_closed_) return;
  is_closed_ = true;
  if (!is_started_) {
    delete this;
    return;
  }
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_),
           [](uv_handle_t* handle) { delete static_cast<Channel*>(handle->data); });
}

}  // namespace httpsys::sharing
