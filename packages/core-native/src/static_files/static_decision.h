#pragma once
// The response to a request for a static file: status, header fields and content. It equals the
// response of serve-static 2 (send 1.2), with these exceptions.
//
// Different, because RFC 9110 says so:
// - HEAD ignores Range (send: 206);
// - a suffix that is longer than the file is the whole file (send: 416);
// - several ranges are several parts (send: 200, unless they merge);
// - a range that ends before its beginning makes the field malformed: 200 (send: 416 if no other);
// - a weak tag never matches If-Match (send: 200) or If-Range (send: 206), and an ETag made here is
//   weak;
// - an If-Range date must be that of the file (send: not older), an If-Range that is neither a tag
//   nor a date never applies, and the tag must be the whole value (send: may be a part);
// - `If-Match: *` needs no ETag, and If-Unmodified-Since without a Last-Modified is ignored (send:
//   412 for both);
// - an empty If-Match or If-None-Match is a list without members (send: absent);
// - dates have one of the three formats (send: whatever Date.parse() takes).
// Different, because a path must have one reading: %2F, %5C and backslashes are 400, dot segments
// are removed as in RFC 3986, and a link out of the root is 404.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "files/file_calls.h"
#include "semantics/byte_ranges.h"
#include "semantics/content_coding.h"
#include "semantics/preconditions.h"
#include "static_files/file_search.h"
#include "static_files/request_path.h"
#include "static_files/static_options.h"

namespace httpsys::static_files {

struct StaticRequest {
  semantics::ConditionalMethod method = semantics::ConditionalMethod::kGet;
  std::string_view target;  // The target of the request as received.
  // `has_range` and `is_reload` are ignored: they follow from the next fields.
  semantics::ConditionFields conditions;
  // Field values; nothing = the field is absent. Several lines of one field are joined with commas.
  std::optional<std::string_view> range = std::nullopt;
  std::optional<std::string_view> accept_encoding = std::nullopt;
  std::optional<std::string_view> cache_control = std::nullopt;
};

// A file that FileSearch has found, and its existing siblings (SiblingPath()) by coding.
struct FoundFile {
  std::string_view path;
  files::FileFacts facts;
  std::array<std::optional<files::FileFacts>, semantics::kContentCodings>
      siblings{};  // Indexed by ContentCoding.
};

struct StaticResponse {
  bool passes_on = false;  // The application must answer; the other members are invalid.
  int status = 0;
  // Lines `Name: value`, each with CRLF; without Date, Connection and blank line.
  std::string fields;
  std::string body;  // A document; empty with HEAD, or if a file is sent.
  // True if a file is sent, in the coding `coding`: as a whole without ranges, otherwise the bytes
  // of the one range, or for several ranges the content of MultipartByteranges with `part_type` and
  // the given boundary.
  bool sends_file = false;
  semantics::ContentCoding coding = semantics::ContentCoding::kIdentity;
  semantics::ByteRanges ranges;
  std::string part_type;
};

// Answers requests by the options of one folder. The options must outlive this object. A response
// without a file is at most a few times longer than the request's target. Thread: any.
class StaticDecision {
 public:
  explicit StaticDecision(const StaticOptions* options) : options_(options) {}

  // Answers a request if that needs no file. Returns nothing if a FileSearch must follow.
  [[nodiscard]] std::optional<StaticResponse> BeforeSearch(const StaticRequest& request,
                                                           const RequestPath& path) const;

  // Answers after a search that has found no file.
  [[nodiscard]] StaticResponse WithoutFile(const StaticRequest& request, SearchStatus status) const;

  // Answers with a file. `now_seconds` counts from 1970; `boundary` is for several ranges.
  [[nodiscard]] StaticResponse WithFile(const StaticRequest& request, const FoundFile& file,
                                        int64_t now_seconds,
                                        const semantics::Boundary& boundary) const;

 private:
  [[nodiscard]] StaticResponse ErrorOrPass(const StaticRequest& request, int status) const;

  const StaticOptions* options_;
};

}  // namespace httpsys::static_files
