#include "static_files/static_decision.h"

#include <algorithm>
#include <utility>

#include "static_files/file_fields.h"
#include "static_files/html_document.h"
#include "url/url_path.h"

namespace httpsys::static_files {
namespace {

using semantics::ByteRanges;
using semantics::CodingSet;
using semantics::ConditionalMethod;
using semantics::ContentCoding;
using semantics::PreconditionOutcome;
using semantics::RangeOutcome;

bool IsHead(const StaticRequest& request) { return request.method == ConditionalMethod::kHead; }

// Adds a document to a response, with fields that forbid browsers to run scripts in it.
void AddDocument(const StaticRequest& request, std::string document, StaticResponse* response) {
  AppendField("Content-Type", "text/html; charset=UTF-8", &response->fields);
  AppendField("Content-Length", std::to_string(document.size()), &response->fields);
  AppendField("Content-Security-Policy", "default-src 'none'", &response->fields);
  AppendField("X-Content-Type-Options", "nosniff", &response->fields);
  if (!IsHead(request)) response->body = std::move(document);
}

StaticResponse ErrorResponse(const StaticRequest& request, int status) {
  StaticResponse response;
  response.status = status;
  AddDocument(request, HtmlDocument("Error", ErrorText(status)), &response);
  return response;
}

StaticResponse PassedOn() {
  StaticResponse response;
  response.passes_on = true;
  return response;
}

// Returns the target with a slash after its path. Several leading slashes become one, because a
// browser would read a host after two slashes.
std::string RedirectLocation(std::string_view target) {
  std::string location(SplitTarget(target).path);
  location += '/';
  location.erase(0, std::min(location.find_first_not_of('/'), location.size()) - 1);
  const size_t end = target.find_first_of("?#");
  if (end != std::string_view::npos && target[end] == '?') {
    location += target.substr(end, target.find('#', end) - end);
  }
  return EncodeUrl(location);
}

StaticResponse RedirectResponse(const StaticRequest& request) {
  const std::string location = RedirectLocation(request.target);
  StaticResponse response;
  response.status = 301;
  AddDocument(request, HtmlDocument("Redirecting", "Redirecting to " + location), &response);
  AppendField("Location", location, &response.fields);
  return response;
}

// Returns true unless the sibling is older than its file. Some programs, such as brotli 1.0.9, copy
// only the whole seconds of the file's time: without a fraction, compares seconds.
bool IsAsNew(const files::FileFacts& sibling, const files::FileFacts& file) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  if (sibling.modified_ns >= file.modified_ns) return true;
  const uint64_t older_ns =
      static_cast<uint64_t>(file.modified_ns) - static_cast<uint64_t>(sibling.modified_ns);
  return sibling.modified_ns % kNsPerSecond == 0 && older_ns < kNsPerSecond;
}

// Returns the codings with a sibling that can be sent instead of the file: a sibling that is older
// than the file may have other content.
CodingSet UsableSiblings(const StaticOptions& options, const FoundFile& file) {
  CodingSet usable;
  for (uint8_t i = 0; i < semantics::kContentCodings; ++i) {
    const auto coding = static_cast<ContentCoding>(i);
    const std::optional<files::FileFacts>& sibling = file.siblings[i];
    if (coding == ContentCoding::kIdentity || !options.precompressed.Has(coding)) continue;
    if (!sibling.has_value() || sibling->kind != files::FileKind::kFile) continue;
    if (IsAsNew(*sibling, file.facts)) usable.Add(coding);
  }
  return usable;
}

ByteRanges WantedRanges(const StaticOptions& options, const StaticRequest& request, bool applies,
                        uint64_t size) {
  if (!options.accept_ranges || !applies || !request.range.has_value()) return {};
  return semantics::ParseByteRanges(*request.range, size);
}

StaticResponse UnsatisfiableResponse(const StaticRequest& request, const FileFields& fields,
                                     uint64_t size) {
  StaticResponse response = ErrorResponse(request, 416);
  AppendField("Content-Range", semantics::UnsatisfiedContentRange(size).view(), &response.fields);
  fields.AppendVary(&response.fields);
  return response;
}

// Adds the fields about the content, and the ranges that are sent.
void AddContent(const FileFields& fields, const ByteRanges& ranges, uint64_t size,
                const semantics::Boundary& boundary, StaticResponse* response) {
  response->ranges = ranges;
  response->part_type = fields.type();
  std::string type(fields.type());
  uint64_t bytes = size;
  if (ranges.count == 1) bytes = ranges.ranges[0].bytes();
  if (ranges.count > 1) {
    const semantics::MultipartByteranges multipart(boundary, fields.type(), size, ranges.view());
    bytes = multipart.content_bytes();
    type.clear();
    multipart.AppendContentType(&type);
  }
  AppendField("Content-Type", type, &response->fields);
  fields.AppendOfContent(&response->fields);
  if (ranges.count == 1) {
    AppendField("Content-Range", semantics::ContentRange(ranges.ranges[0], size).view(),
                &response->fields);
  }
  AppendField("Content-Length", std::to_string(bytes), &response->fields);
}

}  // namespace

StaticResponse StaticDecision::ErrorOrPass(const StaticRequest& request, int status) const {
  return options_->fallthrough && status < 500 ? PassedOn() : ErrorResponse(request, status);
}

std::optional<StaticResponse> StaticDecision::BeforeSearch(const StaticRequest& request,
                                                           const RequestPath& path) const {
  if (request.method == ConditionalMethod::kOther) {
    if (options_->fallthrough) return PassedOn();
    StaticResponse response;
    response.status = 405;
    AppendField("Allow", "GET, HEAD", &response.fields);
    AppendField("Content-Length", "0", &response.fields);
    return response;
  }
  if (path.status == PathStatus::kMalformed) return ErrorOrPass(request, 400);
  if (path.status == PathStatus::kOutside) return ErrorOrPass(request, 403);
  if (path.status == PathStatus::kTooLong) return ErrorOrPass(request, 404);
  if (!path.has_dotfile || options_->dotfiles == Dotfiles::kAllow) return std::nullopt;
  return ErrorOrPass(request, options_->dotfiles == Dotfiles::kDeny ? 403 : 404);
}

StaticResponse StaticDecision::WithoutFile(const StaticRequest& request,
                                           SearchStatus status) const {
  if (status == SearchStatus::kRedirect) return RedirectResponse(request);
  return ErrorOrPass(request, status == SearchStatus::kNotFound ? 404 : 500);
}

StaticResponse StaticDecision::WithFile(const StaticRequest& request, const FoundFile& file,
                                        int64_t now_seconds,
                                        const semantics::Boundary& boundary) const {
  const CodingSet siblings = UsableSiblings(*options_, file);
  // If the client refuses every coding, send the plain file instead of a 406.
  const ContentCoding coding =
      semantics::ChooseCoding(request.accept_encoding, siblings).value_or(ContentCoding::kIdentity);
  const files::FileFacts& facts =
      coding == ContentCoding::kIdentity ? file.facts : *file.siblings[static_cast<size_t>(coding)];
  const FileFields fields(options_, file.path, facts, coding, siblings != CodingSet(), now_seconds);

  semantics::ConditionFields conditions = request.conditions;
  conditions.has_range = request.range.has_value();
  conditions.is_reload =
      request.cache_control.has_value() && semantics::HasNoCache(*request.cache_control);
  const semantics::PreconditionResult result = semantics::EvaluatePreconditions(
      request.method, conditions, fields.validators(), now_seconds);
  if (result.outcome == PreconditionOutcome::kPreconditionFailed) {
    return ErrorResponse(request, 412);
  }
  StaticResponse response;
  if (result.outcome == PreconditionOutcome::kNotModified) {
    response.status = 304;
    fields.AppendCommon(&response.fields);
    return response;
  }
  const ByteRanges ranges = WantedRanges(*options_, request, result.range_applies, facts.size);
  if (ranges.outcome == RangeOutcome::kUnsatisfiable) {
    return UnsatisfiableResponse(request, fields, facts.size);
  }
  response.status = ranges.outcome == RangeOutcome::kPartial ? 206 : 200;
  response.coding = coding;
  response.sends_file = !IsHead(request);
  fields.AppendCommon(&response.fields);
  AddContent(fields, ranges, facts.size, boundary, &response);
  return response;
}

}  // namespace httpsys::static_files
