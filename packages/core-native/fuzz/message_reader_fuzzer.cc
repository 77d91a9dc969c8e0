// Reads the input as a client's frames, whole and in pieces, and compares. The first byte chooses
// the options, the second how the rest is cut. Traps when a promise of message_reader.h is broken.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "pieces.h"
#include "websocket/message_reader.h"

namespace {

namespace websocket = httpsys::websocket;
using httpsys::fuzz::Check;

class Log : public websocket::MessageSink {
 public:
  Log(const websocket::ReaderOptions& options, bool stops) : options_(options), stops_(stops) {}

  bool OnMessage(const websocket::Message& message) override {
    const bool is_text = message.opcode == websocket::Opcode::kText;
    Check(options_.max_payload == 0 || message.bytes.size() <= options_.max_payload);
    Check(message.owned == nullptr || message.owned->view() == message.bytes);
    Check(!is_text || options_.skips_utf8 || websocket::IsUtf8(message.bytes));
    return Add(is_text ? "text " : "binary ", message.bytes);
  }
  bool OnPing(std::string_view payload) override { return AddControl("ping ", payload); }
  bool OnPong(std::string_view payload) override { return AddControl("pong ", payload); }
  void OnClose(uint16_t code, std::string_view reason) override {
    Check(code == websocket::kNoStatus ? reason.empty() : websocket::IsCloseCode(code));
    AddControl("close " + std::to_string(code), reason);
    has_ended_ = true;
  }
  void OnFailure(const websocket::Failure& failure) override {
    Check(CloseCodeOf(failure.error) >= 1002);
    Add(ReadErrorCode(failure.error, failure.zlib_code),
        std::to_string(failure.detail) + failure.zlib_message);
    has_ended_ = true;
  }

  const std::string& text() const { return text_; }
  bool has_ended() const { return has_ended_; }

 private:
  bool AddControl(std::string_view what, std::string_view payload) {
    Check(payload.size() <= websocket::kControlBytesMax);
    return Add(what, payload);
  }
  bool Add(std::string_view what, std::string_view payload) {
    Check(!has_ended_);
    text_.append(what).append(std::to_string(payload.size())).append(payload);
    return !stops_;
  }

  websocket::ReaderOptions options_;
  std::string text_;
  bool stops_;
  bool has_ended_ = false;
};

std::string Read(std::string_view bytes, uint8_t choice, uint8_t seed, bool stops) {
  websocket::ReaderOptions options;
  if ((choice & 1) != 0) options.max_payload = 100;
  if ((choice & 2) != 0) options.max_fragments = 3;
  options.skips_utf8 = (choice & 4) != 0;
  const bool in_place = (choice & 8) != 0 && seed != 0;
  // No state stays between two messages.
  websocket::ZlibPool pool(0, 0);
  websocket::Inflater inflater(&pool, 8 + (choice >> 4) % 8, (choice & 0x80) != 0);
  websocket::MessageReader reader(options, (choice & 0x10) != 0 ? &inflater : nullptr);
  Log log(options, stops);
  httpsys::fuzz::PieceSizes sizes(seed);
  while (!bytes.empty()) {
    size_t size = sizes.Next(bytes.size());
    const std::span<char> room = in_place ? reader.Room(1) : std::span<char>();
    if (room.empty()) {
      const httpsys::fuzz::Copy piece(bytes.substr(0, size));
      size = reader.Read(const_cast<char*>(piece.view().data()), size, &log);
    } else {
      size = std::min(size, room.size());
      std::memcpy(room.data(), bytes.data(), size);
      reader.ReadInPlace(size, &log);
    }
    Check(size > 0 && reader.has_ended() == log.has_ended());
    bytes.remove_prefix(size);
  }
  return log.text();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string whole = Read(bytes, data[0], 0, false);
  Check(Read(bytes, data[0], data[1], false) == whole);
  Check(Read(bytes, data[0], data[1], true) == whole);
  return 0;
}
