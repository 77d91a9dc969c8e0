#include "sharing/channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/limits.h"
#include "common/socket_calls.h"

namespace httpsys::sharing {
namespace {

#ifdef MSG_CMSG_CLOEXEC
constexpr int kReceiveFlags = MSG_CMSG_CLOEXEC;
#else
constexpr int kReceiveFlags = 0;
#endif

// Up to two pieces with at most one descriptor, in one call. Bytes sent, or -1.
ssize_t SendWith(int socket, std::string_view first, std::string_view second, int fd) {
  iovec vectors[2] = {{const_cast<char*>(first.data()), first.size()},
                      {const_cast<char*>(second.data()), second.size()}};
  msghdr message{};
  message.msg_iov = vectors;
  message.msg_iovlen = second.empty() ? 1 : 2;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (fd != -1) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket, &message, kSendFlags);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

}  // namespace

Channel::Channel(uv_loop_t* loop, int fd, Handler* handler) : fd_(fd), handler_(handler) {
  is_started_ = uv_poll_init(loop, &poll_, fd) == 0;
  poll_.data = this;
}

Channel::~Channel() {
  for (const int fd : received_fds_) close(fd);
  for (const Unsent& unsent : unsent_) {
    if (unsent.fd != -1) close(unsent.fd);
  }
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

bool Channel::Send(peer::FrameType type, std::string_view payload, int fd) {
  if (is_closed_ || is_broken_ || payload.size() > peer::kFrameBytesMax) return false;
  const std::string header = peer::FrameHeader(type, payload.size(), fd == -1 ? 0 : 1);
  const size_t total = header.size() + payload.size();
  size_t sent = 0;
  if (unsent_.empty()) {
    const ssize_t result = SendWith(fd_, header, payload, fd);
    // The peer's end is met by the next read, which tells of it.
    if (result < 0 && !IsWouldBlock(errno)) return false;
    sent = result < 0 ? 0 : static_cast<size_t>(result);
    if (sent == total) return true;
  }
  Unsent unsent;
  unsent.bytes = header;
  unsent.bytes.append(payload);
  unsent.at = sent;
  // The first byte took it along.
  if (fd != -1 && sent == 0) unsent.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (fd != -1 && sent == 0 && unsent.fd == -1) return false;
  unsent_bytes_ += total - sent;
  unsent_.push_back(std::move(unsent));
  Watch();
  return true;
}

void Channel::FlushUnsent() {
  while (!unsent_.empty()) {
    Unsent& front = unsent_.front();
    const ssize_t result =
        SendWith(fd_, std::string_view(front.bytes).substr(front.at), {}, front.fd);
    if (result < 0) {
      if (!IsWouldBlock(errno)) Break();
      return;
    }
    if (front.fd != -1) close(front.fd);
    front.fd = -1;
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

// True when there may be more.
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
  bool has_fd = false;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    // Room for one may be room for two, because of the alignment.
    for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= header->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + at, sizeof fd);
#ifndef MSG_CMSG_CLOEXEC
      fcntl(fd, F_SETFD, FD_CLOEXEC);
#endif
      received_fds_.push_back(fd);
      if (at != 0) is_broken_ = true;
      has_fd = true;
    }
  }
  // Out of descriptors: the frame comes without.
  if (!has_fd && (message.msg_flags & MSG_CTRUNC) != 0) received_fds_.push_back(-1);
  if (received_fds_.size() > limits::kPeerUnackedMax) is_broken_ = true;
  reader_.Append({buffer, static_cast<size_t>(got)});
  return true;
}

void Channel::Deliver() {
  peer::Frame frame;
  while (!is_closed_) {
    const peer::FrameReader::Result result = reader_.Next(&frame);
    if (result == peer::FrameReader::Result::kNeedMore) {
      // A descriptor comes with the first byte of its frame: no more than that one can wait.
      if (received_fds_.size() > peer::kFrameFdsMax) is_broken_ = true;
      break;
    }
    if (result == peer::FrameReader::Result::kBad) {
      is_broken_ = true;
      break;
    }
    int fd = -1;
    if (frame.fds != 0) {
      if (received_fds_.empty()) {
        is_broken_ = true;
        break;
      }
      fd = received_fds_.front();
      received_fds_.pop_front();
    }
    handler_->OnFrame(this, frame, fd);
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

void Channel::ShutDown() { shutdown(fd_, SHUT_RDWR); }

void Channel::ReadRest() {
  is_broken_ = false;
  while (!is_broken_ && ReadOnce()) {
  }
  peer::Frame frame;
  while (reader_.Next(&frame) == peer::FrameReader::Result::kFrame) {
    int fd = -1;
    if (frame.fds != 0 && !received_fds_.empty()) {
      fd = received_fds_.front();
      received_fds_.pop_front();
    }
    handler_->OnFrame(this, frame, fd);
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
