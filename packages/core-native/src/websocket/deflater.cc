#include "websocket/deflater.h"

#include <algorithm>

#include "websocket/zlib_state.h"

namespace httpsys::websocket {
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
