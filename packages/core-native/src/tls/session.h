#pragma once
// The TLS of one connection: bytes of the application on one side, records in a socket on the
// other.

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
  std::string reason;                       // Then: the text of the failure.
  std::shared_ptr<const HostContext> host;  // nullptr = the server's own.
  bool has_alpn = false;
  std::string alpn;     // Empty = none of those offered.
  std::string session;  // The one with hello().session_id, as NewSession has it; empty = none.
  std::string status;   // OCSP's response; empty = none.
};

enum class HandshakeStatus : uint8_t {
  kDone,
  kWaiting,  // For the peer.
  kAsking,   // JavaScript is to Answer() hello().
  kTelling,  // Done, but JavaScript is to hear of new_sessions() first: then Handshake() once more.
  kFailed,
};

// What JavaScript may ask of an open connection.
enum class Question : uint32_t {
  kSession = 1,
  kFinished = 2,
  kPeerFinished = 3,
  kCertificate = 4,  // Our own, DER.
  kKeyingMaterial = 5,
  kSharedSigalgs = 6,  // Lines.
};

// Records that are sealed and not handed to the socket yet; of one connection at a time.
using WireBuffer = std::string;

// The server whose handshake it is, and how often it had listened again after close() by then.
struct Maker {
  uint32_t server_id = 0;
  uint32_t listening = 0;
};

// Thread: the lane.
class Session {
 public:
  // Works on the descriptor, which stays the caller's. `wire` must outlive it and be empty between
  // calls. Tickets are sealed with the keys of the context, or else with those of the port. nullptr
  // when out of memory.
  static std::unique_ptr<Session> Create(std::shared_ptr<const ServerContext> context, int fd,
                                         WireBuffer* wire, uint16_t port = 0, Maker maker = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  HandshakeStatus Handshake();
  const ClientHello& hello() const { return hello_; }
  void Answer(HelloAnswer answer);
  const std::vector<NewSession>& new_sessions() const { return new_sessions_; }
  // The secrets as far as they are known, lines in the format that tools for captures read.
  std::string TakeKeyLog() { return std::exchange(key_log_, {}); }
  bool is_established() const { return is_established_; }

  // As recv(2) without blocking: -1 and errno (EPROTO: see failure()), 0 at the end of the peer's
  // data.
  ssize_t Read(void* memory, size_t bytes);
  // There is something to Read() of which the socket tells nothing.
  bool has_pending() const { return has_pending_; }
  // As sendmsg(2) without blocking. What was taken may be unsent. `is_end`: Shutdown() follows when
  // all of it was taken; its goodbye is sent along.
  ssize_t Write(const iovec* vectors, int count, bool is_end = false);
  // Records that the socket did not take: Flush() when it takes more.
  bool has_unsent() const { return !unsent_.empty() && !is_held_; }
  size_t unsent_bytes() const { return is_held_ ? 0 : unsent_.size(); }
  // 0 or a positive errno; EAGAIN when some are left.
  int Flush();
  // Says goodbye, once. False when that is left unsent.
  bool Shutdown();

  // The peer is not let in, or was too slow: what failure() says then.
  void Reject() { Fail(ECONNRESET); }
  void TimeOut() {
    Fail(ETIMEDOUT);
    if (!is_established_) unsent_.clear();  // It must not look like the end of a handshake.
  }
  const Failure& failure() const { return failure_; }
  bool has_failed() const { return failure_.error != 0; }
  // A peer whose first bytes are a request without TLS.
  bool is_plain_http() const;
  const ServerContext& context() const { return *context_; }
  Facts Describe() const;
  // Whether the certificate that the peer was shown is one for this host, a name or an address.
  bool CoversHost(std::string_view host) const;
  // By which rules the peer was asked for a certificate; see ServerContext::TrustOf().
  const std::string& trust() const { return context_->TrustOf(host_.get()); }
  HandshakeTerms terms() const;
  const Maker& maker() const { return maker_; }
  std::string_view alpn() const;
  // Empty when there is no answer.
  std::string Ask(Question question, std::string_view argument) const;

  // What every context of a lane has: how it chooses, and how little it keeps.
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
  size_t wire_bytes_ = limits::kTlsWireBytes;  // To be sealed for one call of the kernel.
  size_t budget_ = 0;                          // Bytes that may still be read in this call.
  size_t barren_bytes_ = 0;  // Read since there was last something for the application.
  Allowance rekeys_;         // New keys and wishes to renegotiate, behind the handshake.
  int wire_error_ = 0;
  Hello hello_state_ = Hello::kNone;
  bool is_shaken_ = false;  // OpenSSL's part of the handshake is done.
  bool is_established_ = false;
  bool is_at_end_ = false;  // Of the socket.
  bool is_held_ = false;    // What is unsent waits for what the application sends.
  bool is_filled_ = false;  // The last read took all it asked for: there is probably more.
  bool has_pending_ = false;
  bool is_shut_ = false;  // The goodbye is sealed.
};

}  // namespace httpsys::tls
