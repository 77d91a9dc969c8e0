#include "tls/session.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/limits.h"
#include "tls/error_queue.h"

namespace httpsys::tls {
namespace {

constexpr size_t kRecordBytes = limits::kTlsRecordBytes;

}  // namespace

// -- Creation and destruction.

void SslDeleter::operator()(SSL* ssl) const { SSL_free(ssl); }

std::unique_ptr<Session> Session::Create(std::shared_ptr<const ServerContext> context, int fd,
                                         WireBuffer* sealed, uint16_t port, Maker maker) {
  std::shared_ptr<TicketKeys> ticket_keys = context->settings().ticket_keys;
  if (ticket_keys == nullptr) ticket_keys = TicketKeys::OfPort(port);
  SslPtr ssl(SSL_new(context->context()));
  if (ssl == nullptr || ticket_keys == nullptr) return nullptr;
  SSL* opened = ssl.get();
  std::unique_ptr<Session> session(
      new Session(std::move(ssl), std::move(context), std::move(ticket_keys), fd, sealed, maker));
  if (!session->wire_.Attach(opened) || !session->negotiation_.Attach()) return nullptr;
  SSL_set_accept_state(opened);
  return session;
}

Session::Session(SslPtr ssl, std::shared_ptr<const ServerContext> context,
                 std::shared_ptr<TicketKeys> ticket_keys, int fd, WireBuffer* sealed, Maker maker)
    : wire_(fd, sealed),
      negotiation_(ssl.get(), std::move(context), std::move(ticket_keys), &wire_, &failure_),
      maker_(maker),
      ssl_(std::move(ssl)) {}

HandshakeStatus Session::Handshake() {
  const HandshakeStatus status = negotiation_.Continue();
  if (is_established()) has_pending_ = SSL_has_pending(ssl_.get()) == 1;
  return status;
}

// -- Data.

ssize_t Session::Read(void* memory, size_t bytes) {
  wire_.BeginRead();
  has_pending_ = false;
  size_t got = 0;
  while (got < bytes && !has_failed()) {
    ForgetErrors();
    const size_t room = std::min<size_t>(bytes - got, INT32_MAX);
    const int result =
        SSL_read(ssl_.get(), static_cast<char*>(memory) + got, static_cast<int>(room));
    if (result <= 0) {
      const int error = OnReadResult(result);
      if (got != 0) {
        has_pending_ = error != EAGAIN;
        break;
      }
      if (error == 0) return 0;
      errno = error;
      return -1;
    }
    got += static_cast<size_t>(result);
    wire_.ForgetBarren();
    has_pending_ = SSL_has_pending(ssl_.get()) == 1;
    if (!has_pending_ && !wire_.is_filled()) break;
  }
  if (got != 0) {
    if (wire_.has_sealed()) wire_.Flush();
    return static_cast<ssize_t>(got);
  }
  errno = failure_.error;
  return -1;
}

// Returns 0 at the end of the data, otherwise a positive errno.
int Session::OnReadResult(int result) {
  if (has_failed()) {
    // The client has requested too many new keys. The shared buffer has answers for this
    // connection, which must be sent now.
    wire_.Flush();
    return failure_.error;
  }
  const int why = SSL_get_error(ssl_.get(), result);
  if (why == SSL_ERROR_ZERO_RETURN || (wire_.is_at_end() && wire_.error() == 0)) {
    // The shared buffer may have an alert: the client has ended without close_notify.
    if (wire_.has_sealed()) wire_.Flush();
    return 0;
  }
  if (why == SSL_ERROR_WANT_READ) {
    // The shared buffer has the answer to a key update, or to a refused renegotiation request.
    if (wire_.has_sealed()) wire_.Flush();
    if (wire_.barren_bytes() <= limits::kTlsBarrenBytesMax) return EAGAIN;
    Fail(EPROTO, &failure_);
    return EPROTO;
  }
  if (wire_.error() != 0) {
    wire_.DropSealed();
    Fail(wire_.error(), &failure_);
  } else {
    FailWithQueue(&failure_);
    wire_.Flush();
  }
  return failure_.error;
}

ssize_t Session::Write(const iovec* vectors, int count, bool is_end) {
  if (has_failed()) {
    errno = EPIPE;
    return -1;
  }
  if (wire_.has_unsent()) {
    if (const int error = wire_.Flush(); error != 0) {
      errno = error;
      return -1;
    }
  }
  size_t total = 0;
  for (int i = 0; i < count; ++i) total += vectors[i].iov_len;
  is_end = is_end && total <= limits::kSendBytesPerEvent;
  total = std::min(total, limits::kSendBytesPerEvent);
  size_t taken = 0;
  while (taken < total) {
    if (Seal(vectors, count, taken, &taken) != 0) {
      if (taken != 0) break;
      errno = EPIPE;
      return -1;
    }
    if (is_end && taken == total) SealGoodbye();
    const int error = wire_.Flush();
    if (error == EAGAIN) break;
    if (error != 0) {
      errno = error;
      return -1;
    }
  }
  return static_cast<ssize_t>(taken);
}

// Encrypts records until there are enough bytes for one system call.
int Session::Seal(const iovec* vectors, int count, size_t skip, size_t* taken) {
  int at = 0;
  while (at < count && skip >= vectors[at].iov_len) skip -= vectors[at++].iov_len;
  char gathered[kRecordBytes];
  while (at < count && wire_.has_room()) {
    const char* from = static_cast<const char*>(vectors[at].iov_base) + skip;
    size_t bytes = vectors[at].iov_len - skip;
    if (bytes < kRecordBytes && at + 1 < count) {
      // Copy several pieces together, so that they make one full record.
      size_t have = 0;
      size_t offset = skip;
      for (int i = at; i < count && have < kRecordBytes; ++i, offset = 0) {
        const size_t part = std::min(vectors[i].iov_len - offset, kRecordBytes - have);
        std::memcpy(gathered + have, static_cast<const char*>(vectors[i].iov_base) + offset, part);
        have += part;
      }
      from = gathered;
      bytes = have;
    }
    ForgetErrors();
    const int wrote = SSL_write(ssl_.get(), from, static_cast<int>(std::min(bytes, kRecordBytes)));
    if (wrote <= 0) {
      FailWithQueue(&failure_);
      return EPIPE;
    }
    *taken += static_cast<size_t>(wrote);
    skip += static_cast<size_t>(wrote);
    while (at < count && skip >= vectors[at].iov_len) skip -= vectors[at++].iov_len;
  }
  return 0;
}

void Session::SealGoodbye() {
  if (is_shut_ || !is_established() || has_failed()) return;
  is_shut_ = true;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
}

bool Session::Shutdown() {
  SealGoodbye();
  return wire_.Flush() != EAGAIN;
}

// -- Failures and facts.

void Session::Reject() { Fail(ECONNRESET, &failure_); }

void Session::TimeOut() {
  Fail(ETIMEDOUT, &failure_);
  // Drop unsent bytes of an unfinished handshake: the client must not mistake them for its end.
  if (!is_established()) wire_.DropUnsent();
}

bool Session::is_plain_http() const { return failure_.reason == SSL_R_HTTP_REQUEST; }

HandshakeTerms Session::terms() const {
  HandshakeTerms terms = TermsOf(ssl_.get(), context().settings().request_cert);
  terms.trust = trust();
  return terms;
}

Facts Session::Describe() const {
  Facts facts = DescribeSession(ssl_.get(), context().settings().request_cert);
  facts.servername = hello().servername;
  return facts;
}

}  // namespace httpsys::tls
