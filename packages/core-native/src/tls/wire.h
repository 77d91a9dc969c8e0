#pragma once
// The records of a TLS session on their way between the socket and OpenSSL.

#include <openssl/bio.h>
#include <openssl/types.h>

#include <cstddef>
#include <string>

#include "base/limits.h"

namespace httpsys::tls {

// Records that are sealed and not handed to the socket yet. One buffer serves all connections of a
// lane, one at a time.
using WireBuffer = std::string;

// The socket of one TLS session, as OpenSSL sees it. Thread: the lane.
class Wire {
 public:
  // Uses the descriptor, which stays the caller's. `sealed` must outlive the wire and be empty
  // between the calls of a session.
  Wire(int fd, WireBuffer* sealed) : sealed_(sealed), fd_(fd) {}
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // Lets OpenSSL read and write through the wire, which must outlive `ssl`. Returns false if out of
  // memory.
  bool Attach(SSL* ssl);

  // -- Reading.

  // Called before OpenSSL is asked to read: bounds what it may take from the socket.
  void BeginRead() { budget_ = limits::kTlsReadBytes; }
  // True if the last read of the socket filled its buffer: there is probably more.
  bool is_filled() const { return is_filled_; }
  // True if the socket's end was read.
  bool is_at_end() const { return is_at_end_; }
  // The bytes that were read since the last byte for the application.
  size_t barren_bytes() const { return barren_bytes_; }
  void ForgetBarren() { barren_bytes_ = 0; }

  // -- Writing.

  // True if OpenSSL has sealed records that are not handed to the socket yet. All connections of
  // the lane use the buffer: records left in it would go to another connection.
  bool has_sealed() const { return !sealed_->empty(); }
  // True if fewer bytes are sealed than one call of the kernel takes.
  bool has_room() const { return sealed_->size() < send_bytes_; }
  // Drops the sealed records.
  void DropSealed() { sealed_->clear(); }
  // Keeps the sealed records until the next Flush(), which nobody has to make for their sake before
  // ReleaseHeld().
  void HoldSealed();
  bool has_held() const { return is_held_ && !unsent_.empty(); }
  // Makes the held records unsent ones.
  void ReleaseHeld() { is_held_ = false; }
  // Sends the sealed records. Returns 0 or a positive errno; EAGAIN if some are left unsent.
  int Flush();
  // True if the socket did not take all sealed records. Flush() must be called when it takes more.
  bool has_unsent() const { return !unsent_.empty() && !is_held_; }
  size_t unsent_bytes() const { return is_held_ ? 0 : unsent_.size(); }
  // True if there are records that Flush() would send, those of HoldSealed() included.
  bool has_kept() const { return !unsent_.empty(); }
  // Drops the unsent records.
  void DropUnsent() { unsent_.clear(); }

  // The error of the socket, a positive errno; 0 = none.
  int error() const { return error_; }

 private:
  static const BIO_METHOD* Method();
  static int OnRead(BIO* bio, char* to, int size);
  static int OnWrite(BIO* bio, const char* from, int size);
  static long OnControl(BIO* bio, int command, long, void*);

  WireBuffer* sealed_;
  std::string unsent_;
  size_t send_bytes_ = limits::kTlsWireBytes;  // The bytes to be sealed for one send(2).
  size_t budget_ = 0;                          // The bytes that may still be read in this call.
  size_t barren_bytes_ = 0;
  int fd_;
  int error_ = 0;
  bool is_at_end_ = false;
  bool is_held_ = false;  // Unsent records may still join bytes that are sent soon.
  bool is_filled_ = false;
};

}  // namespace httpsys::tls
