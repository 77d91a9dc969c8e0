#pragma once
// Writes down what a MessageReader tells its sink: "text hello|ping |close 1000 bye|".

#include <string>
#include <string_view>

#include "websocket/message_reader.h"

namespace httpsys::test {

class EventLog : public websocket::MessageSink {
 public:
  bool OnMessage(const websocket::Message& message) override {
    ++messages;
    if (message.owned != nullptr) {
      ++owned_messages;
      if (message.owned->view() != message.bytes) Add("owned differs", "");
    }
    last_at = message.bytes.data();
    return Add(message.opcode == websocket::Opcode::kText ? "text " : "binary ", message.bytes);
  }
  bool OnPing(std::string_view payload) override { return Add("ping ", payload); }
  bool OnPong(std::string_view payload) override { return Add("pong ", payload); }
  void OnClose(uint16_t code, std::string_view reason) override {
    Add("close " + std::to_string(code) + " ", reason);
  }
  void OnFailure(const websocket::Failure& failure) override {
    Add(ReadErrorCode(failure.error, failure.zlib_code),
        " " + std::to_string(CloseCodeOf(failure.error)));
    last_failure = failure;
  }

  std::string text;
  bool stops = false;
  size_t messages = 0;
  size_t owned_messages = 0;
  const char* last_at = nullptr;
  websocket::Failure last_failure;

 private:
  bool Add(std::string_view what, std::string_view payload) {
    text.append(what).append(payload) += '|';
    return !stops;
  }
};

}  // namespace httpsys::test
