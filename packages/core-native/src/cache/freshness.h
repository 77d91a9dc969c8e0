#pragma once
// How long a stored response is fresh, how old it is, and when it may be used although it is stale
// (RFC 9111, section 4.2; RFC 5861; RFC 9213).

#include <cstdint>

#include "cache/response_facts.h"
#include "semantics/cache_control.h"

namespace httpsys::cache {

// A heuristic lifetime is the time since the last change divided by kHeuristicDivisor, and at most
// kHeuristicSecondsMax: applications that send no lifetime expect changes to be seen within a day.
inline constexpr uint32_t kHeuristicDivisor = 10;
inline constexpr uint32_t kHeuristicSecondsMax = 24 * 3600;

// How long after its lifetime a response may still be used, in seconds.
struct StaleWindows {
  uint32_t while_revalidate_s = 0;  // While a new response is fetched.
  uint32_t if_error_s = 0;          // If no new response is available.
};

struct FreshnessOptions {
  bool allows_heuristics = false;
  // Windows for responses that do not name any.
  StaleWindows stale;
  // True if `no-cache`, `max-age` and `min-fresh` of a request are ignored: any client can send
  // them to demand new responses.
  bool ignores_reload = false;
};

struct Lifetime {
  enum class Source : uint8_t { kNone, kHeuristic, kExpires, kMaxAge, kSharedMaxAge };

  Source source = Source::kNone;
  uint32_t seconds = 0;

  bool is_explicit() const { return source > Source::kHeuristic; }
};

// Returns the lifetime of a response: s-maxage, else max-age, of the deciding field
// (ResponseFacts::control), else Expires minus Date. An unreadable value gives a lifetime of 0.
// `now_s` is the time in seconds since 1970.
[[nodiscard]] Lifetime LifetimeOf(const ResponseFacts& response, int64_t now_s,
                                  bool allows_heuristics);

// Returns the lifetime under the rules of HTTP.SYS, which know only Cache-Control and Expires.
[[nodiscard]] Lifetime HttpSysLifetimeOf(const ResponseFacts& response, int64_t now_s);

// Returns the age in seconds that a response has when it is received: the larger of the ages by its
// Date and by its Age (RFC 9111, section 4.2.3; the delay of the answer is not counted, because the
// application runs on this machine).
[[nodiscard]] uint32_t InitialAge(const ResponseFacts& response, int64_t now_s);

// The terms under which an entry may be used. Stored in the entry, where other processes read them:
// fixed size, no padding, and safe with any contents.
struct EntryTerms {
  enum Flags : uint32_t {
    // Stale answers are forbidden: no-cache, must-revalidate, proxy-revalidate.
    kForbidsStale = 1u << 0,
    // `max-stale` of a request has no effect: s-maxage, or kForbidsStale.
    kForbidsMaxStale = 1u << 1,
    // The application must confirm the entry before each use: no-cache.
    kAlwaysRevalidates = 1u << 2,
    // Requests with cookies may get the entry: it has `public`, or a policy of the application.
    kForCookies = 1u << 3,
    // The entry is good until it is flushed (HttpCachePolicyUserInvalidates).
    kNeverExpires = 1u << 4,
    // Stored under the rules of HTTP.SYS: no directive of a request counts, and no Age is added.
    kHttpSysRules = 1u << 5,
    // Stored for the default time: only requests with RequestFacts::is_harmless get the entry,
    // because answers to other requests may depend on their fields.
    kForHarmless = 1u << 6,
    // Answers need `Vary: Accept-Encoding`, because there may be compressed variants, and the head
    // of the entry does not have it.
    kVariesByCoding = 1u << 7,
    // The lifetime comes from a policy of the application, not from the header or a default.
    kByPolicy = 1u << 8,
  };
  // Position in `flags` of the set of codings in which the entry may be compressed: one bit for
  // each semantics::ContentCoding (coding_policy.h).
  static constexpr uint32_t kCodingsShift = 16;

  uint64_t stored_ms = 0;  // Monotonic clock of the machine.
  uint32_t initial_age_s = 0;
  uint32_t lifetime_s = 0;
  uint32_t while_revalidate_s = 0;
  uint32_t if_error_s = 0;
  uint32_t flags = 0;
  // Distinguishes the entries that one process stores; a compressed variant has the stamp of the
  // entry from which it was made.
  uint32_t stamp = 0;
  // Generation of the URL when JavaScript got the request: rises whenever another owner of the URL
  // makes its entries obsolete. Counted by the process that stored the entry (engine::CoOwners).
  uint64_t generation = 0;

  bool Has(Flags flag) const { return (flags & flag) != 0; }
};
static_assert(sizeof(EntryTerms) == 40);

// Sets the windows and the first three flags of `terms` from the directives of a response.
void SetStaleness(const semantics::CacheControl& control, const StaleWindows& defaults,
                  EntryTerms* terms);

// Returns true for statuses that report a failed application, in whose place a stale entry may
// answer (stale-if-error): 500, 502, 503 and 504.
constexpr bool IsFailure(uint16_t status) {
  return status == 500 || (status >= 502 && status <= 504);
}

enum class Verdict : uint8_t {
  kFresh,          // The entry answers.
  kStale,          // The entry answers, and a new response is fetched for the next request.
  kStaleAccepted,  // The entry answers, because the client accepts stale answers.
  kRevalidate,     // JavaScript must be asked whether the response is still good.
  // Answer 504: the client wants only a stored answer (only-if-cached), and none is good.
  kUnsatisfiable,
};

struct Judgement {
  Verdict verdict = Verdict::kRevalidate;
  // Age in seconds, for the Age field and for Cache-Status.
  uint32_t age_s = 0;
  // With kRevalidate: the entry may answer if the application fails, or cannot be reached.
  bool may_answer_errors = false;
};

// Decides whether an entry answers a request. `request` has the directives of the request,
// including Pragma (RequestFacts). `now_ms` is on the clock of EntryTerms::stored_ms; an earlier
// `now_ms` counts as stored_ms. Thread: any.
[[nodiscard]] Judgement Judge(const EntryTerms& terms, const semantics::CacheControl& request,
                              const FreshnessOptions& options, uint64_t now_ms);

}  // namespace httpsys::cache
