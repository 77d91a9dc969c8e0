#include "tls/negotiation.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <string_view>

#include "base/limits.h"
#include "tls/client_hello.h"
#include "tls/error_queue.h"

namespace httpsys::tls {
namespace {

int NegotiationIndex() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

}  // namespace

// -- Contexts.

void Negotiation::PrepareContext(SSL_CTX* context, bool logs_keys) {
  SSL_CTX_set_alpn_select_cb(context, OnAlpn, nullptr);
  SSL_CTX_set_tlsext_status_cb(context, OnStatus);
  if (logs_keys) SSL_CTX_set_keylog_callback(context, OnKeyLog);
}

void Negotiation::PrepareServer(SSL_CTX* context, const ContextSettings& settings) {
  SSL_CTX_set_client_hello_cb(context, OnClientHello, nullptr);
  SSL_CTX_set_tlsext_ticket_key_evp_cb(context, OnTicketKey);
  // Without OpenSSL's session cache: sessions are in their tickets, or JavaScript stores them.
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
  // A socket that ends without close_notify is a normal end, and causes no alert.
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  // With read-ahead, one system call reads both the header and the rest of a record.
  SSL_CTX_set_read_ahead(context, 1);
  int mode = SSL_VERIFY_NONE;
  if (settings.request_cert) {
    mode = SSL_VERIFY_PEER;
    if (settings.reject_unauthorized) mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  }
  // Continue the handshake after a verification error, as Node does. After the handshake, the error
  // is reported or the client is rejected.
  SSL_CTX_set_verify(context, mode, [](int, X509_STORE_CTX*) { return 1; });
}

// -- The handshake.

Negotiation::Negotiation(SSL* ssl, std::shared_ptr<const ServerContext> context,
                         std::shared_ptr<TicketKeys> ticket_keys, Wire* wire, Failure* failure)
    : ssl_(ssl),
      wire_(wire),
      failure_(failure),
      context_(std::move(context)),
      ticket_keys_(std::move(ticket_keys)) {}

bool Negotiation::Attach() { return SSL_set_ex_data(ssl_, NegotiationIndex(), this) == 1; }

Negotiation* Negotiation::Of(const SSL* ssl) {
  return static_cast<Negotiation*>(SSL_get_ex_data(ssl, NegotiationIndex()));
}

HandshakeStatus Negotiation::Continue() {
  if (failure_->error != 0) return HandshakeStatus::kFailed;
  if (is_shaken_) return Finish();
  wire_->BeginRead();
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_);
  if (result == 1) {
    is_shaken_ = true;
    if (new_sessions_.empty()) return Finish();
    // Hold back the last bytes, as Node does: the client must not use a session that is not stored.
    wire_->HoldSealed();
    return HandshakeStatus::kTelling;
  }
  const int why = SSL_get_error(ssl_, result);
  const int error = why == SSL_ERROR_SSL ? 0 : wire_->error();
  if (why == SSL_ERROR_WANT_CLIENT_HELLO_CB) return HandshakeStatus::kAsking;
  if (why == SSL_ERROR_WANT_READ) {
    if (wire_->barren_bytes() > limits::kTlsHandshakeBytesMax) {
      Fail(EPROTO, failure_);
      return HandshakeStatus::kFailed;
    }
    const int failed = wire_->Flush();
    if (failed == 0 || failed == EAGAIN) return HandshakeStatus::kWaiting;
    Fail(failed, failure_);
    return HandshakeStatus::kFailed;
  }
  if (failure_->error != 0) {
    wire_->Flush();
  } else if (wire_->is_at_end() || error != 0) {
    wire_->Flush();  // A client that has ended only its own direction may still read.
    Fail(error != 0 ? error : ECONNRESET, failure_);
  } else {
    FailWithQueue(failure_);
    wire_->Flush();  // Sends the alert.
  }
  return HandshakeStatus::kFailed;
}

HandshakeStatus Negotiation::Finish() {
  is_established_ = true;
  // OpenSSL calls OnInfo() from here on, for messages after the handshake.
  SSL_set_info_callback(ssl_, OnInfo);
  new_sessions_.clear();
  wire_->ForgetBarren();
  // In TLS 1.3 these bytes are usually tickets. Hold them back: they may go out with the first
  // response, if that follows at once.
  const bool may_wait = SSL_version(ssl_) == TLS1_3_VERSION;
  if (may_wait && !wire_->has_kept() && wire_->has_sealed()) {
    wire_->HoldSealed();
  } else if (const int error = wire_->Flush(); error != 0 && error != EAGAIN) {
    Fail(error, failure_);
    return HandshakeStatus::kFailed;
  }
  return HandshakeStatus::kDone;
}

int Negotiation::OnClientHello(SSL* ssl, int* alert, void*) { return Of(ssl)->ReadHello(alert); }

int Negotiation::ReadHello(int* alert) {
  const ContextSettings& settings = context_->settings();
  switch (hello_state_) {
    case Hello::kNone: {
      hello_ = ReadClientHello(ssl_);
      const bool asks =
          (settings.asks_host && !hello_.servername.empty()) ||
          (settings.asks_alpn && !hello_.alpn.empty()) ||
          (settings.asks_session && !hello_.session_id.empty() && !hello_.has_ticket) ||
          (settings.asks_status && hello_.wants_status);
      if (asks) {
        hello_state_ = Hello::kAsking;
        return SSL_CLIENT_HELLO_RETRY;
      }
      hello_state_ = Hello::kAnswered;
      if (hello_.servername.empty()) return SSL_CLIENT_HELLO_SUCCESS;
      return UseHost(context_->FindHost(hello_.servername));
    }
    case Hello::kAsking:
      return SSL_CLIENT_HELLO_RETRY;
    case Hello::kAnswered:
      break;
  }
  if (answer_.is_refused) {
    Fail(ECANCELED, failure_);
    failure_->text = answer_.reason;
    *alert = SSL_AD_INTERNAL_ERROR;
    return SSL_CLIENT_HELLO_ERROR;
  }
  // A ClientHello after a HelloRetryRequest: the host is already set.
  if (host_ != nullptr) return SSL_CLIENT_HELLO_SUCCESS;
  return UseHost(settings.asks_host ? answer_.host : context_->FindHost(hello_.servername));
}

// Selects the host's context before OpenSSL looks for a session, which must be of this host.
int Negotiation::UseHost(std::shared_ptr<const HostContext> host) {
  if (host == nullptr) return SSL_CLIENT_HELLO_SUCCESS;
  const std::string id = context_->SessionIdContext(host.get());
  if (SSL_set_SSL_CTX(ssl_, host->context()) == nullptr ||
      SSL_set_session_id_context(ssl_, reinterpret_cast<const unsigned char*>(id.data()),
                                 static_cast<unsigned>(id.size())) != 1 ||
      SSL_set1_verify_cert_store(ssl_, SSL_CTX_get_cert_store(host->context())) != 1) {
    return SSL_CLIENT_HELLO_ERROR;
  }
  if (const STACK_OF(X509_NAME)* names = SSL_CTX_get_client_CA_list(host->context())) {
    SSL_set_client_CA_list(ssl_, SSL_dup_CA_list(names));
  }
  host_ = std::move(host);
  return SSL_CLIENT_HELLO_SUCCESS;
}

void Negotiation::Answer(HelloAnswer answer) {
  if (hello_state_ != Hello::kAsking) return;
  answer_ = std::move(answer);
  hello_state_ = Hello::kAnswered;
}

int Negotiation::OnAlpn(SSL* ssl, const unsigned char** out, unsigned char* out_size,
                        const unsigned char* in, unsigned in_size, void*) {
  Negotiation* self = Of(ssl);
  const ContextSettings& settings = self->context_->settings();
  const std::string_view theirs(reinterpret_cast<const char*>(in), in_size);
  std::string_view chosen;
  if (settings.asks_alpn) {
    if (self->answer_.has_alpn) chosen = self->answer_.alpn;
  } else if (settings.alpn.empty()) {
    return SSL_TLSEXT_ERR_NOACK;
  } else {
    chosen = ChooseProtocol(settings.alpn, theirs);
  }
  if (chosen.empty() || chosen.size() > UINT8_MAX) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = reinterpret_cast<const unsigned char*>(chosen.data());
  *out_size = static_cast<unsigned char>(chosen.size());
  return SSL_TLSEXT_ERR_OK;
}

int Negotiation::OnTicketKey(SSL* ssl, unsigned char* name, unsigned char* iv,
                             EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac, int seals) {
  TicketKeys& keys = *Of(ssl)->ticket_keys_;
  const uint64_t now_ms = TicketKeys::NowMs();
  return seals != 0 ? keys.Seal(now_ms, name, iv, cipher, mac)
                    : keys.Open(now_ms, name, iv, cipher, mac);
}

int Negotiation::OnStatus(SSL* ssl, void*) {
  const std::string& status = Of(ssl)->answer_.status;
  if (status.empty()) return SSL_TLSEXT_ERR_NOACK;
  void* copy = OPENSSL_memdup(status.data(), status.size());
  if (copy == nullptr) return SSL_TLSEXT_ERR_ALERT_FATAL;
  SSL_set_tlsext_status_ocsp_resp(ssl, copy, static_cast<long>(status.size()));
  return SSL_TLSEXT_ERR_OK;
}

SSL_SESSION* Negotiation::OnFindSession(SSL* ssl, const unsigned char*, int, int* is_copied) {
  *is_copied = 0;
  const std::string data = std::exchange(Of(ssl)->answer_.session, {});
  const auto* from = reinterpret_cast<const unsigned char*>(data.data());
  return data.empty() ? nullptr : d2i_SSL_SESSION(nullptr, &from, static_cast<long>(data.size()));
}

int Negotiation::OnNewSession(SSL* ssl, SSL_SESSION* session) {
  Negotiation* self = Of(ssl);
  const int size = i2d_SSL_SESSION(session, nullptr);
  const bool is_large = size <= 0 || static_cast<size_t>(size) > limits::kTlsSessionBytesMax;
  if (self->is_shaken_ || is_large) return 0;
  NewSession told;
  unsigned id_size = 0;
  const unsigned char* id = SSL_SESSION_get_id(session, &id_size);
  told.id.assign(reinterpret_cast<const char*>(id), id_size);
  told.data.resize(static_cast<size_t>(size));
  auto* to = reinterpret_cast<unsigned char*>(told.data.data());
  i2d_SSL_SESSION(session, &to);
  self->new_sessions_.push_back(std::move(told));
  return 0;
}

// Counts the messages after the handshake that make OpenSSL answer. Data between two of them does
// not reset the count, and the bytes of the answers do not count as useful.
void Negotiation::OnInfo(const SSL* ssl, int where, int) {
  Negotiation* self = Of(ssl);
  const bool is_new_key = where == SSL_CB_ACCEPT_LOOP && SSL_get_state(ssl) == TLS_ST_SR_KEY_UPDATE;
  if (!is_new_key && where != SSL_CB_HANDSHAKE_START) return;
  const bool is_fine =
      self->rekeys_.Take(TicketKeys::NowMs(), limits::kTlsRekeysMax, limits::kTlsRekeysPerSecond);
  if (!is_fine && self->failure_->error == 0) Fail(EPROTO, self->failure_);
}

void Negotiation::OnKeyLog(const SSL* ssl, const char* line) {
  Negotiation* self = Of(ssl);
  const std::string_view text = line;
  const bool is_told = self != nullptr && self->context_->settings().logs_keys;
  if (!is_told || self->key_log_.size() + text.size() >= limits::kTlsKeyLogBytesMax) return;
  self->key_log_.append(text).append(1, '\n');
}

}  // namespace httpsys::tls
