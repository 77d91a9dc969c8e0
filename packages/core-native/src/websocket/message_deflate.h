#pragma once
// permessage-deflate (RFC 7692).

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "websocket/byte_buffer.h"
#include "websocket/zlib_pool.h"

namespace httpsys::websocket {

// The receiving side of permessage-deflate (RFC 7692).
class Inflater : public ZlibUser {
 public:
  enum class Result : uint8_t { kOk, kTooLong, kFailed };

  // `takes_over` is false if the client has promised client_no_context_takeover. `window_bits` is
  // the client's promise, or 15.
  Inflater(ZlibPool* pool, int window_bits, bool takes_over)
      : ZlibUser(pool, false, {static_cast<int8_t>(window_bits), -1, 8, 0}, takes_over) {}

  // Appends the inflated payload of one frame to `out`. Returns kTooLong as soon as the frame alone
  // is longer than `size_max` (0 = no limit), or at its end if `out` would be longer; earlier
  // damage takes precedence, as in `ws`. `out` never exceeds `size_max` by more than 16 KiB. Must
  // not be called after kTooLong or kFailed.
  Result Inflate(std::string_view payload, bool is_last_of_message, size_t size_max,
                 ByteBuffer* out);

  // zlib's (negative) error code, and its text, a string literal. Valid after kFailed.
  int zlib_code() const { return zlib_code_; }
  const char* zlib_message() const { return zlib_message_; }

 private:
  struct Frame;

  Result Run(ZlibState* state, std::string_view input, size_t size_max, ByteBuffer* out,
             Frame* frame);

  const char* zlib_message_ = "";
  int zlib_code_ = 0;
  // The position in Node's output chunk of 16 KiB; see message_deflate.cc.
  uint16_t chunk_at_ = 0;
};

// The sending side of permessage-deflate (RFC 7692).
class Deflater : public ZlibUser {
 public:
  // If `takes_over` is false (server_no_context_takeover, or our own choice, which needs no
  // consent), each message is compressed independently. Then any number of WebSockets with the same
  // parameters may share one Deflater and its results; see ForgetContext().
  Deflater(ZlibPool* pool, const ZlibParameters& parameters, bool takes_over)
      : ZlibUser(pool, true, parameters, takes_over) {}

  // Appends the compressed payload of a frame to `out`; without the final 00 00 ff ff of a message
  // (RFC 7692, section 7.2.1). Returns false if out of memory: the WebSocket is then unusable.
  bool Deflate(std::string_view payload, bool is_last_of_message, ByteBuffer* out);

  // Must be called when this WebSocket sends a compressed message that another Deflater has made:
  // otherwise this one's references to earlier messages would be wrong.
  void ForgetContext() { Drop(); }
};

}  // namespace httpsys::websocket
