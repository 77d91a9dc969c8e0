#pragma once
// What an application wrote for HTTP/1.1, taken apart again: heads, body, trailers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http1/header_line.h"

namespace httpsys::http2 {

struct ResponseHead {
  int status = 0;
  std::vector<http1::HeaderLine> lines;
  bool has_length = false;
  bool is_chunked = false;
  uint64_t content_length = 0;
};

// `text` is a head with its blank line; the views point into it. False when it is none.
bool ParseResponseHead(std::string_view text, ResponseHead* head);
// Lines up to the end or a blank line. False when one of them is none.
bool ParseTrailers(std::string_view text, std::vector<http1::HeaderLine>* lines);

// Reads text as it was written, in pieces of any size. The application is trusted not to attack,
// not to be right: what is no HTTP fails, and memory is bounded. Thread: any, one at a time.
class ResponseText {
 public:
  enum class Kind : uint8_t {
    kNeedMore,  // Everything was used.
    kHead,      // `bytes` is a head: parse it, then call one of Begin…().
    kBody,      // `bytes` is a piece of body.
    kTrailers,  // `bytes` are the lines behind the last chunk; the body is whole.
    kFailed,
  };
  struct Step {
    Kind kind = Kind::kNeedMore;
    size_t used = 0;
    std::string_view bytes;  // Of the input, or of this object until the next call.
  };

  Step Next(std::string_view input);

  // -- After a head.

  void BeginHead() { phase_ = Phase::kHead; }  // An interim one; or none so far.
  void BeginNothing() { phase_ = Phase::kDone; }
  void BeginLength(uint64_t bytes) {
    phase_ = bytes == 0 ? Phase::kDone : Phase::kLength;
    left_ = bytes;
  }
  void BeginChunks() { phase_ = Phase::kChunkSize; }
  void BeginUntilEnd() { phase_ = Phase::kUntilEnd; }

  // Bytes of the body that need no framing, in a message whose framing is chunks or the end.
  bool takes_unframed() const { return phase_ == Phase::kChunkSize || phase_ == Phase::kUntilEnd; }
  bool is_before_head() const { return phase_ == Phase::kHead; }
  // That many bytes, if they come next, are body.
  bool IsNextBody(size_t bytes) const {
    return phase_ == Phase::kUntilEnd ||
           ((phase_ == Phase::kLength || phase_ == Phase::kChunkData) && left_ >= bytes);
  }
  // That many, which IsNextBody(), go without Next().
  void SkipBody(size_t bytes);
  bool is_done() const { return phase_ == Phase::kDone; }
  bool is_until_end() const { return phase_ == Phase::kUntilEnd; }
  // The message may end here.
  bool is_whole() const { return phase_ == Phase::kDone || phase_ == Phase::kUntilEnd; }

 private:
  enum class Phase : uint8_t {
    kHead,
    kLength,
    kChunkSize,
    kChunkData,
    kChunkEnd,
    kTrailers,
    kUntilEnd,
    kDone,  // More is dropped, as a client of HTTP/1.1 would.
    kFailed,
  };

  Step Fail();
  Step ReadSection(std::string_view input, Kind kind);
  Step ReadCounted(std::string_view input, Phase next);
  Step ReadChunkSize(std::string_view input);
  Step ReadChunkEnd(std::string_view input);

  Phase phase_ = Phase::kHead;
  bool is_kept_used_ = false;  // kept_ was returned.
  uint64_t left_ = 0;
  std::string kept_;  // Of a head, a trailer section or a line that is not whole.
};

}  // namespace httpsys::http2
