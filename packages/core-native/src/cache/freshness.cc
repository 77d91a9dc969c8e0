#include "cache/freshness.h"

#include <algorithm>

namespace httpsys::cache {
namespace {

using semantics::CacheControl;
using semantics::DirectiveSeconds;
using semantics::kDeltaSecondsMax;

constexpr uint64_t kMsPerSecond = 1000;

uint32_t ClampSeconds(int64_t seconds) {
  return static_cast<uint32_t>(std::clamp<int64_t>(seconds, 0, int64_t{kDeltaSecondsMax}));
}

Lifetime Explicit(Lifetime::Source source, const DirectiveSeconds& seconds) {
  return {source, seconds.is_valid() ? seconds.seconds : 0};
}

// True for statuses whose responses may be stored without an explicit lifetime (RFC 9110, section
// 15.1), except 206, which is never stored.
bool IsHeuristicallyCacheable(uint16_t status) {
  switch (status) {
    case 200:
    case 203:
    case 204:
    case 300:
    case 301:
    case 308:
    case 404:
    case 405:
    case 410:
    case 414:
    case 501:
      return true;
    default:
      return false;
  }
}

Lifetime Guess(const ResponseFacts& response, int64_t now_s) {
  if (!response.last_modified.is_valid()) return {};
  if (!IsHeuristicallyCacheable(response.status) && !response.control.is_public) return {};
  const int64_t date = response.date.is_valid() ? response.date.seconds : now_s;
  const int64_t seconds = (date - response.last_modified.seconds) / kHeuristicDivisor;
  return {Lifetime::Source::kHeuristic, std::min(ClampSeconds(seconds), kHeuristicSecondsMax)};
}

// Returns the window in `named`, a directive of the response (unreadable = 0), or the default.
uint32_t WindowOf(const DirectiveSeconds& named, uint32_t by_default) {
  if (named.is_absent()) return by_default;
  return named.is_valid() ? named.seconds : 0;
}

// True if the request demands a newer response than the entry.
bool WantsYounger(const EntryTerms& terms, const CacheControl& request, uint64_t age_ms,
                  uint64_t lifetime_ms) {
  if (request.no_cache.is_present()) return true;
  const bool is_expiring = !terms.Has(EntryTerms::kNeverExpires);
  // Ignore an unreadable argument.
  if (request.max_age.is_valid() && age_ms > request.max_age.seconds * kMsPerSecond) return true;
  return is_expiring && request.min_fresh.is_valid() &&
         age_ms + request.min_fresh.seconds * kMsPerSecond > lifetime_ms;
}

bool AcceptsStale(const EntryTerms& terms, const CacheControl& request, uint64_t stale_ms) {
  if (terms.Has(EntryTerms::kForbidsStale) || terms.Has(EntryTerms::kForbidsMaxStale)) return false;
  return request.accepts_any_staleness ||
         (request.max_stale.is_valid() && stale_ms <= request.max_stale.seconds * kMsPerSecond);
}

// Returns the lifetime that these directives name.
Lifetime NamedBy(const CacheControl& control) {
  if (!control.s_maxage.is_absent()) {
    return Explicit(Lifetime::Source::kSharedMaxAge, control.s_maxage);
  }
  if (!control.max_age.is_absent()) return Explicit(Lifetime::Source::kMaxAge, control.max_age);
  return {};
}

Lifetime NamedByExpires(const ResponseFacts& response, int64_t now_s) {
  if (response.expires.state == FieldDate::State::kAbsent) return {};
  const int64_t date = response.date.is_valid() ? response.date.seconds : now_s;
  return {Lifetime::Source::kExpires,
          response.expires.is_valid() ? ClampSeconds(response.expires.seconds - date) : 0};
}

}  // namespace

Lifetime LifetimeOf(const ResponseFacts& response, int64_t now_s, bool allows_heuristics) {
  Lifetime lifetime = NamedBy(response.control);
  if (!lifetime.is_explicit() && !response.is_targeted) lifetime = NamedByExpires(response, now_s);
  if (lifetime.is_explicit() || !allows_heuristics) return lifetime;
  return Guess(response, now_s);
}

Lifetime HttpSysLifetimeOf(const ResponseFacts& response, int64_t now_s) {
  const Lifetime lifetime = NamedBy(response.http_sys_control);
  return lifetime.is_explicit() ? lifetime : NamedByExpires(response, now_s);
}

uint32_t InitialAge(const ResponseFacts& response, int64_t now_s) {
  const int64_t apparent = response.date.is_valid() ? now_s - response.date.seconds : 0;
  return std::max(ClampSeconds(apparent), response.age_s);
}

void SetStaleness(const CacheControl& control, const StaleWindows& defaults, EntryTerms* terms) {
  uint32_t flags =
      terms->flags & ~uint32_t{EntryTerms::kForbidsStale | EntryTerms::kForbidsMaxStale |
                               EntryTerms::kAlwaysRevalidates};
  StaleWindows silent = defaults;
  if (control.no_cache.is_present()) flags |= EntryTerms::kAlwaysRevalidates;
  if (control.no_cache.is_present() || control.must_revalidate || control.proxy_revalidate) {
    flags |= EntryTerms::kForbidsStale | EntryTerms::kForbidsMaxStale;
  } else if (!control.s_maxage.is_absent()) {
    // s-maxage also means proxy-revalidate (RFC 9111, section 5.2.2.10); stale windows that the
    // same response names remain.
    flags |= EntryTerms::kForbidsMaxStale;
    silent = {};
  }
  const bool is_forbidden = (flags & EntryTerms::kForbidsStale) != 0;
  terms->while_revalidate_s =
      is_forbidden ? 0 : WindowOf(control.stale_while_revalidate, silent.while_revalidate_s);
  terms->if_error_s = is_forbidden ? 0 : WindowOf(control.stale_if_error, silent.if_error_s);
  terms->flags = flags;
}

Judgement Judge(const EntryTerms& terms, const CacheControl& request,
                const FreshnessOptions& options, uint64_t now_ms) {
  const uint64_t resident_ms = now_ms > terms.stored_ms ? now_ms - terms.stored_ms : 0;
  // Clamp the values: then no sum below overflows, whatever values the entry has.
  constexpr uint64_t kLongestMs = kDeltaSecondsMax * kMsPerSecond;
  const uint64_t age_ms =
      std::min(terms.initial_age_s * kMsPerSecond + std::min(resident_ms, kLongestMs), kLongestMs);
  const uint64_t lifetime_ms = terms.lifetime_s * kMsPerSecond;
  const bool is_expiring = !terms.Has(EntryTerms::kNeverExpires);
  const bool is_fresh = !is_expiring || age_ms < lifetime_ms;
  const uint64_t stale_ms = is_fresh ? 0 : age_ms - lifetime_ms;
  const bool forbids_stale = terms.Has(EntryTerms::kForbidsStale);
  Judgement judgement;
  judgement.age_s = static_cast<uint32_t>(age_ms / kMsPerSecond);
  judgement.may_answer_errors =
      !forbids_stale && terms.if_error_s > 0 && stale_ms <= terms.if_error_s * kMsPerSecond;
  if (terms.Has(EntryTerms::kHttpSysRules)) {
    if (is_fresh) judgement.verdict = Verdict::kFresh;
    return judgement;
  }
  if (!terms.Has(EntryTerms::kAlwaysRevalidates) &&
      (options.ignores_reload || !WantsYounger(terms, request, age_ms, lifetime_ms))) {
    if (is_fresh) {
      judgement.verdict = Verdict::kFresh;
    } else if (!forbids_stale && terms.while_revalidate_s > 0 &&
               stale_ms <= terms.while_revalidate_s * kMsPerSecond) {
      judgement.verdict = Verdict::kStale;
    } else if (AcceptsStale(terms, request, stale_ms)) {
      judgement.verdict = Verdict::kStaleAccepted;
    }
  }
  if (judgement.verdict == Verdict::kRevalidate && request.only_if_cached) {
    judgement.verdict = Verdict::kUnsatisfiable;
  }
  return judgement;
}

}  // namespace httpsys::cache
