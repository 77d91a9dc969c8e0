#pragma once
// Reads the bytes that a client sends after the handshake, and assembles frames to messages. Gives
// the same results and errors as `ws` 8 for the same bytes, however they are split.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/block_store.h"
#include "websocket/byte_buffer.h"
#include "websocket/frame.h"
#include "websocket/message_deflate.h"
#include "websocket/utf8.h"

namespace httpsys::websocket {

// Why a client's frames were refused: the error codes of `ws`. Each line names code and close code.
// The numbers are sent in records: never change one, only append.
enum class ReadError : uint8_t {
  kNone = 0,
  kUnexpectedRsv23 = 1,  // WS_ERR_UNEXPECTED_RSV_2_3, 1002
  kUnexpectedRsv1 = 2,   // WS_ERR_UNEXPECTED_RSV_1, 1002
  kInvalidOpcode = 3,    // WS_ERR_INVALID_OPCODE, 1002; detail: the opcode
  kExpectedFin = 4,      // WS_ERR_EXPECTED_FIN, 1002
  // WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH, 1002; detail: 7 length bits
  kInvalidControlPayloadLength = 5,
  kExpectedMask = 6,  // WS_ERR_EXPECTED_MASK, 1002
  kUnsupportedDataPayloadLength =
      7,                          // WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH, 1009 (2^53 and more)
  kUnsupportedMessageLength = 8,  // WS_ERR_UNSUPPORTED_MESSAGE_LENGTH, 1009 (max_payload)
  kTooManyFragments = 9,          // WS_ERR_TOO_MANY_BUFFERED_PARTS, 1008
  kTooManyChunks = 10,            // WS_ERR_TOO_MANY_BUFFERED_PARTS, 1008
  kInvalidUtf8 = 11,              // WS_ERR_INVALID_UTF8, 1007
  kInvalidCloseCode = 12,         // WS_ERR_INVALID_CLOSE_CODE, 1002; detail: the code
  kInflate = 13,                  // Z_DATA_ERROR and others of zlib, 1007; with zlib's message
};

// Returns the name in `ws`, such as "WS_ERR_INVALID_OPCODE"; for kInflate, that of `zlib_code`.
const char* ReadErrorCode(ReadError error, int zlib_code = -3);

// Returns the code of the close frame that answers the error.
uint16_t CloseCodeOf(ReadError error);

struct ReaderOptions {
  // Maximum length of a message in bytes, both compressed and inflated; 0 = no limit.
  uint32_t max_payload = 0;
  // Maximum number of frames of one message, and maximum number of arrivals (reads) for one frame:
  // maxFragments and maxBufferedChunks of `ws` (16 Ki and 256 Ki there); 0 = no limit.
  uint32_t max_fragments = 0;
  uint32_t max_buffered_chunks = 0;
  bool skips_utf8 = false;
};

struct Message {
  Opcode opcode;  // kText or kBinary.
  std::string_view bytes;
  // The buffer with exactly `bytes`, which the sink may move away. nullptr = `bytes` are in the
  // memory that was given to Read(), unmasked there.
  ByteBuffer* owned;
};

struct Failure {
  ReadError error = ReadError::kNone;
  int zlib_code = 0;
  uint32_t detail = 0;
  const char* zlib_message = "";  // A literal.
};

// Receives the events in the order of the client's frames. Bytes are valid only during the call.
// OnMessage(), OnPing() and OnPong() return true to continue; false ends the current Read() without
// losing anything. The reader must outlive the call.
class MessageSink {
 public:
  virtual bool OnMessage(const Message& message) = 0;
  virtual bool OnPing(std::string_view payload) = 0;
  virtual bool OnPong(std::string_view payload) = 0;
  // The last event. `code` is kNoStatus if the close frame had no code.
  virtual void OnClose(uint16_t code, std::string_view reason) = 0;
  // The last event. The sink must answer with a close frame that has CloseCodeOf(failure.error).
  virtual void OnFailure(const Failure& failure) = 0;

 protected:
  ~MessageSink() = default;
};

// Uses no memory between messages. Within a message it keeps the received bytes (growing by halves,
// or at once in a block of the pool) and, if the message is compressed, the inflated bytes: each at
// most max_payload and some KiB. Thread: any, one at a time.
class MessageReader {
 public:
  // `inflater` is nullptr unless permessage-deflate was negotiated. `pool` may have memory for
  // large messages; nullptr = none. Both must outlive the reader.
  explicit MessageReader(const ReaderOptions& options, Inflater* inflater = nullptr,
                         BlockPool* pool = nullptr)
      : options_(options), inflater_(inflater), pool_(pool) {}

  // Switches to the messages of another client. Must be called before or between messages.
  void Serve(const ReaderOptions& options, Inflater* inflater) {
    options_ = options;
    inflater_ = inflater;
  }

  // Reads `size` bytes as one arrival, and unmasks them in place. Returns the number of bytes used:
  // less than `size` only if the sink stopped it; the caller must then pass the rest again later.
  // After OnClose() or OnFailure() all bytes are discarded.
  size_t Read(char* data, size_t size, MessageSink* sink);

  // Returns memory into which the next bytes of the current payload can be received without a copy.
  // Empty if less than `bytes_min` of a data frame are missing. Never longer than the missing
  // bytes; if memory must grow, at most `bytes_min` or the message so far, whichever is more.
  std::span<char> Room(size_t bytes_min);
  // Must be called when Room() has received `size` bytes. Returns false if the sink stopped it.
  bool ReadInPlace(size_t size, MessageSink* sink);

  // True after OnClose() or OnFailure().
  bool has_ended() const { return state_ == State::kEnded; }
  // True between two messages, if no byte of the next frame was read.
  bool is_between_messages() const {
    return state_ == State::kHeader && header_bytes_ == 0 && !is_fragmented();
  }

 private:
  enum class State : uint8_t { kHeader, kPayload, kEnded };
  // The bytes given to Read() that are not handled yet.
  struct Input;

  bool is_fragmented() const { return message_opcode_ != Opcode::kContinuation; }
  // True if the current payload must be collected in frame_ instead of message_: it is compressed,
  // or belongs to a control frame.
  bool is_kept_apart() const { return is_compressed_ || IsControl(opcode_); }
  size_t length_bytes() const;
  uint64_t HeldBytes() const;
  bool StartArrival(MessageSink* sink);
  void EndArrival(uint64_t held_before, size_t size);

  // Each step returns true if the next step may read more.
  bool ReadHeader(Input* in, MessageSink* sink);
  bool Fill(Input* in, size_t header_bytes);
  ReadError CheckStart();
  ReadError CheckControl(bool is_compressed);
  ReadError CheckLength();
  bool ReadPayload(Input* in, MessageSink* sink);
  void TakeBlock();
  // Unmasks `size` bytes behind the end of `buffer`, and adds them to it.
  void AddPayload(ByteBuffer* buffer, size_t size);
  bool EndFrame(MessageSink* sink);
  bool EndControl(std::string_view payload, MessageSink* sink);
  bool EndClose(std::string_view payload, MessageSink* sink);
  bool EndDataFrame(std::string_view payload, MessageSink* sink);
  bool InflateFrame(std::string_view payload, MessageSink* sink);
  // `view` is the message; empty = the message is in message_.
  bool EndMessage(std::string_view view, MessageSink* sink);
  void CheckText(std::string_view piece);
  bool Fail(ReadError error, MessageSink* sink);

  ReaderOptions options_;
  Inflater* inflater_;
  BlockPool* pool_;
  ByteBuffer message_;
  // Payload so far of a frame with is_kept_apart().
  ByteBuffer frame_;
  uint64_t payload_bytes_ = 0;
  uint64_t payload_left_ = 0;
  // Sum of the lengths in the headers of the message's frames so far.
  uint64_t announced_bytes_ = 0;
  uint32_t fragments_ = 0;
  // Number of arrivals that `ws` would buffer, because they contain incomplete parts.
  uint32_t chunks_ = 0;
  uint32_t detail_ = 0;
  // Checks the current text. Complete after each valid text.
  Utf8Validator utf8_;
  uint8_t mask_[kMaskBytes] = {};
  uint8_t header_[kClientHeaderBytesMax] = {};
  uint8_t header_bytes_ = 0;
  State state_ = State::kHeader;
  Opcode opcode_ = Opcode::kContinuation;
  // The type of the current message; kContinuation between messages.
  Opcode message_opcode_ = Opcode::kContinuation;
  bool is_final_ = false;
  bool is_compressed_ = false;
};

}  // namespace httpsys::websocket
