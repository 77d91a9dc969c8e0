#include "static_files/file_fields.h"

#include <algorithm>
#include <cmath>

#include "base/ascii.h"
#include "semantics/fixed_text.h"
#include "semantics/http_date.h"
#include "static_files/request_path.h"

namespace httpsys::static_files {
namespace {

using semantics::ContentCoding;

constexpr std::string_view kTypeOfOthers = "application/octet-stream";

std::string LowerText(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = LowerCase(c);
  return lower;
}

// Appends the coding's name to the opaque part of an entity tag: other bytes need another tag.
void AppendCoding(ContentCoding coding, std::string* etag) {
  if (coding == ContentCoding::kIdentity || !etag->ends_with('"')) return;
  etag->insert(etag->size() - 1, "-" + std::string(CodingName(coding)));
}

bool HasName(const HeaderRule& rule, std::string_view lower_name) {
  return EqualsIgnoringCase(rule.name, lower_name);
}

// True for fields that describe the content itself, and so are not sent with a 304.
bool IsOfContent(const HeaderRule& rule) {
  return HasName(rule, "content-type") || HasName(rule, "content-language");
}

// Returns the rules for the file: for each name the last one, at the position of the first one.
std::vector<const HeaderRule*> RulesFor(const std::vector<HeaderRule>& rules,
                                        std::string_view path) {
  std::vector<const HeaderRule*> chosen;
  for (const HeaderRule& rule : rules) {
    if (!IsRuleFor(rule, path)) continue;
    const std::string name = LowerText(rule.name);
    const auto before = std::find_if(chosen.begin(), chosen.end(), [&](const HeaderRule* other) {
      return HasName(*other, name);
    });
    if (before == chosen.end()) {
      chosen.push_back(&rule);
    } else {
      *before = &rule;
    }
  }
  return chosen;
}

std::string_view TypeOf(const StaticOptions& options, std::string_view path) {
  std::string_view extension = ExtensionOf(path);
  if (extension.empty()) return kTypeOfOthers;
  extension.remove_prefix(1);
  const auto found = options.types.find(LowerText(extension));
  return found == options.types.end() ? kTypeOfOthers : std::string_view(found->second);
}

std::string CacheControlOf(const StaticOptions& options) {
  const uint64_t seconds = std::min(options.max_age_seconds, kMaxAgeSecondsMax);
  return "public, max-age=" + std::to_string(seconds) + (options.immutable ? ", immutable" : "");
}

}  // namespace

void AppendField(std::string_view name, std::string_view value, std::string* fields) {
  fields->append(name).append(": ").append(value).append("\r\n");
}

int64_t ModifiedMs(const files::FileFacts& facts) {
  // Compute in floating point as Node does, which can round up a time just below half a
  // millisecond: the tag must equal the one that a JavaScript server makes.
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  const int64_t ns = ((facts.modified_ns % kNsPerSecond) + kNsPerSecond) % kNsPerSecond;
  const int64_t seconds = (facts.modified_ns - ns) / kNsPerSecond;
  const double ms = static_cast<double>(seconds) * 1e3 + static_cast<double>(ns) / 1e6;
  return static_cast<int64_t>(std::floor(ms + 0.5));
}

bool HasRealTime(const files::FileFacts& facts) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  return facts.modified_ns < 0 || facts.modified_ns >= 2 * kNsPerSecond;
}

std::string MakeEtag(const files::FileFacts& facts, ContentCoding coding) {
  const int64_t ms = ModifiedMs(facts);
  const auto magnitude = ms < 0 ? ~static_cast<uint64_t>(ms) + 1 : static_cast<uint64_t>(ms);
  semantics::FixedText<semantics::kNumberBytesMax> size_text;
  semantics::FixedText<semantics::kNumberBytesMax> time_text;
  size_text.AddNumber(facts.size, 16);
  time_text.AddNumber(magnitude, 16);
  std::string etag = "W/\"";
  etag.append(size_text.view()).append(ms < 0 ? "--" : "-").append(time_text.view());
  etag.append("\"");
  AppendCoding(coding, &etag);
  return etag;
}

FileFields::FileFields(const StaticOptions* options, std::string_view path,
                       const files::FileFacts& facts, ContentCoding coding, bool has_siblings,
                       int64_t now_seconds)
    : options_(options),
      coding_(coding),
      has_siblings_(has_siblings),
      now_seconds_(now_seconds),
      rules_(RulesFor(options->header_rules, path)) {
  if (const HeaderRule* rule = FindRule("etag"); rule != nullptr) {
    etag_ = rule->value;
    AppendCoding(coding, &etag_);
  } else if (options->etag && HasRealTime(facts)) {
    etag_ = MakeEtag(facts, coding);
  }
  if (const HeaderRule* rule = FindRule("last-modified"); rule != nullptr) {
    last_modified_ = rule->value;
  } else if (options->last_modified && HasRealTime(facts)) {
    const int64_t ms = ModifiedMs(facts);
    const int64_t seconds = ms / 1000 - (ms % 1000 < 0 ? 1 : 0);
    last_modified_ = semantics::FormatHttpDate(std::min(seconds, now_seconds)).view();
  }
  const HeaderRule* type_rule = FindRule("content-type");
  type_ = type_rule == nullptr ? TypeOf(*options, path) : std::string_view(type_rule->value);
}

semantics::Validators FileFields::validators() const {
  return {etag_, semantics::ParseHttpDate(last_modified_, now_seconds_)};
}

void FileFields::AppendCommon(std::string* fields) const {
  for (const HeaderRule* rule : rules_) {
    if (IsOfContent(*rule)) continue;
    AppendField(rule->name, HasName(*rule, "etag") ? etag_ : rule->value, fields);
  }
  if (options_->accept_ranges && FindRule("accept-ranges") == nullptr) {
    AppendField("Accept-Ranges", "bytes", fields);
  }
  if (options_->cache_control && FindRule("cache-control") == nullptr) {
    AppendField("Cache-Control", CacheControlOf(*options_), fields);
  }
  if (!last_modified_.empty() && FindRule("last-modified") == nullptr) {
    AppendField("Last-Modified", last_modified_, fields);
  }
  if (!etag_.empty() && FindRule("etag") == nullptr) AppendField("ETag", etag_, fields);
  AppendVary(fields);
}

void FileFields::AppendOfContent(std::string* fields) const {
  const HeaderRule* language = FindRule("content-language");
  if (language != nullptr) AppendField(language->name, language->value, fields);
  if (coding_ != ContentCoding::kIdentity) {
    AppendField("Content-Encoding", CodingName(coding_), fields);
  }
}

void FileFields::AppendVary(std::string* fields) const {
  // Keep a Vary of a header rule: both lines form one list.
  if (has_siblings_) AppendField("Vary", "Accept-Encoding", fields);
}

const HeaderRule* FileFields::FindRule(std::string_view lower_name) const {
  const auto found = std::find_if(rules_.begin(), rules_.end(), [&](const HeaderRule* rule) {
    return HasName(*rule, lower_name);
  });
  return found == rules_.end() ? nullptr : *found;
}

}  // namespace httpsys::static_files
