#include "cache/store_policy.h"

#include <algorithm>

namespace httpsys::cache {
namespace {

using semantics::kDeltaSecondsMax;

// True for statuses that this cache implements (RFC 9110, section 15), for must-understand.
bool IsUnderstood(uint16_t status) {
  return (status >= 200 && status <= 205) || (status >= 300 && status <= 303) ||
         (status >= 307 && status <= 308) || (status >= 400 && status <= 417) ||
         (status >= 421 && status <= 422) || status == 426 || (status >= 500 && status <= 505);
}

// True for statuses that concern one request, its client or its connection instead of the resource:
// precondition, range, expectation, early data, rate, network login. A lifetime that middleware
// sets for a whole site is not meant for them. RFC 6585 forbids to store 428, 429, 431 and 511.
bool IsAboutRequest(uint16_t status) {
  switch (status) {
    case 408:
    case 412:
    case 416:
    case 417:
    case 421:
    case 425:
    case 428:
    case 429:
    case 431:
    case 511:
      return true;
    default:
      return false;
  }
}

// Returns why neither rule set may store the response, judged by the response alone.
Refusal RefuseResponse(const ResponseFacts& response, const ResponseShape& shape,
                       const StoreOptions& options) {
  const semantics::CacheControl& control =
      options.rules == RuleSet::kHttpSys ? response.http_sys_control : response.control;
  if (response.status < 200 || response.status > 599) return Refusal::kStatus;
  // Only 206: Content-Range has no meaning with other statuses (RFC 9110, section 14.4).
  if (response.status == 206) return Refusal::kPartial;
  if (response.status == 304) return Refusal::kNotModified;
  if (!shape.is_complete) return Refusal::kIncomplete;
  if (shape.has_trailers) return Refusal::kTrailers;
  if (shape.bytes > options.entry_bytes_max) return Refusal::kTooLarge;
  if (response.has_set_cookie) return Refusal::kSetCookie;
  // Even a qualified `private`: removing the fields that it names would change the response.
  if (control.is_private.is_present()) return Refusal::kPrivate;
  if (response.vary.is_star()) return Refusal::kVaryStar;
  if (response.vary.has_credentials()) return Refusal::kVaryCredentials;
  return response.vary.is_broken() ? Refusal::kVaryNames : Refusal::kNone;
}

Refusal RefuseHttpSysResponse(const ResponseFacts& response, const ResponseShape& shape) {
  if (response.http_sys_control.no_store) return Refusal::kNoStore;
  if (!response.has_content_type) return Refusal::kContentType;
  if (!response.date.is_valid()) return Refusal::kDate;
  if (response.last_modified.state == FieldDate::State::kInvalid) return Refusal::kLastModified;
  return shape.is_one_piece ? Refusal::kNone : Refusal::kSeveralWrites;
}

StoreDecision Refuse(Refusal refusal) { return {refusal, {}}; }

// Stores by the rules of ASP.NET, which require `public` and a lifetime in the header.
StoreDecision StoreByHttpSysHeader(const ResponseFacts& response, const Lifetime& lifetime) {
  if (IsAboutRequest(response.status)) return Refuse(Refusal::kStatus);
  if (response.http_sys_control.no_cache.is_present()) return Refuse(Refusal::kNoCache);
  if (response.has_pragma) return Refuse(Refusal::kPragma);
  if (response.has_vary) return Refuse(Refusal::kVary);
  if (lifetime.seconds == 0) return Refuse(Refusal::kStale);
  StoreDecision decision;
  decision.terms.lifetime_s = lifetime.seconds;
  decision.terms.flags = EntryTerms::kForCookies;
  return decision;
}

// Stores for the default time, or for the response's own lifetime if that is shorter.
StoreDecision StoreByDefault(const RequestFacts& request, const ResponseFacts& response,
                             const Lifetime& lifetime, uint32_t default_seconds) {
  if (response.status >= 400) return Refuse(Refusal::kErrorStatus);
  if (!request.is_harmless) return Refuse(Refusal::kRequestField);
  // The application did not ask to store the response, so even a malformed directive may forbid it.
  if (response.http_sys_control.is_garbled) return Refuse(Refusal::kGarbled);
  if (response.http_sys_control.no_cache.is_present()) return Refuse(Refusal::kNoCache);
  if (response.has_pragma) return Refuse(Refusal::kPragma);
  const uint32_t seconds = lifetime.is_explicit() ? std::min(lifetime.seconds, default_seconds)
                                                  : std::min(default_seconds, kDeltaSecondsMax);
  if (seconds == 0) return Refuse(Refusal::kStale);
  StoreDecision decision;
  decision.terms.lifetime_s = seconds;
  decision.terms.flags = EntryTerms::kForHarmless;
  return decision;
}

// Decides by the policy that the application has set: takes its lifetime, or refuses if that is 0.
StoreDecision StoreByPolicy(const ResponsePolicy& policy) {
  StoreDecision decision;
  decision.terms.flags = EntryTerms::kForCookies | EntryTerms::kByPolicy;
  if (policy.kind == ResponsePolicy::Kind::kUserInvalidates) {
    decision.terms.flags |= EntryTerms::kNeverExpires;
  } else if (policy.seconds == 0) {
    return Refuse(Refusal::kStale);
  }
  decision.terms.lifetime_s = std::min(policy.seconds, kDeltaSecondsMax);
  return decision;
}

StoreDecision StoreHttpSys(const RequestFacts& request, const ResponseFacts& response,
                           const ResponsePolicy& policy, const ResponseShape& shape,
                           const StoreOptions& options, int64_t now_s) {
  const Refusal refusal = RefuseHttpSysResponse(response, shape);
  if (refusal != Refusal::kNone) return Refuse(refusal);
  StoreDecision decision;
  const Lifetime lifetime = HttpSysLifetimeOf(response, now_s);
  if (policy.kind != ResponsePolicy::Kind::kNone) {
    decision = StoreByPolicy(policy);
  } else if (response.http_sys_control.is_public && lifetime.is_explicit()) {
    decision = StoreByHttpSysHeader(response, lifetime);
  } else if (options.default_seconds > 0) {
    decision = StoreByDefault(request, response, lifetime, options.default_seconds);
  } else if (lifetime.is_explicit()) {
    return Refuse(Refusal::kNotPublic);
  } else {
    return Refuse(Refusal::kNoPolicy);
  }
  decision.terms.flags |= EntryTerms::kHttpSysRules;
  return decision;
}

StoreDecision StoreRfc9111(const ResponseFacts& response, const ResponsePolicy& policy,
                           const StoreOptions& options, int64_t now_s) {
  const semantics::CacheControl& control = response.control;
  if (IsAboutRequest(response.status)) return Refuse(Refusal::kStatus);
  if (control.no_store && !(control.must_understand && IsUnderstood(response.status))) {
    return Refuse(Refusal::kNoStore);
  }
  // must-understand without no-store (RFC 9111, 5.2.2.3): only statuses that this cache implements.
  if (control.must_understand && !IsUnderstood(response.status)) return Refuse(Refusal::kStatus);
  if (policy.kind != ResponsePolicy::Kind::kNone) return StoreByPolicy(policy);
  const bool has_validator = response.has_validator();
  const bool always_revalidates = control.no_cache.is_present();
  if (always_revalidates && !has_validator) return Refuse(Refusal::kNoCache);
  const Lifetime lifetime = LifetimeOf(response, now_s, options.freshness.allows_heuristics);
  if (lifetime.source == Lifetime::Source::kNone && !always_revalidates) {
    return Refuse(Refusal::kNoFreshness);
  }
  // Storing was not requested by a lifetime, so even a malformed directive may forbid it.
  if (!lifetime.is_explicit() && control.is_garbled) return Refuse(Refusal::kGarbled);
  if (lifetime.source == Lifetime::Source::kHeuristic && response.has_pragma) {
    return Refuse(Refusal::kPragma);
  }
  StoreDecision decision;
  decision.terms.initial_age_s = InitialAge(response, now_s);
  decision.terms.lifetime_s = lifetime.seconds;
  decision.terms.flags = control.is_public ? EntryTerms::kForCookies : 0u;
  SetStaleness(control, options.freshness.stale, &decision.terms);
  // A response that is stale already is stored only if it can be revalidated or served stale.
  const uint64_t age_s = decision.terms.initial_age_s;
  const uint64_t window_s = std::max(decision.terms.while_revalidate_s, decision.terms.if_error_s);
  if (!has_validator && age_s >= lifetime.seconds + window_s) return Refuse(Refusal::kStale);
  return decision;
}

}  // namespace

Refusal MayLookUp(const RequestFacts& request) {
  if (request.method != MethodKind::kGet && request.method != MethodKind::kHead) {
    return Refusal::kMethod;
  }
  if (request.has_authorization) return Refusal::kAuthorization;
  if (request.has_client_certificate) return Refusal::kClientCertificate;
  if (request.has_body) return Refusal::kBody;
  if (request.has_upgrade) return Refusal::kUpgrade;
  if (request.expects_other) return Refusal::kExpect;
  if (request.overrides_url) return Refusal::kUrlOverride;
  return request.has_clear_host ? Refusal::kNone : Refusal::kHost;
}

Refusal MayServe(const EntryTerms& terms, const RequestFacts& request) {
  if (request.has_cookie && !terms.Has(EntryTerms::kForCookies)) return Refusal::kCookie;
  if (!request.is_harmless && terms.Has(EntryTerms::kForHarmless)) return Refusal::kRequestField;
  // An entry under the rules of HTTP.SYS answers only GET.
  const bool is_bypassed =
      terms.Has(EntryTerms::kHttpSysRules) && request.method != MethodKind::kGet;
  return is_bypassed ? Refusal::kMethod : Refusal::kNone;
}

Refusal MayFill(const RequestFacts& request) {
  const Refusal bypass = MayLookUp(request);
  if (bypass != Refusal::kNone) return bypass;
  if (request.method == MethodKind::kHead) return Refusal::kHead;
  if (request.has_range) return Refusal::kRange;
  if (request.control.no_store) return Refusal::kRequestNoStore;
  // The response to a request with a precondition may depend on that, whatever its status is.
  if (request.has_precondition) return Refusal::kPrecondition;
  return request.has_translate ? Refusal::kTranslate : Refusal::kNone;
}

StoreDecision MayStore(const RequestFacts& request, const ResponseFacts& response,
                       const ResponsePolicy& policy, const ResponseShape& shape,
                       const StoreOptions& options, const Received& received) {
  Refusal refusal = MayFill(request);
  if (refusal == Refusal::kNone) refusal = RefuseResponse(response, shape, options);
  if (refusal != Refusal::kNone) return Refuse(refusal);
  StoreDecision decision =
      options.rules == RuleSet::kHttpSys
          ? StoreHttpSys(request, response, policy, shape, options, received.now_s)
          : StoreRfc9111(response, policy, options, received.now_s);
  if (!decision.is_stored()) return decision;
  if (request.has_cookie && !decision.terms.Has(EntryTerms::kForCookies)) {
    return Refuse(Refusal::kCookie);
  }
  decision.terms.stored_ms = received.now_ms;
  return decision;
}

bool Invalidates(const RequestFacts& request, uint16_t status, RuleSet rules) {
  return rules == RuleSet::kRfc9111 && request.method == MethodKind::kOther && status >= 200 &&
         status < 400;
}

}  // namespace httpsys::cache
