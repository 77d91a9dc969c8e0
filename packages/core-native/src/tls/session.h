#pragma once
// The TLS of one connection: plain bytes on the application's side, records on the socket's.

#include <openssl/bio.h>
#include <openssl/types.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/allowance.h"
#include "base/limits.h"
#include "tls/client_hello.h"
#include "tls/facts.h"
#include "tls/server_context.h"
#include "tls/terms.h"

struct ssl_session_st;  // SSL_SESSION.

namespace httpsys::tls {

// What JavaScript decides about a ClientHello.
struct HelloAnswer {
  bool is_refused = false;
  std::string reason;                       // The text of the failure, if is_refused.
  std::shared_ptr<const HostContext> host;  // The certificate to use; nullptr = the server's own.
  bool has_alpn = false;
  std::string alpn;  // The protocol; empty = none of those offered. Valid if has_alpn.
  // The session with the id hello().session_id, as in NewSession::data; empty = none.
  std::string session;
  std::string status;  // The OCSP response; empty = none.
};

enum class HandshakeStatus : uint8_t {
  kDone,
  kWaiting,  // The peer has to send more.
  kAsking,   // JavaScript has to answer hello(): Answer() must be called.
  // Done, but JavaScript must hear of new_sessions() first; then Handshake() must be called once
  // more.
  kTelling,
  kFailed,
};

// Questions of JavaScript about an open connection.
enum class Question : uint32_t {
  kSession = 1,
  kFinished = 2,
  kPeerFinished = 3,
  kCertificate = 4,  // The server's own certificate, DER.
  kKeyingMaterial = 5,
  kSharedSigalgs = 6,  // One name per line.
};

// Records that are sealed and not handed to the socket yet. One buffer serves all connections of a
// lane, one at a time.
using WireBuffer = std::string;

// The server that makes a handshake, and how many times it had called listen() again after close()
// by then.
struct Maker {
  uint32_t server_id = 0;
  uint32_t listening = 0;
};

// The TLS session of one connection. Thread: the lane.
class Session {
 public:
  // Uses the descriptor, which stays the caller's. `wire` must outlive the session and be empty
  // between calls. Tickets are sealed with the keys of the context or, if it has none, of the port.
  // Returns nullptr if out of memory.
  static std::unique_ptr<Session> Create(std::shared_ptr<const ServerContext> context, int fd,
                                         WireBuffer* wire, uint16_t port = 0, Maker maker = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Continues the handshake with what the socket has.
  HandshakeStatus Handshake();
  const ClientHello& hello() const { return hello_; }
  // Answers hello(). Handshake() must be called then.
  void Answer(HelloAnswer answer);
  const std::vector<NewSession>& new_sessions() const { return new_sessions_; }
  // Returns the secrets known so far, as lines in the format of SSLKEYLOGFILE, and forgets them.
  std::string TakeKeyLog() { return std::exchange(key_log_, {}); }
  bool is_established() const { return is_established_; }

  // Reads plain bytes like recv(2) without blocking: returns -1 and sets errno (EPROTO: see
  // failure()), or 0 at the end of the peer's data.
  ssize_t Read(void* memory, size_t bytes);
  // True if there may be bytes to Read() that the socket does not report.
  bool has_pending() const { return has_pending_; }
  // Writes plain bytes like sendmsg(2) without blocking. Bytes that were taken may still be unsent.
  // `is_end`: Shutdown() follows if everything is taken; its close_notify goes into the same call.
  ssize_t Write(const iovec* vectors, int count, bool is_end = false);
  // True if the socket did not take all sealed records. Flush() must be called when it takes more.
  bool has_unsent() const { return !unsent_.empty() && !is_held_; }
  size_t unsent_bytes() const { return is_held_ ? 0 : unsent_.size(); }
  // Sends sealed records. Returns 0 or a positive errno; EAGAIN if some are left.
  int Flush();
  // Sends close_notify, once. Returns false if it is left unsent.
  bool Shutdown();

  // Records a failure: the peer was rejected, or was too slow.
  void Reject() { Fail(ECONNRESET); }
  void TimeOut() {
    Fail(ETIMEDOUT);
    // What is unsent must not look like the end of a handshake.
    if (!is_established_) unsent_.clear();
  }
  const Failure& failure() const { return failure_; }
  bool has_failed() const { return failure_.error != 0; }
  // True if the peer's first bytes were a request without TLS.
  bool is_plain_http() const;
  const ServerContext& context() const { return *context_; }
  Facts Describe() const;
  // Returns true if the certificate shown to the peer covers this host, a name or an address.
  bool CoversHost(std::string_view host) const;
  // Identifies the authorities by which the peer was asked for a certificate; see
  // ServerContext::TrustOf().
  const std::string& trust() const { return context_->TrustOf(host_.get()); }
  HandshakeTerms terms() const;
  const Maker& maker() const { return maker_; }
  std::string_view alpn() const;
  // Answers a question of JavaScript; empty = no answer.
  std::string Ask(Question question, std::string_view argument) const;

  // Sets what every context of a lane needs: callbacks, and options that save memory.
  static void PrepareContext(SSL_CTX* context, bool logs_keys);
  static void PrepareServer(SSL_CTX* context, const ContextSettings& settings);

 private:
  enum class Hello : uint8_t { kNone, kAsking, kAnswered };

  Session() = default;

  static Session* Of(const SSL* ssl);
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
  static const BIO_METHOD* WireMethod();
  static int OnWireRead(BIO* bio, char* to, int size);
  static int OnWireWrite(BIO* bio, const char* from, int size);
  static long OnWireControl(BIO* bio, int command, long, void*);

  HandshakeStatus FinishHandshake();
  int ReadHello(int* alert);
  int UseHost(std::shared_ptr<const HostContext> host);
  void Fail(int error);
  void FailWithQueue();
  int OnReadResult(int result);
  int Seal(const iovec* vectors, int count, size_t skip, size_t* taken);
  void KeepUnsent(size_t sent);
  void SealGoodbye();

  std::shared_ptr<const ServerContext> context_;
  std::shared_ptr<const HostContext> host_;
  std::shared_ptr<TicketKeys> ticket_keys_;
  SSL* ssl_ = nullptr;
  int fd_ = -1;
  Maker maker_;
  WireBuffer* wire_ = nullptr;
  std::string unsent_;
  ClientHello hello_;
  HelloAnswer answer_;
  std::vector<NewSession> new_sessions_;
  std::string key_log_;
  Failure failure_;
  size_t wire_bytes_ = limits::kTlsWireBytes;  // The bytes to be sealed for one send(2).
  size_t budget_ = 0;                          // The bytes that may still be read in this call.
  size_t barren_bytes_ = 0;  // The bytes that were read since the last byte for the application.
  Allowance rekeys_;  // Budget of key updates and renegotiation requests after the handshake.
  int wire_error_ = 0;
  Hello hello_state_ = Hello::kNone;
  bool is_shaken_ = false;  // OpenSSL has completed the handshake.
  bool is_established_ = false;
  bool is_at_end_ = false;  // The socket's end was read.
  bool is_held_ = false;    // Unsent records wait to be sent with the application's first bytes.
  // The last read of the socket filled its buffer: there is probably more.
  bool is_filled_ = false;
  bool has_pending_ = false;
  bool is_shut_ = false;  // close_notify is sealed.
};

}  // namespace httpsys::tls
