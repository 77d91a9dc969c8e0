#pragma once
// Reads what a client sends after the handshake: frames, assembled to messages, with the verdicts
// of `ws` 8 for the same bytes, however they are cut.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/block_pool.h"
#include "websocket/byte_buffer.h"
#include "websocket/frame.h"
#include "websocket/inflater.h"
#include "websocket/read_error.h"
#include "websocket/utf8.h"

namespace httpsys::websocket {

struct ReaderOptions {
  // Longest message in bytes, as sent and as inflated. 0: none.
  uint32_t max_payload = 0;
  // Most frames of one message, and most arrivals that a frame may be spread over (maxFragments and
  // maxBufferedChunks of `ws`: 16 Ki and 256 Ki there). 0: none.
  uint32_t max_fragments = 0;
  uint32_t max_buffered_chunks = 0;
  bool skips_utf8 = false;
};

struct Message {
  Opcode opcode;  // kText or kBinary.
  std::string_view bytes;
  // Set when `bytes` are all of this buffer: the sink may move it away. Otherwise they lie in the
  // memory that was given to Read(), unmasked there.
  ByteBuffer* owned;
};

struct Failure {
  ReadError error = ReadError::kNone;
  int zlib_code = 0;
  uint32_t detail = 0;
  const char* zlib_message = "";  // A literal.
};

// Receives the events in the peer's order. Bytes are valid during the call only. OnMessage(),
// OnPing() and OnPong() return whether to go on: false ends the Read() that made the call, and
// nothing is lost. The reader must outlive the call.
class MessageSink {
 public:
  virtual bool OnMessage(const Message& message) = 0;
  virtual bool OnPing(std::string_view payload) = 0;
  virtual bool OnPong(std::string_view payload) = 0;
  // The last event but OnFailure, which does not follow it. `code` is kNoStatus when there was
  // none.
  virtual void OnClose(uint16_t code, std::string_view reason) = 0;
  // The last event. The answer is a close frame with CloseCodeOf(failure.error).
  virtual void OnFailure(const Failure& failure) = 0;

 protected:
  ~MessageSink() = default;
};

// Needs no memory between messages. Within a message it keeps what has arrived (growing by halves,
// or at once a block of the pool) and, for a compressed message, what it was inflated to so far:
// each at most max_payload and some KiB. Thread: any, one at a time.
class MessageReader {
 public:
  // `inflater` when permessage-deflate was negotiated, else nullptr. `pool` may have memory for
  // large messages; nullptr: none. Both must outlive the reader.
  explicit MessageReader(const ReaderOptions& options, Inflater* inflater = nullptr,
                         BlockPool* pool = nullptr)
      : options_(options), inflater_(inflater), pool_(pool) {}

  // Continues with the messages of another client. Only between messages, or before the first one.
  void Serve(const ReaderOptions& options, Inflater* inflater) {
    options_ = options;
    inflater_ = inflater;
  }

  // Reads `size` bytes, one arrival; writes over them (unmasking). Returns how many were used: less
  // than `size` only when the sink stopped it, and then the rest is given again later. After
  // OnClose and OnFailure all bytes are used and nothing happens.
  size_t Read(char* data, size_t size, MessageSink* sink);

  // A receive without a copy: memory for the payload being read, to be filled from its start. Empty
  // unless at least `bytes_min` of a data frame are missing. Never longer than what is missing;
  // where memory must grow for it, at most as long as what has arrived of the message or
  // `bytes_min`, whichever is more.
  std::span<char> Room(size_t bytes_min);
  // `size` bytes were put there, one arrival. Returns false when the sink stopped it.
  bool ReadInPlace(size_t size, MessageSink* sink);

  // True after OnClose() or OnFailure().
  bool has_ended() const { return state_ == State::kEnded; }
  // True between two messages, if no byte of the next frame was read.
  bool is_between_messages() const {
    return state_ == State::kHeader && header_bytes_ == 0 && !is_fragmented();
  }

 private:
  enum class State : uint8_t { kHeader, kPayload, kEnded };
  // The rest of the bytes that were given to Read().
  struct Input;

  bool is_fragmented() const { return message_opcode_ != Opcode::kContinuation; }
  // True if the payload that is being read is not appended to message_ as it is.
  bool is_kept_apart() const { return is_compressed_ || IsControl(opcode_); }
  size_t length_bytes() const;
  uint64_t HeldBytes() const;
  bool StartArrival(MessageSink* sink);
  void EndArrival(uint64_t held_before, size_t size);

  // The steps return whether there may be more to read.
  bool ReadHeader(Input* in, MessageSink* sink);
  bool Fill(Input* in, size_t header_bytes);
  ReadError CheckStart();
  ReadError CheckControl(bool is_compressed);
  ReadError CheckLength();
  bool ReadPayload(Input* in, MessageSink* sink);
  void TakeBlock();
  // `size` bytes, still masked, that lie behind the end of `buffer`.
  void AddPayload(ByteBuffer* buffer, size_t size);
  bool EndFrame(MessageSink* sink);
  bool EndControl(std::string_view payload, MessageSink* sink);
  bool EndClose(std::string_view payload, MessageSink* sink);
  bool EndDataFrame(std::string_view payload, MessageSink* sink);
  bool InflateFrame(std::string_view payload, MessageSink* sink);
  // `view`: the message, unless it is in message_.
  bool EndMessage(std::string_view view, MessageSink* sink);
  void CheckText(std::string_view piece);
  bool Fail(ReadError error, MessageSink* sink);

  ReaderOptions options_;
  Inflater* inflater_;
  BlockPool* pool_;
  // Plain bytes of the message so far.
  ByteBuffer message_;
  // The bytes so far of a frame that is kept apart.
  ByteBuffer frame_;
  uint64_t payload_bytes_ = 0;
  uint64_t payload_left_ = 0;
  // The lengths of the message's frames so far, according to their headers.
  uint64_t announced_bytes_ = 0;
  uint32_t fragments_ = 0;
  // Arrivals that hold bytes of what is incomplete, as `ws` would buffer them.
  uint32_t chunks_ = 0;
  uint32_t detail_ = 0;
  // Checks the text that is being read. It is complete after each valid text.
  Utf8Validator utf8_;
  uint8_t mask_[kMaskBytes] = {};
  uint8_t header_[kClientHeaderBytesMax] = {};
  uint8_t header_bytes_ = 0;
  State state_ = State::kHeader;
  Opcode opcode_ = Opcode::kContinuation;
  // kContinuation between messages.
  Opcode message_opcode_ = Opcode::kContinuation;
  bool is_final_ = false;
  bool is_compressed_ = false;
};

}  // namespace httpsys::websocket
