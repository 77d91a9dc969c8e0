#pragma once
// Makes answers of stored responses.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http1/request_parser.h"
#include "semantics/byte_ranges.h"
#include "semantics/http_date.h"

namespace httpsys::engine {

// The answer where only a stored response would do, in the form of stored_head.h.
inline constexpr uint16_t kGatewayTimeout = 504;
inline constexpr std::string_view kGatewayTimeoutHead =
    "HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\n";

// A stored response, and how it is used this time.
struct UsedEntry {
  uint16_t status = 200;
  std::string_view head;  // As stored_head.h has it.
  std::string_view body;
  std::optional<uint32_t> age_s;  // Nothing = no Age field (rules of HTTP.SYS, which renew Date).
  // The answer says that it depends on Accept-Encoding.
  bool varies_by_coding = false;
  std::string_view cache_status;  // The value of Cache-Status; empty = there is no such field.
};

// The request that gets the answer.
struct AskedEntry {
  const http1::RequestHead* request;  // Not nullptr.
  bool is_head = false;               // The method is HEAD, otherwise GET.
  bool closes = false;                // The connection ends behind the answer.
};

// Composes one answer at a time: the stored response as it is, or what conditions and ranges of the
// request make of it: 304, 206 or 416 (RFC 9110, sections 13 and 14; RFC 9111, section 4.3.2).
// Thread: one lane.
class EntryAnswer {
 public:
  // The beginning, and for each range its head and its bytes, and the end.
  static constexpr size_t kPiecesMax = 2 * semantics::kRangesCapacity + 1;

  // Makes the answer. `now_s` is the time in seconds since 1970. The views of `entry` must live as
  // long as the answer.
  void Make(const UsedEntry& entry, const AskedEntry& asked, int64_t now_s);
  // Makes the answer to a request that wants a stored response where there is none that it accepts
  // (504, only-if-cached).
  void MakeUnsatisfied(const AskedEntry& asked, std::string_view cache_status, int64_t now_s);

  int status() const { return status_; }
  // As in NativeAnswer.
  bool is_own_error() const { return is_own_error_; }
  // With the empty line, and without Connection. Valid until the next answer, as are the pieces.
  std::string_view head() const { return head_; }
  // The body; none for HEAD.
  std::span<const std::string_view> pieces() const { return {pieces_.data(), piece_count_}; }

 private:
  void Begin();
  void AddPiece(std::string_view bytes);
  void AppendFields(const UsedEntry& entry, bool keeps_content);
  void MakeNotModified(const UsedEntry& entry);
  void MakePartial(const UsedEntry& entry, std::span<const semantics::ByteRange> ranges);
  void AppendEnd(const UsedEntry& entry, const AskedEntry& asked, int64_t now_s);
  void AppendAge(uint32_t age_s);

  int status_ = 0;
  bool is_own_error_ = false;
  std::string head_;
  std::string texts_;  // What stands between the ranges of an answer with several.
  std::array<std::string_view, kPiecesMax> pieces_;
  size_t piece_count_ = 0;
  semantics::ResponseDate date_;
};

}  // namespace httpsys::engine
