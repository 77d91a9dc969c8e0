// Input: a byte of options, the head of a request, the head of the response to it. Traps when the
// policy of the output cache stores what the safety list forbids: the rules are written here a
// second time, as plainly as possible.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "cache/cache_key.h"
#include "cache/store_policy.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"
#include "http1/response_head.h"
#include "pieces.h"

namespace {

using httpsys::EqualsIgnoringCase;
using httpsys::fuzz::Check;
using httpsys::http1::HeaderLine;
// The fuzzer names most of the room.
using namespace httpsys::cache;  // NOLINT(google-build-using-namespace)

using Lines = std::vector<HeaderLine>;

// 27 November 2026, 12:00:00 GMT.
constexpr Received kNow{1'795'780'800, 1'000'000'000};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), httpsys::LowerCase);
  return lower;
}

std::string_view TrimBoth(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

bool HasField(const Lines& lines, std::string_view lower) {
  return std::any_of(lines.begin(), lines.end(),
                     [=](const HeaderLine& line) { return EqualsIgnoringCase(line.name, lower); });
}

bool HasText(const Lines& lines, std::string_view field, std::string_view lower) {
  return std::any_of(lines.begin(), lines.end(), [=](const HeaderLine& line) {
    return EqualsIgnoringCase(line.name, field) &&
           Lower(line.value).find(lower) != std::string::npos;
  });
}

// True if a line without quotes, hence a plain list, has exactly this member.
bool HasMember(const Lines& lines, std::string_view field, std::string_view lower) {
  for (const HeaderLine& line : lines) {
    if (!EqualsIgnoringCase(line.name, field) || line.value.find('"') != std::string::npos)
      continue;
    const std::string value = Lower(line.value) + ",";
    for (size_t begin = 0; begin < value.size();) {
      const size_t end = value.find(',', begin);
      if (TrimBoth(std::string_view(value).substr(begin, end - begin)) == lower) return true;
      begin = end + 1;
    }
  }
  return false;
}

// One exchange, as the fuzzer has made it.
struct Exchange {
  httpsys::http1::RequestHead request;
  std::string_view method;
  bool has_certificate = false;
  uint16_t status = 0;
  Lines response;
  ResponsePolicy policy;
  ResponseShape shape;
  StoreOptions options;

  StoreDecision Decide() const {
    return MayStore(ReadRequest(request, method, has_certificate),
                    ReadResponse(status, response, kNow.now_s), policy, shape, options, kNow);
  }
  bool StoresWithRequestLine(HeaderLine line) const {
    Exchange changed = *this;
    changed.request.lines.push_back(line);
    return changed.Decide().is_stored();
  }
  bool StoresWithResponseLine(HeaderLine line) const {
    Exchange changed = *this;
    changed.response.push_back(line);
    return changed.Decide().is_stored();
  }
};

void SetOptions(uint8_t bits, Exchange* exchange) {
  exchange->options.rules = (bits & 1) != 0 ? RuleSet::kHttpSys : RuleSet::kRfc9111;
  exchange->options.default_seconds = (bits & 2) != 0 ? 60 : 0;
  exchange->options.freshness.allows_heuristics = (bits & 4) != 0;
  exchange->options.freshness.stale = {(bits & 8) != 0 ? 30u : 0u, (bits & 8) != 0 ? 60u : 0u};
  const std::array<ResponsePolicy, 4> policies{{{},
                                                {},
                                                {ResponsePolicy::Kind::kTimeToLive, 10},
                                                {ResponsePolicy::Kind::kUserInvalidates, 0}}};
  exchange->policy = policies[bits >> 4 & 3];
  exchange->has_certificate = (bits & 0x40) != 0;
  exchange->shape.is_complete = (bits & 0x80) == 0;
}

// Returns true if CDN-Cache-Control takes the place of Cache-Control, restrictions included.
bool Overrides(const Exchange& exchange) {
  if (exchange.options.rules == RuleSet::kHttpSys) return false;
  const ResponseFacts facts = ReadResponse(exchange.status, exchange.response, kNow.now_s);
  const bool has_lifetime = facts.control.max_age.is_valid() || facts.control.s_maxage.is_valid();
  return facts.is_targeted && has_lifetime;
}

// Rules for every response that is stored.
void CheckStored(const Exchange& exchange, const StoreDecision& decision) {
  const Lines& request = exchange.request.lines;
  const Lines& response = exchange.response;
  const EntryTerms& terms = decision.terms;
  Check(exchange.method == "GET" && !exchange.has_certificate && exchange.shape.is_complete);
  Check(!HasField(request, "authorization") && !HasField(request, "proxy-authorization"));
  Check(!HasField(request, "range") && !HasField(request, "upgrade"));
  Check(!HasField(request, "if-match") && !HasField(request, "if-unmodified-since"));
  Check(!HasField(request, "x-original-url") && !HasField(request, "x-http-method-override"));
  Check(!HasField(request, "transfer-encoding") && exchange.request.content_length == 0);
  Check(exchange.status >= 200 && exchange.status < 600);
  Check(exchange.status != 206 && exchange.status != 304);
  Check(!HasField(response, "set-cookie"));
  for (const char* name : {"*", "cookie", "authorization"}) {
    Check(!HasMember(response, "vary", name));
  }
  // `private` always wins in a field that counts, `no-store` unless the status is understood.
  const bool is_targeted = ReadResponse(exchange.status, response, kNow.now_s).is_targeted;
  for (const std::string_view field : {"cache-control", "cdn-cache-control"}) {
    const bool counts = field == "cache-control" ? !Overrides(exchange) : is_targeted;
    if (!counts) continue;
    Check(!HasMember(response, field, "private"));
    Check(!HasMember(response, field, "no-store") || (exchange.options.rules == RuleSet::kRfc9111 &&
                                                      HasText(response, field, "must-understand")));
  }
  const bool is_public = HasText(response, "cache-control", "public") ||
                         HasText(response, "cdn-cache-control", "public");
  const bool has_policy = exchange.policy.kind != ResponsePolicy::Kind::kNone;
  if (exchange.status == 412 || exchange.status == 429) {
    Check(has_policy && exchange.options.rules == RuleSet::kHttpSys);
  }
  if (HasField(request, "cookie")) Check(terms.Has(EntryTerms::kForCookies));
  if (terms.Has(EntryTerms::kForCookies)) Check(is_public || has_policy);
  if (terms.Has(EntryTerms::kForHarmless)) {
    Check(exchange.status < 400 && !HasField(request, "x-api-key"));
  }
  Check(terms.lifetime_s <= httpsys::semantics::kDeltaSecondsMax);
  Check(terms.initial_age_s <= httpsys::semantics::kDeltaSecondsMax);
  const RequestFacts facts = ReadRequest(exchange.request, exchange.method, false);
  Check(MayServe(terms, facts) == Refusal::kNone);
  const Judgement judgement = Judge(terms, {}, {}, kNow.now_ms);
  const bool is_fresh =
      terms.Has(EntryTerms::kNeverExpires) ||
      (terms.lifetime_s > terms.initial_age_s && !terms.Has(EntryTerms::kAlwaysRevalidates));
  Check((judgement.verdict == Verdict::kFresh) == is_fresh);
  if (terms.Has(EntryTerms::kForbidsStale)) {
    Check(judgement.verdict != Verdict::kStale && !judgement.may_answer_errors);
  }
}

// Lines that change the decision, whatever else the messages say.
void CheckChanges(const Exchange& exchange, bool is_stored) {
  Check(!exchange.StoresWithRequestLine({"Authorization", "x"}));
  Check(!exchange.StoresWithRequestLine({"proxy-authorization", ""}));
  Check(!exchange.StoresWithResponseLine({"SET-COOKIE", "a=b"}));
  Check(!exchange.StoresWithResponseLine({"Vary", "a, *"}));
  Check(!exchange.StoresWithResponseLine({"Vary", "Cookie"}));
  if (!Overrides(exchange)) {
    Check(!exchange.StoresWithResponseLine({"Cache-Control", "private"}));
    Check(!exchange.StoresWithResponseLine({"Cache-Control", "x=\"y\", NO-STORE"}) ||
          HasText(exchange.response, "cache-control", "must-understand"));
  }
  if (!ReadResponse(exchange.status, exchange.response, kNow.now_s).is_targeted) {
    Exchange shorter = exchange;
    shorter.response.push_back({"Cache-Control", "max-age=1"});
    const Lifetime before =
        LifetimeOf(ReadResponse(exchange.status, exchange.response, kNow.now_s), kNow.now_s, false);
    const Lifetime after =
        LifetimeOf(ReadResponse(shorter.status, shorter.response, kNow.now_s), kNow.now_s, false);
    if (before.source == Lifetime::Source::kMaxAge) Check(after.seconds <= before.seconds);
  }
  // An unknown field makes no difference.
  Check(exchange.StoresWithResponseLine({"X-Other", "no-store, private"}) == is_stored);
}

void CheckKey(const Exchange& exchange) {
  std::string key;
  KeyParts parts;
  if (!MakeKey({true, 443}, exchange.request, &key)) return;
  if (exchange.request.target.empty()) return;
  Check(SplitKey(key, &parts) && parts.scope.is_secure && parts.scope.port == 443);
  Check(parts.host == exchange.request.host && parts.target == exchange.request.target);
}

void CheckVary(const Exchange& exchange) {
  const VaryNames names = ReadResponse(exchange.status, exchange.response, kNow.now_s).vary;
  if (names.is_star() || names.is_broken()) return;
  VaryNames again;
  Check(again.Assign(names.text()));
  VaryRecord record(names, 1);
  record.Add(9);
  std::array<char, VaryRecord::kBytesMax> memory{};
  const size_t bytes = record.Encode(memory);
  VaryRecord read;
  Check(read.Decode({memory.data(), bytes}) && read.names().text() == names.text());
  // A request selects the same variant as itself with a line that is not named.
  std::string one;
  std::string other;
  names.AppendValues(exchange.request.lines, &one);
  Lines lines = exchange.request.lines;
  lines.push_back({"X-Not-Named-Anywhere", "x"});
  names.AppendValues(lines, &other);
  Check(one == other || HasText(exchange.response, "vary", "x-not-named-anywhere"));
  // A further line of a field that is named makes another variant, whatever it says.
  if (names.is_empty()) return;
  const std::string name(names.text().substr(0, names.text().find(',')));
  lines.push_back({name, ""});
  std::string longer;
  names.AppendValues(lines, &longer);
  Check(longer != one);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  Exchange exchange;
  SetOptions(data[0], &exchange);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const httpsys::http1::MethodTable methods(
      {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "CONNECT"});
  httpsys::http1::RequestParser parser(&methods);
  parser.Reset(64 * 1024);
  if (parser.Parse(text) != httpsys::http1::ParseStatus::kDone) return 0;
  // Each head in memory of its own size.
  const httpsys::fuzz::Copy response(text.substr(parser.head_bytes()));
  httpsys::http1::ResponseHead head;
  if (!httpsys::http1::ParseResponseHead(response.view(), &head)) return 0;
  exchange.request = parser.head();
  exchange.method = methods.Name(exchange.request.method);
  exchange.status = head.status;
  exchange.response = head.lines;
  const StoreDecision decision = exchange.Decide();
  Check(static_cast<size_t>(decision.refusal) < kRefusals);
  if (decision.is_stored()) CheckStored(exchange, decision);
  CheckChanges(exchange, decision.is_stored());
  CheckKey(exchange);
  CheckVary(exchange);
  return 0;
}
