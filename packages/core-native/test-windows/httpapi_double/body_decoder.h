#pragma once

#include <cstdint>
#include <string>

namespace httpapi_double {

// Takes the framing off a request's body. Trailers are dropped:
// HTTP_REQUEST_HEADERS has no use for them.
class BodyDecoder {
 public:
  void Start(bool is_chunked, uint64_t content_length);
  // Moves what belongs to the body from `input` to `body`. False: it is
  // malformed.
  bool Decode(std::string* input, std::string* body);
  bool is_done() const { return state_ == State::kDone; }

 private:
  enum class State : uint8_t { kSize, kData, kDataEnd, kTrailers, kDone };
  bool ReadLine(std::string* input, std::string* line);

  bool is_chunked_ = false;
  State state_ = State::kDone;
  uint64_t left_ = 0;
};

}  // namespace httpapi_double
