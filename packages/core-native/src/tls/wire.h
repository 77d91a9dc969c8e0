#pragma once
// Moves the records of a TLS session between the socket and OpenSSL.

#include <openssl/bio.h>
#include <openssl/types.h>

#include <cstddef>
#include <string>

#include "base/limits.h"

namespace httpsys::tls {

// Encrypted records that the socket has not got yet. Used by all connections of a lane in turn.
using WireBuffer = std::string;

// The socket of one TLS session, as OpenSSL sees it. Thread: the lane.
class Wire {
 public:
  // Uses the descriptor, which the caller still owns. `sealed` must outlive the wire and be empty
  // between the calls of a session.
  Wire(int fd, WireBuffer* sealed) : sealed_(sealed), fd_(fd) {}
  Wire& operator=(Wire&&) = delete;

  // Makes OpenSSL use the wire, which must outlive `ssl`. Returns false if out of memory.
  bool Attach(SSL* ssl);

  // -- Reading.

  // Must be called before OpenSSL reads: limits how many bytes it may read from the socket.
  void BeginRead() { budget_ = limits::kTlsReadBytes; }
  // True if the last read of the socket filled its buffer: more bytes probably wait.
  bool is_filled() const { return is_filled_; }
  bool is_at_end() const { return is_at_end_; }
  // The number of bytes received since the last byte of application data.
  size_t barren_bytes() const { return barren_bytes_; }
  void ForgetBarren() { barren_bytes_ = 0; }

  // -- Writing.

  // True if OpenSSL has written records to the buffer that the socket has not got yet. They must
  // not stay there: the next user of the buffer is another connection.
  bool has_sealed() const { return !sealed_->empty(); }
  // True if the buffer has fewer encrypted bytes than one system call should send.
  bool has_room() const { return sealed_->size() < send_bytes_; }
  void DropSealed() { sealed_->clear(); }
  // Moves the records in the buffer to the unsent ones, to be sent with the next Flush(). They need
  // no Flush() of their own until ReleaseHeld().
  void HoldSealed();
  bool has_held() const { return is_held_ && !unsent_.empty(); }
  // Makes the held records ordinary unsent ones, so that has_unsent() counts them.
  void ReleaseHeld() { is_held_ = false; }
  // Sends the encrypted records. Returns 0 or a positive errno; EAGAIN if some remain unsent.
  int Flush();
  // True if the socket did not accept all records: Flush() must be called when it is writable.
  bool has_unsent() const { return !unsent_.empty() && !is_held_; }
  size_t unsent_bytes() const { return is_held_ ? 0 : unsent_.size(); }
  // True if Flush() would send anything, held records included.
  bool has_kept() const { return !unsent_.empty(); }
  void DropUnsent() { unsent_.clear(); }

  // The last error of the socket, a positive errno; 0 = none.
  int error() const { return error_; }

 private:
  static const BIO_METHOD* Method();
  static int OnRead(BIO* bio, char* to, int size);
  static int OnWrite(BIO* bio, const char* from, int size);
  static long OnControl(BIO* bio, int command, long, void*);

  WireBuffer* sealed_;
  std::string unsent_;
  size_t send_bytes_ = limits::kTlsWireBytes;  // Bytes to encrypt before one send(2).
  // The number of bytes that OpenSSL may still read from the socket in this call.
  size_t budget_ = 0;
  size_t barren_bytes_ = 0;
  int fd_;
  int error_ = 0;
  bool is_at_end_ = false;
  bool is_held_ = false;  // True if the unsent records wait for the next bytes (HoldSealed()).
  bool is_filled_ = false;
};

}  // namespace httpsys::tls
