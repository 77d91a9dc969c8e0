#include "tls/wire.h"

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/descriptors.h"

namespace httpsys::tls {
namespace {

// Sends like send(2), without blocking. Returns the number of bytes sent, or -1 and errno.
ssize_t SendSome(int fd, std::string_view bytes) {
  ssize_t sent;
  do {
    sent = send(fd, bytes.data(), bytes.size(), kSendFlags | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

}  // namespace

bool Wire::Attach(SSL* ssl) {
  BIO* bio = BIO_new(Method());
  if (bio == nullptr) return false;
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl, bio, bio);
  return true;
}

const BIO_METHOD* Wire::Method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "httpsys wire");
    BIO_meth_set_read(made, OnRead);
    BIO_meth_set_write(made, OnWrite);
    BIO_meth_set_ctrl(made, OnControl);
    return made;
  }();
  return method;
}

int Wire::OnRead(BIO* bio, char* to, int size) {
  auto* self = static_cast<Wire*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  self->is_filled_ = false;
  const size_t wanted = std::min(static_cast<size_t>(size), self->budget_);
  if (wanted == 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  ssize_t got;
  do {
    got = recv(self->fd_, to, wanted, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got > 0) {
    self->budget_ -= static_cast<size_t>(got);
    self->barren_bytes_ += static_cast<size_t>(got);
    self->is_filled_ = static_cast<size_t>(got) == wanted;
    return static_cast<int>(got);
  }
  if (got == 0) {
    self->is_at_end_ = true;
    return 0;
  }
  if (IsWouldBlock(errno)) {
    BIO_set_retry_read(bio);
  } else {
    self->error_ = errno;
  }
  return -1;
}

// Accepts all bytes: the writer has limited their number before.
int Wire::OnWrite(BIO* bio, const char* from, int size) {
  auto* self = static_cast<Wire*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  self->sealed_->append(from, static_cast<size_t>(size));
  return size;
}

long Wire::OnControl(BIO* bio, int command, long, void*) {
  switch (command) {
    case BIO_CTRL_FLUSH:
      return 1;
    case BIO_CTRL_EOF:
      return static_cast<Wire*>(BIO_get_data(bio))->is_at_end_ ? 1 : 0;
    default:
      return 0;
  }
}

int Wire::Flush() {
  if (error_ != 0) {
    sealed_->clear();
    return error_;
  }
  is_held_ = false;
  if (!unsent_.empty()) {
    sealed_->insert(0, unsent_);
    unsent_ = std::string();  // Unlike clear(), assigning a new string frees the memory.
  }
  if (sealed_->empty()) return 0;
  const ssize_t got = SendSome(fd_, *sealed_);
  if (got < 0 && !IsWouldBlock(errno)) {
    error_ = errno;
    sealed_->clear();
    return error_;
  }
  const size_t sent = got < 0 ? 0 : static_cast<size_t>(got);
  if (sent < sealed_->size()) {
    unsent_.assign(*sealed_, sent);
    send_bytes_ = limits::kTlsWireBytes;
  } else if (sent >= send_bytes_) {
    send_bytes_ = std::min(2 * send_bytes_, limits::kTlsWireBytesMax);
  }
  sealed_->clear();
  return unsent_.empty() ? 0 : EAGAIN;
}

void Wire::HoldSealed() {
  unsent_.append(*sealed_);
  sealed_->clear();
  send_bytes_ = limits::kTlsWireBytes;
  is_held_ = true;
}

}  // namespace httpsys::tls
