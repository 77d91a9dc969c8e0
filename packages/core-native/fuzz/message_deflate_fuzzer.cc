// Deflates pieces of the input as messages of a few WebSockets that share their zlib states,
// inflates them again and compares. Then inflates the input itself. Traps when something else comes
// back.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "pieces.h"
#include "websocket/message_deflate.h"

namespace {

namespace websocket = httpsys::websocket;
using httpsys::fuzz::Check;

constexpr size_t kSizeMax = 300;

struct Pair {
  Pair(websocket::ZlibPool* pool, uint8_t choice)
      : parameters{static_cast<int8_t>(8 + choice % 8), static_cast<int8_t>((choice >> 3) % 11 - 1),
                   static_cast<int8_t>(1 + choice % 9), static_cast<int8_t>(choice % 5)},
        deflater(pool, parameters, (choice & 1) != 0),
        inflater(pool, parameters.window_bits, (choice & 1) != 0) {}
  websocket::ZlibParameters parameters;
  websocket::Deflater deflater;
  websocket::Inflater inflater;
  std::string sent;
  websocket::ByteBuffer received;
};

void Send(Pair* pair, std::string_view piece, uint8_t what) {
  const bool is_last = (what & 1) != 0;
  websocket::ByteBuffer out;
  Check(pair->deflater.Deflate(piece, is_last, &out));
  pair->sent.append(piece);
  const httpsys::fuzz::Copy copy(out.view());
  Check(pair->inflater.Inflate(copy.view(), is_last, 0, &pair->received) ==
        websocket::Inflater::Result::kOk);
  if ((what & 2) != 0) pair->deflater.Release();
  if ((what & 4) != 0) pair->inflater.Release();
  if (!is_last) return;
  Check(pair->received.view() == pair->sent);
  pair->received.Clear();
  pair->sent.clear();
  if ((what & 8) != 0) pair->deflater.ForgetContext();
}

void InflateInput(websocket::ZlibPool* pool, std::string_view bytes, uint8_t choice) {
  websocket::Inflater inflater(pool, 8 + choice % 8, true);
  for (int i = 0; i < 3; i++) {
    websocket::ByteBuffer out;
    const auto result = inflater.Inflate(bytes, (choice & 8) != 0, kSizeMax, &out);
    Check(out.size() <= kSizeMax + 16 * 1024);
    if (result != websocket::Inflater::Result::kOk) {
      Check(result == websocket::Inflater::Result::kTooLong ? out.size() > kSizeMax
                                                            : inflater.zlib_code() < 0);
      return;
    }
    Check(out.size() <= kSizeMax);
    inflater.Release();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  websocket::ZlibPool pool(data[0] % 4, data[0] / 4 % 4);
  Pair pairs[] = {{&pool, data[1]}, {&pool, data[2]}, {&pool, data[1]}};
  std::string_view bytes(reinterpret_cast<const char*>(data) + 3, size - 3);
  InflateInput(&pool, bytes, data[0]);
  while (bytes.size() > 1) {
    const auto what = static_cast<uint8_t>(bytes[0]);
    const auto bytes_max = static_cast<size_t>(static_cast<uint8_t>(bytes[1])) * (what >> 4);
    const std::string_view piece = bytes.substr(2, bytes_max);
    bytes.remove_prefix(2);
    Send(&pairs[what % 3], piece, what);
    if (what == 0xff) pool.ReleaseIdle();
    bytes.remove_prefix(std::min(piece.size(), bytes.size()));
  }
  return 0;
}
