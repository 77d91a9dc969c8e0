#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http1/response_head.h"
#include "win/http_api.h"

namespace httpsys::win {

// The head of a response in the structures for HttpSendHttpResponse(). They point into this object,
// which must not be moved or destroyed until the call has completed. Thread: any, one at a time.
class ResponseCall {
 public:
  // Reads a complete head. Returns false if HTTP.SYS cannot send it.
  [[nodiscard]] bool Read(std::string text);

  uint16_t status() const { return head_.status; }
  bool is_interim() const { return head_.is_interim(); }
  // True if the head has a Transfer-Encoding.
  bool is_framed() const;
  size_t bytes() const { return text_.size(); }
  // Fills the structures. `chunks` begin the body. For a stream, omits lines about the connection.
  HTTP_RESPONSE* Fill(std::vector<HTTP_DATA_CHUNK>* chunks, bool is_stream);

 private:
  std::string text_;
  http1::ResponseHead head_;
  HTTP_RESPONSE response_{};
  std::vector<HTTP_UNKNOWN_HEADER> unknown_;
};

}  // namespace httpsys::win
