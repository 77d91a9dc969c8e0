#pragma once
// Decides which requests the output cache answers, and which responses it stores. A wrongly stored
// response could show one user's data to another user: in doubt it is not stored.

#include <cstdint>

#include "cache/freshness.h"
#include "cache/refusal.h"
#include "cache/request_facts.h"
#include "cache/response_facts.h"
#include "semantics/content_coding.h"

namespace httpsys::cache {

enum class RuleSet : uint8_t {
  // Stores as HTTP.SYS does: by a policy that the application sets on the response, by the
  // response's header (as ASP.NET reads it), or for the default time of the server.
  kHttpSys,
  kRfc9111,  // A shared cache, driven by the header of the response.
};

// A policy that was set on one response: `setCachePolicy()`, `res.cacheDuration`.
struct ResponsePolicy {
  enum class Kind : uint8_t {
    kNone,
    kUserInvalidates,  // Good until it is flushed.
    kTimeToLive,
  };

  Kind kind = Kind::kNone;
  uint32_t seconds = 0;  // Lifetime with kTimeToLive; 0 = not stored.
};

// The form in which the application sent a response.
struct ResponseShape {
  uint64_t bytes = 0;         // Head and body.
  bool is_complete = true;    // The response has ended, with a body of the announced length.
  bool is_one_piece = true;   // Head and whole body came at once, or the head has Content-Length.
  bool has_trailers = false;  // A response with trailers is not stored.
};

struct StoreOptions {
  RuleSet rules = RuleSet::kRfc9111;
  FreshnessOptions freshness;
  // Default time to live of a server with HTTP.SYS rules, in seconds. 0 = none.
  uint32_t default_seconds = 0;
  uint64_t entry_bytes_max = 1024 * 1024;
  // Codings in which stored responses are compressed.
  semantics::CodingSet codings;
};

struct StoreDecision {
  Refusal refusal = Refusal::kNone;
  // Terms of the entry; valid if the response is stored.
  EntryTerms terms;

  bool is_stored() const { return refusal == Refusal::kNone; }
};

// Time at which a response was received, on both clocks.
struct Received {
  int64_t now_s = 0;    // Seconds since 1970.
  uint64_t now_ms = 0;  // Monotonic clock of the machine.
};

// The functions below allocate nothing. Thread: any.

// Returns why a request bypasses the cache under either rule set; kNone = an entry may answer it.
[[nodiscard]] Refusal MayLookUp(const RequestFacts& request);

// Returns why an entry with these terms must not answer a request, or kNone. MayLookUp() must have
// returned kNone for the request. The terms may come from another process.
[[nodiscard]] Refusal MayServe(const EntryTerms& terms, const RequestFacts& request);

// Returns why no response to this request may be stored, or kNone.
[[nodiscard]] Refusal MayFill(const RequestFacts& request);

// Decides whether a response is stored, and on which terms. The lifetime comes from the policy
// (even if its time is 0), else from the header, else from the default. Responses with a status
// about one request, such as 412 and 429, are stored only by a policy under the rules of HTTP.SYS.
[[nodiscard]] StoreDecision MayStore(const RequestFacts& request, const ResponseFacts& response,
                                     const ResponsePolicy& policy, const ResponseShape& shape,
                                     const StoreOptions& options, const Received& received);

// Returns true if a response with this status to the request makes the entries of its URL obsolete
// (RFC 9111, section 4.4); always false under the rules of HTTP.SYS.
[[nodiscard]] bool Invalidates(const RequestFacts& request, uint16_t status, RuleSet rules);

}  // namespace httpsys::cache
