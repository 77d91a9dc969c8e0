#include "body_decoder.h"

#include <algorithm>
#include <charconv>

namespace httpapi_double {

void BodyDecoder::Start(bool is_chunked, uint64_t content_length) {
  is_chunked_ = is_chunked;
  left_ = content_length;
  state_ = is_chunked ? State::kSize : content_length > 0 ? State::kData : State::kDone;
}

bool BodyDecoder::ReadLine(std::string* input, std::string* line) {
  const size_t end = input->find("\r\n");
  if (end == std::string::npos) return false;
  *line = input->substr(0, end);
  input->erase(0, end + 2);
  return true;
}

bool BodyDecoder::Decode(std::string* input, std::string* body) {
  std::string line;
  while (state_ != State::kDone) {
    if (state_ == State::kData) {
      if (input->empty()) return true;
      const size_t bytes = static_cast<size_t>(std::min<uint64_t>(left_, input->size()));
      body->append(*input, 0, bytes);
      input->erase(0, bytes);
      left_ -= bytes;
      if (left_ > 0) return true;
      state_ = is_chunked_ ? State::kDataEnd : State::kDone;
      continue;
    }
    if (!ReadLine(input, &line)) return input->size() < 64 * 1024;
    if (state_ == State::kDataEnd) {
      if (!line.empty()) return false;
      state_ = State::kSize;
    } else if (state_ == State::kTrailers) {
      if (line.empty()) state_ = State::kDone;
    } else {
      const auto result = std::from_chars(line.data(), line.data() + line.size(), left_, 16);
      if (result.ec != std::errc()) return false;
      state_ = left_ == 0 ? State::kTrailers : State::kData;
    }
  }
  return true;
}

}  // namespace httpapi_double
