// Input: flags (1 byte), and one a line the values of ETag, If-Match, If-None-Match,
// If-Unmodified-Since, If-Modified-Since, If-Range and Last-Modified. Traps when a promise of
// http_date.h or preconditions.h is broken.

#include <cstdint>
#include <string>
#include <string_view>

#include "lines.h"
#include "pieces.h"
#include "semantics/http_date.h"
#include "semantics/preconditions.h"

namespace {

using httpsys::fuzz::Check;
using httpsys::fuzz::Copy;
using httpsys::fuzz::TakeLine;
using namespace httpsys::semantics;

constexpr int64_t kNow = 1'795'910'400;

std::string TextOf(const EntityTag& tag) {
  return (tag.is_weak ? "W/" : "") + std::string(tag.opaque);
}

void CheckTags(std::string_view value) {
  const Copy copy(value);
  EntityTagList list(copy.view());
  EntityTag tag;
  std::string all;
  while (list.Next(&tag)) {
    Check(!list.is_any());
    Check(tag.opaque.data() >= copy.view().data() &&
          tag.opaque.data() + tag.opaque.size() <= copy.view().data() + copy.view().size());
    Check(HasTag(value, tag, TagComparison::kWeak));
    Check(HasTag(value, tag, TagComparison::kStrong) || tag.is_weak);
    const std::string text = TextOf(tag);
    const auto parsed = ParseEntityTag(text);
    Check(parsed.has_value() && parsed->opaque == tag.opaque && parsed->is_weak == tag.is_weak);
    all += text + ",";
  }
  EntityTagList again(all);
  std::string joined;
  while (again.Next(&tag)) joined += TextOf(tag) + ",";
  Check(joined == all);
  if (ParseEntityTag(copy.view()).has_value()) Check(all == std::string(value) + ",");
}

void CheckDate(std::string_view text) {
  const Copy copy(text);
  const auto seconds = ParseHttpDate(copy.view(), kNow);
  const auto relaxed = ParseHttpDate(copy.view(), kNow, DateCase::kAny);
  if (!seconds.has_value()) return;
  Check(relaxed == seconds);
  // A leap second may be after the last one that has a text.
  if (*seconds > kHttpDateSecondsMax) return;
  Check(ParseHttpDate(FormatHttpDate(*seconds).view(), kNow) == seconds);
}

void CheckOutcome(ConditionalMethod method, const ConditionFields& fields,
                  const Validators& validators) {
  const PreconditionResult result = EvaluatePreconditions(method, fields, validators, kNow);
  const bool is_get = method == ConditionalMethod::kGet;
  Check(!result.range_applies ||
        (is_get && fields.has_range && result.outcome == PreconditionOutcome::kPass));
  Check(result.outcome != PreconditionOutcome::kNotModified ||
        (method != ConditionalMethod::kOther && !fields.is_reload));
  ConditionFields changed = fields;
  changed.is_reload = true;
  const PreconditionOutcome reload =
      EvaluatePreconditions(method, changed, validators, kNow).outcome;
  Check(reload == (result.outcome == PreconditionOutcome::kNotModified ? PreconditionOutcome::kPass
                                                                       : result.outcome));
  // A field that is not to be read makes no difference.
  changed = fields;
  if (fields.if_match.has_value()) changed.if_unmodified_since.reset();
  if (fields.if_none_match.has_value()) changed.if_modified_since.reset();
  const PreconditionResult same = EvaluatePreconditions(method, changed, validators, kNow);
  Check(same.outcome == result.outcome && same.range_applies == result.range_applies);
  // A representation that the client has, in whichever list, is not sent again.
  if (!is_get || !ParseEntityTag(validators.etag).has_value()) return;
  const std::string list = "\"x\"," + std::string(validators.etag) + ",y";
  const ConditionFields known{.if_none_match = list};
  Check(EvaluatePreconditions(method, known, validators, kNow).outcome ==
        PreconditionOutcome::kNotModified);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t flags = data[0];
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view etag = TakeLine(&text);
  ConditionFields fields;
  for (auto* field : {&fields.if_match, &fields.if_none_match, &fields.if_unmodified_since,
                      &fields.if_modified_since, &fields.if_range}) {
    const std::string_view value = TakeLine(&text);
    if (value != "-") *field = value;
    CheckTags(value);
    CheckDate(value);
  }
  const Validators validators{etag, ParseHttpDate(TakeLine(&text), kNow)};
  fields.has_range = (flags & 1) != 0;
  fields.is_reload = (flags & 2) != 0;
  CheckOutcome(static_cast<ConditionalMethod>((flags >> 2) % 3), fields, validators);
  (void)HasNoCache(text);
  return 0;
}
