#include "websocket/message_deflate.h"

#include <algorithm>

#include "websocket/zlib_state.h"

namespace httpsys::websocket {
namespace {

// Size of Node's output chunks. `ws` checks after each chunk whether the frame is too long, and at
// its end whether the message is. The same chunks give the same results, even for damaged frames.
constexpr size_t kChunkBytes = 16 * 1024;

// These bytes are appended to each message before inflating it (RFC 7692, section 7.2.2).
constexpr std::string_view kTrailer("\x00\x00\xff\xff", 4);

// Returns true if the stream is between two blocks, at the end of a byte. Then only the window
// matters for the next block.
bool IsBetweenBlocks(const z_stream& stream) {
  constexpr int kUnusedBits = 0x3f;
  constexpr int kLastBlock = 0x40;
  constexpr int kBlockStart = 0x80;
  return (stream.data_type & (kUnusedBits | kLastBlock | kBlockStart)) == kBlockStart;
}

}  // namespace

// The progress of inflating one frame.
struct Inflater::Frame {
  size_t bytes = 0;  // Bytes inflated so far.
  // True if the message so far exceeds size_max: further output is discarded.
  bool is_over = false;
  bool has_ended = false;
};

Inflater::Result Inflater::Inflate(std::string_view payload, bool is_last_of_message,
                                   size_t size_max, ByteBuffer* out) {
  ZlibState* const state = Acquire();
  if (state == nullptr) {
    zlib_code_ = Z_MEM_ERROR;
    zlib_message_ = "Init error";
    return Result::kFailed;
  }
  Frame frame;
  Result result = Run(state, payload, size_max, out, &frame);
  if (result == Result::kOk && is_last_of_message && !frame.has_ended) {
    result = Run(state, kTrailer, size_max, out, &frame);
  }
  if (result == Result::kOk && frame.is_over) result = Result::kTooLong;
  if (result != Result::kOk || frame.has_ended) {
    // A final block has ended the stream: drop the rest of the frame. The next frame starts afresh.
    Drop();
    chunk_at_ = 0;
  } else if (is_last_of_message) {
    EndMessage(IsBetweenBlocks(state->stream));
  }
  return result;
}

Inflater::Result Inflater::Run(ZlibState* state, std::string_view input, size_t size_max,
                               ByteBuffer* out, Frame* frame) {
  if (input.empty()) return Result::kOk;
  z_stream& stream = state->stream;
  for (;;) {
    const size_t given = std::min(input.size(), kInputBytesMax);
    const size_t room = kChunkBytes - chunk_at_;
    stream.next_in = reinterpret_cast<const Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(out->Reserve(room));
    stream.avail_out = static_cast<uInt>(room);
    const int code = inflate(&stream, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      zlib_code_ = code;
      zlib_message_ = stream.msg == nullptr ? "Zlib error" : stream.msg;
      return Result::kFailed;
    }
    const size_t written = room - stream.avail_out;
    frame->bytes += written;
    if (!frame->is_over) out->Grow(written);
    chunk_at_ = static_cast<uint16_t>((chunk_at_ + written) % kChunkBytes);
    if (size_max > 0 && frame->bytes > size_max) return Result::kTooLong;
    frame->is_over = size_max > 0 && out->size() > size_max;
    input.remove_prefix(given - stream.avail_in);
    // The output chunk is full: there may be more output, even without further input.
    if (stream.avail_out == 0) continue;
    frame->has_ended = stream.avail_in > 0;
    if (frame->has_ended || input.empty()) return Result::kOk;
  }
}

namespace {

// Number of bytes that end a sync flush.
constexpr size_t kTrailerBytes = 4;
// First guess at the compressed size of a large message. Must be above 6 (zlib.h).
constexpr size_t kOutputBytes = 16 * 1024;

bool Run(z_stream* stream, int flush, ByteBuffer* out) {
  do {
    const size_t room = std::min(deflateBound(stream, stream->avail_in) + 16, kOutputBytes);
    stream->next_out = reinterpret_cast<Bytef*>(out->Reserve(room));
    stream->avail_out = static_cast<uInt>(room);
    const int code = deflate(stream, flush);
    if (code != Z_OK && code != Z_BUF_ERROR) return false;
    out->Grow(room - stream->avail_out);
  } while (stream->avail_out == 0);
  return true;
}

}  // namespace

bool Deflater::Deflate(std::string_view payload, bool is_last_of_message, ByteBuffer* out) {
  if (payload.empty()) {
    if (!is_last_of_message) return true;
    // Write an empty block (RFC 7692, section 7.2.3.6): zlib writes nothing for an empty message.
    out->Append(std::string_view("\0", 1));
    EndMessage(true);
    return true;
  }
  ZlibState* const state = Acquire();
  if (state == nullptr) return false;
  z_stream& stream = state->stream;
  while (!payload.empty()) {
    const std::string_view piece = payload.substr(0, kInputBytesMax);
    payload.remove_prefix(piece.size());
    stream.next_in = reinterpret_cast<const Bytef*>(piece.data());
    stream.avail_in = static_cast<uInt>(piece.size());
    if (!Run(&stream, payload.empty() ? Z_SYNC_FLUSH : Z_NO_FLUSH, out)) {
      Drop();
      return false;
    }
  }
  if (is_last_of_message) {
    out->Shrink(kTrailerBytes);
    EndMessage(true);
  }
  return true;
}

}  // namespace httpsys::websocket
