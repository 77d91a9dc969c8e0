#pragma once
// Makes answers from stored responses.

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

// Status and head of the answer to a request that wants only a stored response, when none may
// answer; the head is in the form of stored_head.h.
inline constexpr uint16_t kGatewayTimeout = 504;
inline constexpr std::string_view kGatewayTimeoutHead =
    "HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\n";

// A stored response, and how one answer uses it.
struct UsedEntry {
  uint16_t status = 200;
  std::string_view head;  // In the form of stored_head.h.
  std::string_view body;
  // Nothing = no Age field (under the rules of HTTP.SYS, which renew Date).
  std::optional<uint32_t> age_s;
  // True if the answer gets `Vary: Accept-Encoding`.
  bool varies_by_coding = false;
  std::string_view cache_status;  // The value of Cache-Status; empty = no such field.
};

// The request that gets the answer.
struct AskedEntry {
  const http1::RequestHead* request;  // Not nullptr.
  bool is_head = false;               // The method is HEAD, otherwise GET.
  bool closes = false;                // The connection closes after the answer.
};

// Composes one answer at a time: the whole stored response or, depending on the request's
// conditions and ranges, 304, 206 or 416 (RFC 9110, sections 13 and 14; RFC 9111, section 4.3.2).
// Thread: lane.
class EntryAnswer {
 public:
  // Maximum number of pieces of a body: for each range a head and bytes, then the end.
  static constexpr size_t kPiecesMax = 2 * semantics::kRangesCapacity + 1;

  // Makes the answer. `now_s` is the time in seconds since 1970. The bytes that `entry` views must
  // stay valid as long as the answer.
  void Make(const UsedEntry& entry, const AskedEntry& asked, int64_t now_s);
  // Makes the 504 for a request with only-if-cached if no stored response may answer.
  void MakeUnsatisfied(const AskedEntry& asked, std::string_view cache_status, int64_t now_s);

  int status() const { return status_; }
  // Value for NativeAnswer::is_own_error.
  bool is_own_error() const { return is_own_error_; }
  // The head, without Connection. Head and pieces are valid until the next answer.
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
  std::string texts_;  // Part heads and end of an answer with several ranges.
  std::array<std::string_view, kPiecesMax> pieces_;
  size_t piece_count_ = 0;
  semantics::ResponseDate date_;
};

}  // namespace httpsys::engine
