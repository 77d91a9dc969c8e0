#include "websocket/inflater.h"

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

}  // namespace httpsys::websocket
