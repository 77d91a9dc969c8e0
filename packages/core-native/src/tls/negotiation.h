#pragma once
// The handshake of a TLS session: the client's ClientHello, and the server's decisions.

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/rate_bucket.h"
#include "tls/facts.h"
#include "tls/server_context.h"
#include "tls/ticket_keys.h"
#include "tls/wire.h"

struct ssl_session_st;  // OpenSSL's SSL_SESSION.

namespace httpsys::tls {

// JavaScript's decisions about a ClientHello.
struct HelloAnswer {
  bool is_refused = false;
  std::string reason;  // The text of the failure, if is_refused.
  // The host whose certificate is used; nullptr = the server's own certificate.
  std::shared_ptr<const HostContext> host;
  bool has_alpn = false;
  std::string alpn;  // The chosen protocol; empty = none. Valid if has_alpn.
  // The stored session with the id hello().session_id, as NewSession::data; empty = none.
  std::string session;
  std::string status;  // The OCSP response; empty = none.
};

enum class HandshakeStatus : uint8_t {
  kDone,
  kWaiting,  // The client must send more.
  kAsking,   // JavaScript must decide about hello(): the caller must call Answer().
  // The handshake is done, but JavaScript must store new_sessions() before another Continue().
  kTelling,
  kFailed,
};

// Performs the handshake of one session, answers OpenSSL's callbacks during it, and limits the
// handshake messages that the client may send afterwards. Thread: the lane.
class Negotiation {
 public:
  // `ssl`, `wire` and `failure` must live as long as the negotiation; `failure` receives the reason
  // of a failure. Tickets are encrypted with `ticket_keys`.
  Negotiation(SSL* ssl, std::shared_ptr<const ServerContext> context,
              std::shared_ptr<TicketKeys> ticket_keys, Wire* wire, Failure* failure);
  Negotiation& operator=(Negotiation&&) = delete;

  // Makes the negotiation available to OpenSSL's callbacks. Returns false if out of memory.
  bool Attach();
  // Continues the handshake with the bytes that the socket has.
  HandshakeStatus Continue();
  const ClientHello& hello() const { return hello_; }
  // Answers hello(). Afterwards Continue() must be called.
  void Answer(HelloAnswer answer);
  const std::vector<NewSession>& new_sessions() const { return new_sessions_; }
  // Returns the secrets since the last call, as lines in the format of SSLKEYLOGFILE.
  std::string TakeKeyLog() { return std::exchange(key_log_, {}); }
  bool is_established() const { return is_established_; }
  const ServerContext& context() const { return *context_; }
  // The host whose certificate is used; nullptr = the server's own certificate.
  const HostContext* host() const { return host_.get(); }

  // Sets callbacks and memory-saving options; needed for every context that a lane uses.
  static void PrepareContext(SSL_CTX* context, bool logs_keys);
  static void PrepareServer(SSL_CTX* context, const ContextSettings& settings);

 private:
  enum class Hello : uint8_t { kNone, kAsking, kAnswered };

  static Negotiation* Of(const SSL* ssl);
  static int OnClientHello(SSL* ssl, int* alert, void*);
  static int OnAlpn(SSL* ssl, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* in, unsigned in_size, void*);
  static int OnTicketKey(SSL* ssl, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                         EVP_MAC_CTX* mac, int seals);
  static int OnStatus(SSL* ssl, void*);
  static ssl_session_st* OnFindSession(SSL* ssl, const unsigned char* id, int size, int* is_copied);
  static int OnNewSession(SSL* ssl, ssl_session_st* session);
  static void OnKeyLog(const SSL* ssl, const char* line);
  static void OnInfo(const SSL* ssl, int where, int value);

  HandshakeStatus Finish();
  int ReadHello(int* alert);
  int UseHost(std::shared_ptr<const HostContext> host);

  SSL* ssl_;
  Wire* wire_;
  Failure* failure_;
  std::shared_ptr<const ServerContext> context_;
  std::shared_ptr<const HostContext> host_;
  std::shared_ptr<TicketKeys> ticket_keys_;
  ClientHello hello_;
  HelloAnswer answer_;
  std::vector<NewSession> new_sessions_;
  std::string key_log_;
  Allowance rekeys_;  // Budget of key updates and renegotiation requests after the handshake.
  Hello hello_state_ = Hello::kNone;
  bool is_shaken_ = false;  // True if OpenSSL has completed the handshake.
  bool is_established_ = false;
};

}  // namespace httpsys::tls
