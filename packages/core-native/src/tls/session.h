#pragma once
// The TLS of one connection: plain bytes for the application, TLS records on the socket.

#include <openssl/types.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tls/facts.h"
#include "tls/negotiation.h"
#include "tls/server_context.h"
#include "tls/session_facts.h"
#include "tls/wire.h"

namespace httpsys::tls {

struct SslDeleter {
  void operator()(SSL* ssl) const;
};
using SslPtr = std::unique_ptr<SSL, SslDeleter>;

// The server that performs a handshake, and how often it had listened again after close() by then.
struct Maker {
  uint32_t server_id = 0;
  uint32_t listening = 0;
};

// The TLS session of one connection, with its Negotiation and Wire. Thread: the lane.
class Session {
 public:
  // Uses the descriptor, which the caller still owns. `sealed` must outlive the session and be
  // empty between calls. Tickets are encrypted with the keys of the context or, if it has none, of
  // the port. Returns nullptr if out of memory.
  static std::unique_ptr<Session> Create(std::shared_ptr<const ServerContext> context, int fd,
                                         WireBuffer* sealed, uint16_t port = 0, Maker maker = {});
  Session& operator=(Session&&) = delete;

  // -- The handshake.

  // Continues the handshake with the bytes that the socket has.
  HandshakeStatus Handshake();
  const ClientHello& hello() const { return negotiation_.hello(); }
  // Answers hello(). Afterwards Handshake() must be called.
  void Answer(HelloAnswer answer) { negotiation_.Answer(std::move(answer)); }
  const std::vector<NewSession>& new_sessions() const { return negotiation_.new_sessions(); }
  // Returns the secrets since the last call, as lines in the format of SSLKEYLOGFILE.
  std::string TakeKeyLog() { return negotiation_.TakeKeyLog(); }
  bool is_established() const { return negotiation_.is_established(); }

  // -- Data.

  // Reads plain bytes like recv(2) without blocking: returns -1 and sets errno (EPROTO: see
  // failure()), or 0 at the end of the client's data.
  ssize_t Read(void* memory, size_t bytes);
  // True if Read() may return bytes although the socket is not readable.
  bool has_pending() const { return has_pending_; }
  // Writes plain bytes like sendmsg(2) without blocking. Accepted bytes may still be unsent.
  // `is_end`: Shutdown() will follow if all is accepted; close_notify is then sent with it.
  ssize_t Write(const iovec* vectors, int count, bool is_end = false);
  // True if the socket did not accept all records: Flush() must be called when it is writable.
  bool has_unsent() const { return wire_.has_unsent(); }
  size_t unsent_bytes() const { return wire_.unsent_bytes(); }
  // True if records from the end of the handshake are held back, to be sent with the next bytes.
  // They must not wait longer than this loop iteration: after ReleaseHeld(), Flush() sends them.
  bool has_held() const { return wire_.has_held(); }
  void ReleaseHeld() { wire_.ReleaseHeld(); }
  // Sends encrypted records. Returns 0 or a positive errno; EAGAIN if some remain unsent.
  int Flush() { return wire_.Flush(); }
  // Sends close_notify, unless it was sent before. Returns false if it remains unsent.
  bool Shutdown();

  // -- Failures and facts.

  // Records a failure: the client was rejected, or was too slow.
  void Reject();
  void TimeOut();
  const Failure& failure() const { return failure_; }
  bool has_failed() const { return failure_.error != 0; }
  // True if the client's first bytes were a request without TLS.
  bool is_plain_http() const;
  const ServerContext& context() const { return negotiation_.context(); }
  Facts Describe() const;
  // Returns true if the session's server certificate is valid for `host`, a name or an address.
  bool CoversHost(std::string_view host) const { return tls::CoversHost(ssl_.get(), host); }
  // Identifies the authorities for client certificates of this session: ServerContext::TrustOf().
  const std::string& trust() const { return context().TrustOf(negotiation_.host()); }
  HandshakeTerms terms() const;
  // True if the client was asked for a certificate: terms().is_asked, at less cost.
  bool requests_certificate() const { return context().settings().request_cert; }
  const Maker& maker() const { return maker_; }
  std::string_view alpn() const { return ChosenProtocol(ssl_.get()); }
  // Answers a question of JavaScript about the connection; empty = no answer.
  std::string Ask(Question question, std::string_view argument) const {
    return AnswerQuestion(ssl_.get(), question, argument);
  }

 private:
  Session(SslPtr ssl, std::shared_ptr<const ServerContext> context,
          std::shared_ptr<TicketKeys> ticket_keys, int fd, WireBuffer* sealed, Maker maker);

  int OnReadResult(int result);
  int Seal(const iovec* vectors, int count, size_t skip, size_t* taken);
  void SealGoodbye();

  Wire wire_;
  Failure failure_;
  Negotiation negotiation_;
  Maker maker_;
  bool has_pending_ = false;
  bool is_shut_ = false;  // True once close_notify was encrypted.
  SslPtr ssl_;            // Destroyed first, because OpenSSL uses the members above.
};

}  // namespace httpsys::tls
