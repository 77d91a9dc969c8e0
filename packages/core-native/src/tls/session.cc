#include "tls/session.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/limits.h"
#include "base/socket_calls.h"

namespace httpsys::tls {
namespace {

constexpr size_t kRecordBytes = limits::kTlsRecordBytes;

int SessionIndex() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

std::string_view Text(const char* text) { return text == nullptr ? std::string_view() : text; }

int AppendLine(const char* line, size_t size, void* to) {
  static_cast<std::string*>(to)->append(line, size);
  return 1;
}

// Sends as send(2) does, without blocking. Returns the number of bytes sent, or -1 and errno.
ssize_t SendSome(int fd, std::string_view bytes) {
  ssize_t sent;
  do {
    sent = send(fd, bytes.data(), bytes.size(), kSendFlags | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

// Clears OpenSSL's error queue, as OpenSSL requires before each of its calls. The queue is nearly
// always empty, and looking is cheaper than clearing.
void ForgetErrors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

}  // namespace

// -- Contexts.

void Session::PrepareContext(SSL_CTX* context, bool logs_keys) {
  SSL_CTX_set_alpn_select_cb(context, OnAlpn, nullptr);
  SSL_CTX_set_tlsext_status_cb(context, OnStatus);
  if (logs_keys) SSL_CTX_set_keylog_callback(context, OnKeyLog);
}

void Session::PrepareServer(SSL_CTX* context, const ContextSettings& settings) {
  SSL_CTX_set_client_hello_cb(context, OnClientHello, nullptr);
  SSL_CTX_set_tlsext_ticket_key_evp_cb(context, OnTicketKey);
  // Sessions are in their tickets, or JavaScript keeps them, so OpenSSL needs no cache.
  const auto cache =
      SSL_SESS_CACHE_SERVER | SSL_SESS_CACHE_NO_INTERNAL | SSL_SESS_CACHE_NO_AUTO_CLEAR;
  SSL_CTX_set_session_cache_mode(context, settings.tells_sessions ? cache : SSL_SESS_CACHE_OFF);
  if (settings.tells_sessions) {
    SSL_CTX_sess_set_new_cb(context, OnNewSession);
    SSL_CTX_sess_set_get_cb(context, OnFindSession);
  }
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_ENABLE_PARTIAL_WRITE);
  SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
  // The end of the socket without a goodbye is a normal end, and no reason for an alert.
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  // With read-ahead, a read costs one call of the kernel instead of one for the head of a record
  // and one for the rest.
  SSL_CTX_set_read_ahead(context, 1);
  int mode = SSL_VERIFY_NONE;
  if (settings.requests_certificate) {
    mode = SSL_VERIFY_PEER;
    if (settings.rejects_unauthorized) mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  }
  // The handshake goes on after a verification error, as on Node. The error is reported, or the
  // client rejected, when the handshake is done.
  SSL_CTX_set_verify(context, mode, [](int, X509_STORE_CTX*) { return 1; });
}

// -- Life.

std::unique_ptr<Session> Session::Create(std::shared_ptr<const ServerContext> context, int fd,
                                         WireBuffer* wire, uint16_t port, Maker maker) {
  std::unique_ptr<Session> session(new Session);
  session->maker_ = maker;
  session->fd_ = fd;
  session->wire_ = wire;
  session->ssl_ = SSL_new(context->context());
  session->context_ = std::move(context);
  session->ticket_keys_ = session->context_->settings().ticket_keys;
  if (session->ticket_keys_ == nullptr) session->ticket_keys_ = TicketKeys::OfPort(port);
  if (session->ssl_ == nullptr || session->ticket_keys_ == nullptr) return nullptr;
  BIO* bio = BIO_new(WireMethod());
  if (bio == nullptr || SSL_set_ex_data(session->ssl_, SessionIndex(), session.get()) != 1) {
    BIO_free(bio);
    return nullptr;
  }
  BIO_set_data(bio, session.get());
  BIO_set_init(bio, 1);
  SSL_set_bio(session->ssl_, bio, bio);
  SSL_set_accept_state(session->ssl_);
  return session;
}

Session::~Session() { SSL_free(ssl_); }

Session* Session::Of(const SSL* ssl) {
  return static_cast<Session*>(SSL_get_ex_data(ssl, SessionIndex()));
}

// -- The socket, as OpenSSL sees it.

const BIO_METHOD* Session::WireMethod() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "httpsys wire");
    BIO_meth_set_read(made, OnWireRead);
    BIO_meth_set_write(made, OnWireWrite);
    BIO_meth_set_ctrl(made, OnWireControl);
    return made;
  }();
  return method;
}

int Session::OnWireRead(BIO* bio, char* to, int size) {
  auto* self = static_cast<Session*>(BIO_get_data(bio));
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
    self->wire_error_ = errno;
  }
  return -1;
}

// Takes all bytes: the writer has checked before how much there is.
int Session::OnWireWrite(BIO* bio, const char* from, int size) {
  auto* self = static_cast<Session*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  self->wire_->append(from, static_cast<size_t>(size));
  return size;
}

long Session::OnWireControl(BIO* bio, int command, long, void*) {
  switch (command) {
    case BIO_CTRL_FLUSH:
      return 1;
    case BIO_CTRL_EOF:
      return static_cast<Session*>(BIO_get_data(bio))->is_at_end_ ? 1 : 0;
    default:
      return 0;
  }
}

int Session::Flush() {
  if (wire_error_ != 0) {
    wire_->clear();
    return wire_error_;
  }
  is_held_ = false;
  if (!unsent_.empty()) {
    wire_->insert(0, unsent_);
    unsent_ = std::string();  // Assigning a new string frees its memory, too.
  }
  if (wire_->empty()) return 0;
  const ssize_t sent = SendSome(fd_, *wire_);
  if (sent < 0 && !IsWouldBlock(errno)) {
    wire_error_ = errno;
    wire_->clear();
    return wire_error_;
  }
  KeepUnsent(sent < 0 ? 0 : static_cast<size_t>(sent));
  return unsent_.empty() ? 0 : EAGAIN;
}

void Session::KeepUnsent(size_t sent) {
  if (sent < wire_->size()) {
    unsent_.assign(*wire_, sent);
    wire_bytes_ = limits::kTlsWireBytes;
  } else if (sent >= wire_bytes_) {
    wire_bytes_ = std::min(2 * wire_bytes_, limits::kTlsWireBytesMax);
  }
  wire_->clear();
}

// -- Data.

ssize_t Session::Read(void* memory, size_t bytes) {
  budget_ = limits::kTlsReadBytes;
  has_pending_ = false;
  size_t got = 0;
  while (got < bytes && !has_failed()) {
    ForgetErrors();
    const size_t room = std::min<size_t>(bytes - got, INT32_MAX);
    const int result = SSL_read(ssl_, static_cast<char*>(memory) + got, static_cast<int>(room));
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
    barren_bytes_ = 0;
    has_pending_ = SSL_has_pending(ssl_) == 1;
    if (!has_pending_ && !is_filled_) break;
  }
  if (got != 0) {
    // All connections of the lane use the buffer: bytes left in it would go to another connection.
    if (!wire_->empty()) Flush();
    return static_cast<ssize_t>(got);
  }
  errno = failure_.error;
  return -1;
}

// Returns 0 at the end of the data, otherwise a positive errno.
int Session::OnReadResult(int result) {
  if (has_failed()) {
    // OnInfo() has counted too many new keys. The answers to them must leave by this connection.
    Flush();
    return failure_.error;
  }
  const int why = SSL_get_error(ssl_, result);
  if (why == SSL_ERROR_ZERO_RETURN || (is_at_end_ && wire_error_ == 0)) {
    // The alert about an end without a goodbye must leave by this connection.
    if (!wire_->empty()) Flush();
    return 0;
  }
  if (why == SSL_ERROR_WANT_READ) {
    // The bytes answer a new key, or a renegotiation request, which is refused.
    if (!wire_->empty()) Flush();
    if (barren_bytes_ <= limits::kTlsBarrenBytesMax) return EAGAIN;
    Fail(EPROTO);
    return EPROTO;
  }
  if (wire_error_ != 0) {
    wire_->clear();
    Fail(wire_error_);
  } else {
    FailWithQueue();
    Flush();
  }
  return failure_.error;
}

ssize_t Session::Write(const iovec* vectors, int count, bool is_end) {
  if (has_failed()) {
    errno = EPIPE;
    return -1;
  }
  if (has_unsent()) {
    if (const int error = Flush(); error != 0) {
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
    const int error = Flush();
    if (error == EAGAIN) break;
    if (error != 0) {
      errno = error;
      return -1;
    }
  }
  return static_cast<ssize_t>(taken);
}

// Seals until there are enough bytes for one call of the kernel.
int Session::Seal(const iovec* vectors, int count, size_t skip, size_t* taken) {
  int at = 0;
  while (at < count && skip >= vectors[at].iov_len) skip -= vectors[at++].iov_len;
  char gathered[kRecordBytes];
  while (at < count && wire_->size() < wire_bytes_) {
    const char* from = static_cast<const char*>(vectors[at].iov_base) + skip;
    size_t bytes = vectors[at].iov_len - skip;
    if (bytes < kRecordBytes && at + 1 < count) {
      // Several pieces make one full record.
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
    const int wrote = SSL_write(ssl_, from, static_cast<int>(std::min(bytes, kRecordBytes)));
    if (wrote <= 0) {
      FailWithQueue();
      return EPIPE;
    }
    *taken += static_cast<size_t>(wrote);
    skip += static_cast<size_t>(wrote);
    while (at < count && skip >= vectors[at].iov_len) skip -= vectors[at++].iov_len;
  }
  return 0;
}

void Session::SealGoodbye() {
  if (is_shut_ || !is_established_ || has_failed()) return;
  is_shut_ = true;
  ERR_clear_error();
  SSL_shutdown(ssl_);
}

bool Session::Shutdown() {
  SealGoodbye();
  return Flush() != EAGAIN;
}

// -- Failures and facts.

void Session::Fail(int error) {
  failure_.error = error;
  ERR_clear_error();
}

void Session::FailWithQueue() {
  const char* function = nullptr;
  const unsigned long code = ERR_peek_error_all(nullptr, nullptr, &function, nullptr, nullptr);
  failure_.error = EPROTO;
  if (code != 0) {
    failure_.reason = ERR_GET_REASON(code);
    failure_.library = Text(ERR_lib_error_string(code));
    failure_.function = Text(function);
    failure_.reason_text = Text(ERR_reason_error_string(code));
  }
  ERR_print_errors_cb(AppendLine, &failure_.text);
  ERR_clear_error();
}

bool Session::is_plain_http() const { return failure_.reason == SSL_R_HTTP_REQUEST; }

bool Session::CoversHost(std::string_view host) const {
  X509* certificate = SSL_get_certificate(ssl_);
  if (certificate == nullptr || host.empty()) return false;
  const std::string name(host);
  const bool is_bracketed = name.front() == '[' && name.back() == ']';
  const std::string address = is_bracketed ? name.substr(1, name.size() - 2) : name;
  return X509_check_ip_asc(certificate, address.c_str(), 0) == 1 ||
         X509_check_host(certificate, name.data(), name.size(),
                         X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS, nullptr) == 1;
}

std::string_view Session::alpn() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_, &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

HandshakeTerms Session::terms() const {
  HandshakeTerms terms;
  terms.protocol = SSL_version(ssl_);
  if (const SSL_CIPHER* cipher = SSL_get_current_cipher(ssl_)) {
    terms.cipher = Text(SSL_CIPHER_get_name(cipher));
  }
  terms.is_asked = context_->settings().requests_certificate;
  // If the client has no certificate, OpenSSL reports a good result.
  terms.is_verified = terms.is_asked && SSL_get0_peer_certificate(ssl_) != nullptr &&
                      SSL_get_verify_result(ssl_) == X509_V_OK;
  terms.trust = trust();
  return terms;
}

Facts Session::Describe() const {
  Facts facts;
  facts.protocol = SSL_version(ssl_);
  facts.is_reused = SSL_session_reused(ssl_) == 1;
  facts.servername = hello_.servername;
  facts.alpn = alpn();
  if (const SSL_CIPHER* cipher = SSL_get_current_cipher(ssl_)) {
    facts.cipher = Text(SSL_CIPHER_get_name(cipher));
    facts.cipher_standard = Text(SSL_CIPHER_standard_name(cipher));
    facts.cipher_version = Text(SSL_CIPHER_get_version(cipher));
  }
  facts.has_asked = context_->settings().requests_certificate;
  if (!facts.has_asked) return facts;
  X509* certificate = SSL_get0_peer_certificate(ssl_);
  facts.verify_result =
      certificate == nullptr ? X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT : SSL_get_verify_result(ssl_);
  if (certificate == nullptr) return facts;
  const auto add = [&facts](X509* each) {
    unsigned char* bytes = nullptr;
    const int size = i2d_X509(each, &bytes);
    if (size > 0) {
      const auto length = static_cast<uint32_t>(size);
      facts.certificates.append(reinterpret_cast<const char*>(&length), sizeof length);
      facts.certificates.append(reinterpret_cast<const char*>(bytes), length);
    }
    OPENSSL_free(bytes);
  };
  add(certificate);
  const STACK_OF(X509)* chain = SSL_get_peer_cert_chain(ssl_);
  for (int i = 0; i < sk_X509_num(chain); ++i) add(sk_X509_value(chain, i));
  return facts;
}

std::string Session::Ask(Question question, std::string_view argument) const {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  switch (question) {
    case Question::kSession: {
      unsigned char* encoded = nullptr;
      const int size = i2d_SSL_SESSION(SSL_get_session(ssl_), &encoded);
      std::string result(reinterpret_cast<char*>(encoded),
                         size > 0 ? static_cast<size_t>(size) : 0);
      OPENSSL_free(encoded);
      return result;
    }
    case Question::kFinished:
    case Question::kPeerFinished: {
      const size_t size = question == Question::kFinished
                              ? SSL_get_finished(ssl_, bytes, sizeof bytes)
                              : SSL_get_peer_finished(ssl_, bytes, sizeof bytes);
      return {reinterpret_cast<char*>(bytes), std::min(size, sizeof bytes)};
    }
    case Question::kCertificate: {
      const X509* own = SSL_get_certificate(ssl_);
      if (own == nullptr) return {};
      unsigned char* encoded = nullptr;
      const int size = i2d_X509(own, &encoded);
      std::string result(reinterpret_cast<char*>(encoded),
                         size > 0 ? static_cast<size_t>(size) : 0);
      OPENSSL_free(encoded);
      return result;
    }
    case Question::kKeyingMaterial: {
      // The argument is three words of four bytes (length of the result, whether there is a
      // context, length of the label), then the label and the context.
      if (argument.size() < 12) return {};
      uint32_t words[3];
      std::memcpy(words, argument.data(), sizeof words);
      argument.remove_prefix(sizeof words);
      if (words[0] > limits::kTlsKeyingBytesMax || words[2] > argument.size()) return {};
      const std::string_view context = argument.substr(words[2]);
      std::string result(words[0], '\0');
      const int done = SSL_export_keying_material(
          ssl_, reinterpret_cast<unsigned char*>(result.data()), result.size(), argument.data(),
          words[2], reinterpret_cast<const unsigned char*>(context.data()), context.size(),
          words[1] != 0 ? 1 : 0);
      return done == 1 ? result : std::string();
    }
    case Question::kSharedSigalgs: {
      std::string lines;
      const int algorithms =
          SSL_get_shared_sigalgs(ssl_, 0, nullptr, nullptr, nullptr, nullptr, nullptr);
      for (int i = 0; i < algorithms; ++i) {
        int sign = 0;
        int hash = 0;
        SSL_get_shared_sigalgs(ssl_, i, &sign, &hash, nullptr, nullptr, nullptr);
        lines += std::to_string(sign) + ' ' + std::string(Text(OBJ_nid2sn(hash))) + '\n';
      }
      return lines;
    }
  }
  return {};
}

}  // namespace httpsys::tls
