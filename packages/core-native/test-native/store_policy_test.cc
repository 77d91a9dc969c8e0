#include "cache/store_policy.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/cache_messages.h"

namespace httpsys::cache {
namespace {

using PolicyKind = ResponsePolicy::Kind;

const Received kNow{kNowS, 5'000};

// Statuses that are about one request, not about the resource.
const std::set<int> kAboutRequest{408, 412, 416, 417, 421, 425, 428, 429, 431, 511};

// What the responses of HTTP.SYS rules need, whatever their freshness.
const std::string kUsual = "Content-Type: text/plain|Date: " + std::string(kNowText);

StoreDecision Decide(const TestRequest& request, const TestResponse& response,
                     const StoreOptions& options = {}, const ResponsePolicy& policy = {},
                     const ResponseShape& shape = {}) {
  return MayStore(request.facts(), response.facts(), policy, shape, options, kNow);
}

Refusal Rfc(std::string_view request, std::string_view response, int status = 200,
            const StoreOptions& options = {}) {
  return Decide(TestRequest(request), TestResponse(response, status), options).refusal;
}

StoreOptions HttpSysOptions(uint32_t default_seconds = 0) {
  StoreOptions options;
  options.rules = RuleSet::kHttpSys;
  options.default_seconds = default_seconds;
  return options;
}

StoreDecision HttpSys(std::string_view request, std::string_view response,
                      const ResponsePolicy& policy = {}, uint32_t default_seconds = 0,
                      int status = 200, const ResponseShape& shape = {}) {
  const std::string lines = kUsual + (response.empty() ? "" : "|") + std::string(response);
  return Decide(TestRequest(request), TestResponse(lines, status), HttpSysOptions(default_seconds),
                policy, shape);
}

TEST(RefusalTest, EveryReasonHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < kRefusals; ++i) names.insert(RefusalName(static_cast<Refusal>(i)));
  EXPECT_EQ(names.size(), kRefusals);
  EXPECT_EQ(RefusalName(Refusal::kNone), "");
  EXPECT_EQ(RefusalName(Refusal::kSetCookie), "SET_COOKIE");
}

// -- Requests.

TEST(LookUpTest, RequestsThatSayWhoAsksBypassTheCache) {
  EXPECT_EQ(MayLookUp(TestRequest().facts()), Refusal::kNone);
  EXPECT_EQ(MayLookUp(TestRequest("Cookie: a=b").facts()), Refusal::kNone);
  EXPECT_EQ(MayLookUp(TestRequest("AUTHORIZATION: Basic x").facts()), Refusal::kAuthorization);
  EXPECT_EQ(MayLookUp(TestRequest("Authorization:").facts()), Refusal::kAuthorization);
  EXPECT_EQ(MayLookUp(TestRequest("Proxy-Authorization: x").facts()), Refusal::kAuthorization);
  EXPECT_EQ(MayLookUp(TestRequest("", "GET", "/", true).facts()), Refusal::kClientCertificate);
}

TEST(LookUpTest, OnlyGetAndHeadAreLookedUp) {
  EXPECT_EQ(MayLookUp(TestRequest("", "HEAD").facts()), Refusal::kNone);
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PURGE"}) {
    EXPECT_EQ(MayLookUp(TestRequest("", method).facts()), Refusal::kMethod) << method;
  }
}

TEST(LookUpTest, RequestsThatMeanMoreThanTheirUrlBypassTheCache) {
  EXPECT_EQ(MayLookUp(TestRequest("Content-Length: 3").facts()), Refusal::kBody);
  EXPECT_EQ(MayLookUp(TestRequest("Transfer-Encoding: chunked").facts()), Refusal::kBody);
  EXPECT_EQ(MayLookUp(TestRequest("Content-Length: 0").facts()), Refusal::kNone);
  EXPECT_EQ(MayLookUp(TestRequest("Upgrade: websocket|Connection: upgrade").facts()),
            Refusal::kUpgrade);
  EXPECT_EQ(MayLookUp(TestRequest("Upgrade: h2c").facts()), Refusal::kUpgrade);
  EXPECT_EQ(MayLookUp(TestRequest("Expect: x").facts()), Refusal::kExpect);
  EXPECT_EQ(MayLookUp(TestRequest("Expect: 100-continue").facts()), Refusal::kNone);
  for (const char* name : {"X-Original-URL", "x-rewrite-url", "X-HTTP-Method",
                           "X-HTTP-Method-Override", "X-Method-Override"}) {
    EXPECT_EQ(MayLookUp(TestRequest(std::string(name) + ": /admin").facts()), Refusal::kUrlOverride)
        << name;
  }
  EXPECT_EQ(MayLookUp(TestRequest("Host: b.example").facts()), Refusal::kHost);
  http1::RequestHead none;
  EXPECT_EQ(MayLookUp(ReadRequest(none, "GET", false)), Refusal::kHost);
}

TEST(FillTest, SomeRequestsAreAnsweredByTheCacheAndDoNotFillIt) {
  EXPECT_EQ(MayFill(TestRequest().facts()), Refusal::kNone);
  EXPECT_EQ(MayFill(TestRequest("", "HEAD").facts()), Refusal::kHead);
  EXPECT_EQ(MayFill(TestRequest("Range: bytes=0-1").facts()), Refusal::kRange);
  EXPECT_EQ(MayFill(TestRequest("If-Range: \"a\"").facts()), Refusal::kRange);
  EXPECT_EQ(MayFill(TestRequest("Cache-Control: no-store").facts()), Refusal::kRequestNoStore);
  EXPECT_EQ(MayFill(TestRequest("If-Match: \"a\"").facts()), Refusal::kPrecondition);
  EXPECT_EQ(MayFill(TestRequest("IF-Unmodified-Since: x").facts()), Refusal::kPrecondition);
  EXPECT_EQ(MayFill(TestRequest("If-None-Match: \"a\"").facts()), Refusal::kNone);
  EXPECT_EQ(MayFill(TestRequest("If-Modified-Since: x").facts()), Refusal::kNone);
  EXPECT_EQ(MayFill(TestRequest("Translate: F").facts()), Refusal::kTranslate);
  EXPECT_EQ(MayFill(TestRequest("Translate: t").facts()), Refusal::kNone);
  EXPECT_EQ(MayFill(TestRequest("Authorization: x", "HEAD").facts()), Refusal::kAuthorization);
}

TEST(ServeTest, CookiesNeedAnEntryThatIsForEverybody) {
  EntryTerms terms;
  EXPECT_EQ(MayServe(terms, TestRequest().facts()), Refusal::kNone);
  EXPECT_EQ(MayServe(terms, TestRequest("Cookie: a").facts()), Refusal::kCookie);
  terms.flags = EntryTerms::kForCookies;
  EXPECT_EQ(MayServe(terms, TestRequest("Cookie: a").facts()), Refusal::kNone);
}

TEST(ServeTest, AnEntryOfTheDefaultTimeIsForHarmlessRequests) {
  EntryTerms terms;
  terms.flags = EntryTerms::kForHarmless;
  EXPECT_EQ(MayServe(terms, TestRequest("Accept: */*").facts()), Refusal::kNone);
  EXPECT_EQ(MayServe(terms, TestRequest("X-Api-Key: 1").facts()), Refusal::kRequestField);
}

TEST(ServeTest, HttpSysAnswersGetAlone) {
  EntryTerms terms;
  EXPECT_EQ(MayServe(terms, TestRequest("", "HEAD").facts()), Refusal::kNone);
  terms.flags = EntryTerms::kHttpSysRules;
  EXPECT_EQ(MayServe(terms, TestRequest("", "HEAD").facts()), Refusal::kMethod);
  EXPECT_EQ(MayServe(terms, TestRequest().facts()), Refusal::kNone);
}

TEST(InvalidateTest, SuccessOfUnsafeMethodsInvalidates) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "PURGE"}) {
    const TestRequest request("", method);
    EXPECT_TRUE(Invalidates(request.facts(), 200, RuleSet::kRfc9111)) << method;
    EXPECT_TRUE(Invalidates(request.facts(), 303, RuleSet::kRfc9111)) << method;
    EXPECT_FALSE(Invalidates(request.facts(), 404, RuleSet::kRfc9111)) << method;
    EXPECT_FALSE(Invalidates(request.facts(), 100, RuleSet::kRfc9111)) << method;
    EXPECT_FALSE(Invalidates(request.facts(), 200, RuleSet::kHttpSys)) << method;
  }
  for (const char* method : {"GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND"}) {
    EXPECT_FALSE(Invalidates(TestRequest("", method).facts(), 200, RuleSet::kRfc9111)) << method;
  }
}

TEST(HarmlessTest, OnlyFieldsThatNameNoUserAreHarmless) {
  for (const char* line :
       {"Accept: a", "Accept-Language: de", "User-Agent: x", "Sec-Fetch-Mode: cors", "Sec-CH-UA: x",
        "Priority: u=1", "DNT: 1", "If-None-Match: x", "traceparent: 00-1",
        "Cache-Control: no-cache", "Pragma: no-cache", "X-Forwarded-Proto: https",
        "Connection: keep-alive", "Upgrade-Insecure-Requests: 1", "TE: trailers"}) {
    EXPECT_TRUE(TestRequest(line).facts().is_harmless) << line;
  }
  for (const char* line :
       {"Cookie: a", "Authorization: a", "X-Api-Key: a", "X-Forwarded-For: 1", "X-User: a",
        "From: a@b", "Acceptx: a", "Proxy-Authorization: a", "baggage: user=1", "Content-Length: 0",
        "X-Real-IP: 1", "Referer: x", "Sec-Fetch-Site: cross-site"}) {
    EXPECT_FALSE(TestRequest(line).facts().is_harmless) << line;
  }
}

TEST(RequestFactsTest, PragmaCountsWithoutCacheControl) {
  EXPECT_TRUE(TestRequest("Pragma: x, No-Cache").facts().control.no_cache.is_present());
  EXPECT_FALSE(TestRequest("Pragma: no-cached").facts().control.no_cache.is_present());
  EXPECT_FALSE(TestRequest("Pragma: no-cache|Cache-Control: max-age=5")
                   .facts()
                   .control.no_cache.is_present());
}

// -- Rules of RFC 9111.

TEST(Rfc9111StoreTest, AResponseWithALifetimeIsStoredOnItsTerms) {
  const TestRequest request;
  const TestResponse response("Cache-Control: max-age=60, stale-if-error=5|Age: 7");
  const StoreDecision decision = Decide(request, response);
  ASSERT_TRUE(decision.is_stored());
  EXPECT_EQ(decision.terms.lifetime_s, 60u);
  EXPECT_EQ(decision.terms.initial_age_s, 7u);
  EXPECT_EQ(decision.terms.if_error_s, 5u);
  EXPECT_EQ(decision.terms.stored_ms, 5'000u);
  EXPECT_EQ(decision.terms.flags, 0u);
  EXPECT_TRUE(Decide(request, TestResponse("Cache-Control: public, max-age=1"))
                  .terms.Has(EntryTerms::kForCookies));
}

TEST(Rfc9111StoreTest, WhatIsNotFinalOrNotWholeIsNotStored) {
  constexpr std::string_view kFresh = "Cache-Control: max-age=60";
  for (int status = 200; status <= 599; ++status) {
    const Refusal wanted = status == 206                    ? Refusal::kPartial
                           : status == 304                  ? Refusal::kNotModified
                           : kAboutRequest.contains(status) ? Refusal::kStatus
                                                            : Refusal::kNone;
    EXPECT_EQ(Rfc("", kFresh, status), wanted) << status;
  }
  EXPECT_EQ(Rfc("", kFresh, 103), Refusal::kStatus);
  EXPECT_EQ(Rfc("", kFresh, 101), Refusal::kStatus);
  EXPECT_EQ(Rfc("", kFresh, 600), Refusal::kStatus);
  const char* const with_range = "Cache-Control: max-age=60|Content-Range: bytes 0-1/2";
  EXPECT_EQ(Rfc("", with_range, 206), Refusal::kPartial);
  EXPECT_EQ(Rfc("", with_range), Refusal::kNone);
  const TestRequest request;
  const TestResponse fresh(kFresh);
  ResponseShape shape;
  shape.is_complete = false;
  EXPECT_EQ(Decide(request, fresh, {}, {}, shape).refusal, Refusal::kIncomplete);
  shape = {};
  shape.has_trailers = true;
  EXPECT_EQ(Decide(request, fresh, {}, {}, shape).refusal, Refusal::kTrailers);
  shape = {};
  shape.bytes = StoreOptions().entry_bytes_max;
  EXPECT_EQ(Decide(request, fresh, {}, {}, shape).refusal, Refusal::kNone);
  ++shape.bytes;
  EXPECT_EQ(Decide(request, fresh, {}, {}, shape).refusal, Refusal::kTooLarge);
}

TEST(Rfc9111StoreTest, WhatIsAboutOneRequestIsNotStored) {
  for (const int status : kAboutRequest) {
    EXPECT_EQ(Rfc("", "Cache-Control: public, max-age=60", status), Refusal::kStatus) << status;
    EXPECT_EQ(Rfc("", "CDN-Cache-Control: max-age=60", status), Refusal::kStatus) << status;
    EXPECT_EQ(Rfc("", "Cache-Control: max-age=60, no-store, must-understand", status),
              Refusal::kStatus)
        << status;
    const TestRequest request;
    const TestResponse response("", status);
    EXPECT_EQ(Decide(request, response, {}, {PolicyKind::kTimeToLive, 5}).refusal, Refusal::kStatus)
        << status;
  }
}

TEST(Rfc9111StoreTest, WhatIsForOneUserIsNotStored) {
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=60|Set-Cookie: a=b"), Refusal::kSetCookie);
  EXPECT_EQ(Rfc("", "Cache-Control: public, max-age=60|set-cookie:"), Refusal::kSetCookie);
  EXPECT_EQ(Rfc("", "Cache-Control: private, max-age=60"), Refusal::kPrivate);
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=60|Cache-Control: public, PRIVATE"), Refusal::kPrivate);
  EXPECT_EQ(Rfc("", "Cache-Control: private=\"x\", max-age=60"), Refusal::kPrivate);
  EXPECT_EQ(Rfc("", "Cache-Control: no-store, max-age=60"), Refusal::kNoStore);
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=60|Vary: *"), Refusal::kVaryStar);
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=60|Vary: a|Vary: b, *"), Refusal::kVaryStar);
  EXPECT_EQ(Rfc("", "Cache-Control: public, max-age=60|Vary: Cookie"), Refusal::kVaryCredentials);
  EXPECT_EQ(Rfc("", "Cache-Control: public, max-age=60|Vary: Authorization"),
            Refusal::kVaryCredentials);
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=60|Vary: a b"), Refusal::kVaryNames);
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=60|Vary: Accept"), Refusal::kNone);
}

TEST(Rfc9111StoreTest, TheFieldThatDecidesHasTheLastWord) {
  EXPECT_EQ(Rfc("", "Cache-Control: no-store|CDN-Cache-Control: max-age=60"), Refusal::kNone);
  EXPECT_EQ(Rfc("", "Cache-Control: private|CDN-Cache-Control: max-age=60"), Refusal::kNone);
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=60|CDN-Cache-Control: no-store"), Refusal::kNoStore);
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=60|CDN-Cache-Control: private"), Refusal::kPrivate);
  EXPECT_EQ(Rfc("", "Cache-Control: no-store|CDN-Cache-Control: max-age=60, &"), Refusal::kNoStore);
  EXPECT_EQ(Rfc("", "CDN-Cache-Control: max-age=\"60\""), Refusal::kStale);
  EXPECT_EQ(Rfc("", "CDN-Cache-Control: max-age=60|Set-Cookie: a"), Refusal::kSetCookie);
  EXPECT_EQ(Rfc("Cookie: a", "Cache-Control: public|CDN-Cache-Control: max-age=60"),
            Refusal::kCookie);
}

TEST(Rfc9111StoreTest, OnlyATargetedLifetimeOverridesPrivateAndNoStore) {
  StoreOptions guesses;
  guesses.freshness.allows_heuristics = true;
  const std::string old = "|Last-Modified: Fri, 27 Nov 2026 11:00:00 GMT|CDN-Cache-Control: ";
  for (const char* targeted : {"stale-if-error=60", "foo", "public", "must-understand",
                               "max-age=\"60\", stale-if-error=60", "s-maxage=?1"}) {
    EXPECT_EQ(Rfc("", "Cache-Control: private" + old + targeted, 200, guesses), Refusal::kPrivate)
        << targeted;
    EXPECT_EQ(Rfc("", "Cache-Control: no-store" + old + targeted, 200, guesses), Refusal::kNoStore)
        << targeted;
  }
  EXPECT_EQ(Rfc("", "Cache-Control: no-store, must-understand" + old + "foo", 200, guesses),
            Refusal::kNoStore);
  EXPECT_EQ(Rfc("", "Cache-Control: must-understand" + old + "foo", 499, guesses),
            Refusal::kStatus);
  EXPECT_EQ(Rfc("", "Cache-Control: private|CDN-Cache-Control: s-maxage=60"), Refusal::kNone);
  const TestRequest request;
  const TestResponse response("Cache-Control: private|CDN-Cache-Control: stale-if-error=60");
  EXPECT_EQ(Decide(request, response, {}, {PolicyKind::kTimeToLive, 5}).refusal, Refusal::kPrivate);
}

TEST(Rfc9111StoreTest, OtherRestrictionsOfCacheControlStayWithoutATargetedLifetime) {
  StoreOptions guesses;
  guesses.freshness.allows_heuristics = true;
  guesses.freshness.stale = {30, 30};
  const TestRequest request;
  const std::string old = "Last-Modified: Fri, 27 Nov 2026 11:00:00 GMT|";
  for (const char* line : {"must-revalidate", "proxy-revalidate", "no-cache"}) {
    const std::string control = old + "Cache-Control: " + line + "|CDN-Cache-Control: ";
    const StoreDecision kept = Decide(request, TestResponse(control + "foo"), guesses);
    ASSERT_TRUE(kept.is_stored()) << line;
    EXPECT_TRUE(kept.terms.Has(EntryTerms::kForbidsStale)) << line;
    const StoreDecision replaced = Decide(request, TestResponse(control + "max-age=9"), guesses);
    ASSERT_TRUE(replaced.is_stored()) << line;
    EXPECT_FALSE(replaced.terms.Has(EntryTerms::kForbidsStale)) << line;
  }
  // Nothing that Cache-Control allows is left.
  EXPECT_EQ(Rfc("", "Cache-Control: public, max-age=60|CDN-Cache-Control: foo"),
            Refusal::kNoFreshness);
}

TEST(Rfc9111StoreTest, NoLifetimeIsGuessedForAGarbledFieldOrPragma) {
  StoreOptions guesses;
  guesses.freshness.allows_heuristics = true;
  const std::string old = "Last-Modified: Fri, 27 Nov 2026 11:00:00 GMT|";
  EXPECT_EQ(Rfc("", old + "Cache-Control: public; no-store", 200, guesses), Refusal::kGarbled);
  EXPECT_EQ(Rfc("", old + "CDN-Cache-Control: no-store &", 200, guesses), Refusal::kGarbled);
  EXPECT_EQ(Rfc("", old + "Pragma: no-cache", 200, guesses), Refusal::kPragma);
  EXPECT_EQ(Rfc("", "ETag: \"a\"|Cache-Control: no-cache; private"), Refusal::kGarbled);
  // A response that names a lifetime asks for it.
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=60, x y"), Refusal::kNone);
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=60|Pragma: no-cache"), Refusal::kNone);
  EXPECT_EQ(Rfc("", "ETag: \"a\"|Cache-Control: no-cache|Pragma: no-cache"), Refusal::kNone);
}

TEST(Rfc9111StoreTest, CookiesNeedPublicOrAPolicy) {
  EXPECT_EQ(Rfc("Cookie: a", "Cache-Control: max-age=60"), Refusal::kCookie);
  EXPECT_EQ(Rfc("Cookie: a", "Cache-Control: s-maxage=60"), Refusal::kCookie);
  EXPECT_EQ(Rfc("Cookie: a", "Cache-Control: public, max-age=60"), Refusal::kNone);
  EXPECT_EQ(Rfc("Cookie: a", "Cache-Control: public=1, max-age=60"), Refusal::kCookie);
  const TestRequest request("Cookie: a");
  const TestResponse response;
  const StoreDecision decision = Decide(request, response, {}, {PolicyKind::kTimeToLive, 5});
  ASSERT_TRUE(decision.is_stored());
  EXPECT_TRUE(decision.terms.Has(EntryTerms::kForCookies));
  EXPECT_EQ(decision.terms.lifetime_s, 5u);
}

TEST(Rfc9111StoreTest, RequestsThatDoNotFillDoNotFill) {
  constexpr std::string_view kFresh = "Cache-Control: public, max-age=60";
  EXPECT_EQ(Rfc("Authorization: a", kFresh), Refusal::kAuthorization);
  EXPECT_EQ(Rfc("Range: bytes=0-1", kFresh), Refusal::kRange);
  EXPECT_EQ(Rfc("Cache-Control: no-store", kFresh), Refusal::kRequestNoStore);
  EXPECT_EQ(Rfc("If-Match: \"a\"", kFresh), Refusal::kPrecondition);
  EXPECT_EQ(Decide(TestRequest("", "POST"), TestResponse(kFresh)).refusal, Refusal::kMethod);
  EXPECT_EQ(Decide(TestRequest("", "HEAD"), TestResponse(kFresh)).refusal, Refusal::kHead);
  EXPECT_EQ(Decide(TestRequest("", "GET", "/", true), TestResponse(kFresh)).refusal,
            Refusal::kClientCertificate);
}

TEST(Rfc9111StoreTest, FreshnessMustBeExplicit) {
  EXPECT_EQ(Rfc("", ""), Refusal::kNoFreshness);
  EXPECT_EQ(Rfc("", "Cache-Control: public"), Refusal::kNoFreshness);
  EXPECT_EQ(Rfc("", "Last-Modified: Fri, 27 Nov 2026 11:00:00 GMT"), Refusal::kNoFreshness);
  StoreOptions guesses;
  guesses.freshness.allows_heuristics = true;
  EXPECT_EQ(Rfc("", "Last-Modified: Fri, 27 Nov 2026 11:00:00 GMT", 200, guesses), Refusal::kNone);
  EXPECT_EQ(Rfc("", "Expires: Fri, 27 Nov 2026 12:00:01 GMT"), Refusal::kNone);
}

TEST(Rfc9111StoreTest, AStaleResponseIsStoredIfItCanBeOfUse) {
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=0"), Refusal::kStale);
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=60|Age: 60"), Refusal::kStale);
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=60|Age: 59"), Refusal::kNone);
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=0|ETag: \"a\""), Refusal::kNone);
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=0, stale-while-revalidate=5"), Refusal::kNone);
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=0, stale-if-error=5|Age: 5"), Refusal::kStale);
  EXPECT_EQ(Rfc("", "Cache-Control: no-cache, max-age=60"), Refusal::kNoCache);
  const StoreDecision decision =
      Decide(TestRequest(), TestResponse("Cache-Control: no-cache|ETag: \"a\""));
  ASSERT_TRUE(decision.is_stored());
  EXPECT_TRUE(decision.terms.Has(EntryTerms::kAlwaysRevalidates));
}

TEST(Rfc9111StoreTest, MustUnderstandOverridesNoStoreForKnownStatuses) {
  constexpr std::string_view kBoth = "Cache-Control: max-age=60, no-store, must-understand";
  EXPECT_EQ(Rfc("", kBoth, 200), Refusal::kNone);
  EXPECT_EQ(Rfc("", kBoth, 599), Refusal::kNoStore);
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=60, must-understand", 599), Refusal::kStatus);
  EXPECT_EQ(Rfc("", "Cache-Control: max-age=60, no-store, must-understand=1", 200),
            Refusal::kNoStore);
}

// -- Rules of HTTP.SYS, in the order of their table in the design.

TEST(HttpSysStoreTest, APolicyNeedsAContentType) {
  const StoreDecision decision = HttpSys("", "", {PolicyKind::kTimeToLive, 10});
  ASSERT_TRUE(decision.is_stored());
  EXPECT_EQ(decision.terms.lifetime_s, 10u);
  EXPECT_EQ(decision.terms.initial_age_s, 0u);
  EXPECT_TRUE(decision.terms.Has(EntryTerms::kHttpSysRules));
  const std::string date = "Date: " + std::string(kNowText);
  EXPECT_EQ(
      Decide(TestRequest(), TestResponse(date), HttpSysOptions(), {PolicyKind::kTimeToLive, 10})
          .refusal,
      Refusal::kContentType);
}

TEST(HttpSysStoreTest, ATimeOfZeroIsNotKeptAndTheLongestIs) {
  EXPECT_EQ(HttpSys("", "", {PolicyKind::kTimeToLive, 0}).refusal, Refusal::kStale);
  EXPECT_EQ(HttpSys("", "", {PolicyKind::kTimeToLive, 0}, 60).refusal, Refusal::kStale);
  EXPECT_EQ(HttpSys("", "", {PolicyKind::kTimeToLive, UINT32_MAX}).terms.lifetime_s, 2147483648u);
}

TEST(HttpSysStoreTest, UserInvalidatesIsGoodUntilItIsFlushed) {
  const StoreDecision decision = HttpSys("", "", {PolicyKind::kUserInvalidates, 0});
  ASSERT_TRUE(decision.is_stored());
  EXPECT_EQ(Judge(decision.terms, {}, {}, UINT64_MAX / 2).verdict, Verdict::kFresh);
}

TEST(HttpSysStoreTest, OnlyWhatCameInOnePieceIsKept) {
  ResponseShape shape;
  shape.is_one_piece = false;
  EXPECT_EQ(HttpSys("", "", {PolicyKind::kTimeToLive, 10}, 0, 200, shape).refusal,
            Refusal::kSeveralWrites);
}

TEST(HttpSysStoreTest, EveryFinalStatusButPartsAndNotModifiedIsKept) {
  for (int status = 200; status <= 599; ++status) {
    const bool is_kept = HttpSys("", "", {PolicyKind::kTimeToLive, 10}, 0, status).is_stored();
    EXPECT_EQ(is_kept, status != 206 && status != 304) << status;
  }
}

TEST(HttpSysStoreTest, PoliciesDoNotOverrideSafety) {
  const ResponsePolicy policy{PolicyKind::kTimeToLive, 10};
  EXPECT_EQ(HttpSys("Authorization: a", "", policy).refusal, Refusal::kAuthorization);
  EXPECT_EQ(HttpSys("", "Set-Cookie: a", policy).refusal, Refusal::kSetCookie);
  EXPECT_EQ(HttpSys("", "Cache-Control: no-store", policy).refusal, Refusal::kNoStore);
  EXPECT_EQ(HttpSys("", "Cache-Control: private", policy).refusal, Refusal::kPrivate);
  EXPECT_EQ(HttpSys("", "Vary: *", policy).refusal, Refusal::kVaryStar);
  EXPECT_EQ(HttpSys("", "Vary: Accept", policy).refusal, Refusal::kNone);
  EXPECT_EQ(HttpSys("Cookie: a", "", policy).refusal, Refusal::kNone);
}

TEST(HttpSysStoreTest, RequestsWithRangesBodiesAndTranslateDoNotFill) {
  const ResponsePolicy policy{PolicyKind::kTimeToLive, 10};
  EXPECT_EQ(HttpSys("Range: bytes=0-1", "", policy).refusal, Refusal::kRange);
  EXPECT_EQ(HttpSys("If-Range: x", "", policy).refusal, Refusal::kRange);
  EXPECT_EQ(HttpSys("Content-Length: 1", "", policy).refusal, Refusal::kBody);
  EXPECT_EQ(HttpSys("Translate: f", "", policy).refusal, Refusal::kTranslate);
  EXPECT_EQ(HttpSys("Expect: x", "", policy).refusal, Refusal::kExpect);
  EXPECT_EQ(HttpSys("Expect: 100-continue", "", policy).refusal, Refusal::kNone);
  for (const char* ignored : {"Cache-Control: no-cache", "Cache-Control: max-age=0",
                              "Cache-Control: min-fresh=9", "Pragma: no-cache"}) {
    EXPECT_EQ(HttpSys(ignored, "", policy).refusal, Refusal::kNone) << ignored;
  }
}

TEST(HttpSysStoreTest, DateAndLastModifiedMustBeReadable) {
  const ResponsePolicy policy{PolicyKind::kTimeToLive, 10};
  EXPECT_EQ(
      Decide(TestRequest(), TestResponse("Content-Type: a"), HttpSysOptions(), policy).refusal,
      Refusal::kDate);
  EXPECT_EQ(HttpSys("", "Last-Modified: now", policy).refusal, Refusal::kLastModified);
  EXPECT_EQ(HttpSys("", "Last-Modified: Fri, 27 Nov 2026 11:00:00 GMT", policy).refusal,
            Refusal::kNone);
}

TEST(HttpSysStoreTest, TheHeaderRuleNeedsPublicAndALifetime) {
  EXPECT_EQ(HttpSys("", "").refusal, Refusal::kNoPolicy);
  EXPECT_EQ(HttpSys("", "Cache-Control: public").refusal, Refusal::kNoPolicy);
  EXPECT_EQ(HttpSys("", "Cache-Control: max-age=10").refusal, Refusal::kNotPublic);
  EXPECT_EQ(HttpSys("", "Expires: Fri, 27 Nov 2026 12:00:10 GMT").refusal, Refusal::kNotPublic);
  EXPECT_EQ(HttpSys("", "Cache-Control: public|Expires: 0").refusal, Refusal::kStale);
  EXPECT_EQ(HttpSys("", "Cache-Control: public|Expires: -1").refusal, Refusal::kStale);
  EXPECT_EQ(HttpSys("", "Cache-Control: public, max-age=0").refusal, Refusal::kStale);
  EXPECT_EQ(HttpSys("", "Cache-Control: public, s-maxage=9, max-age=5").terms.lifetime_s, 9u);
  EXPECT_EQ(HttpSys("", "Cache-Control: public, max-age=5|Expires: Fri, 27 Nov 2026 12:00:10 GMT")
                .terms.lifetime_s,
            5u);
  EXPECT_EQ(
      HttpSys("", "Cache-Control: public|Expires: Fri, 27 Nov 2026 12:00:10 GMT").terms.lifetime_s,
      10u);
  EXPECT_TRUE(HttpSys("Cookie: a", "Cache-Control: public, max-age=5").is_stored());
}

TEST(HttpSysStoreTest, TheHeaderRuleRefusesCookiesVariantsAndPragma) {
  EXPECT_EQ(HttpSys("", "Cache-Control: public, max-age=5|Set-Cookie: a").refusal,
            Refusal::kSetCookie);
  EXPECT_EQ(HttpSys("", "Cache-Control: public, max-age=5|Vary: Accept").refusal, Refusal::kVary);
  EXPECT_EQ(HttpSys("", "Cache-Control: public, max-age=5|Pragma: x").refusal, Refusal::kPragma);
  EXPECT_EQ(HttpSys("", "Cache-Control: public, max-age=5, no-cache").refusal, Refusal::kNoCache);
}

TEST(HttpSysStoreTest, WhatIsAboutOneRequestNeedsAPolicy) {
  for (const int status : kAboutRequest) {
    EXPECT_EQ(HttpSys("", "Cache-Control: public, max-age=60", {}, 0, status).refusal,
              Refusal::kStatus)
        << status;
    EXPECT_EQ(HttpSys("", "", {}, 60, status).refusal, Refusal::kErrorStatus) << status;
    EXPECT_TRUE(HttpSys("", "", {PolicyKind::kTimeToLive, 10}, 0, status).is_stored()) << status;
  }
  EXPECT_TRUE(HttpSys("", "Cache-Control: public, max-age=60", {}, 0, 404).is_stored());
}

TEST(HttpSysStoreTest, TheDefaultTimeIsForHarmlessRequestsAndSuccess) {
  const StoreDecision decision = HttpSys("Accept: */*", "", {}, 60);
  ASSERT_TRUE(decision.is_stored());
  EXPECT_EQ(decision.terms.lifetime_s, 60u);
  EXPECT_TRUE(decision.terms.Has(EntryTerms::kForHarmless));
  EXPECT_FALSE(decision.terms.Has(EntryTerms::kForCookies));
  EXPECT_TRUE(HttpSys("", "", {}, 60, 301).is_stored());
  for (const int status : {400, 401, 404, 499, 500, 503, 599}) {
    EXPECT_EQ(HttpSys("", "", {}, 60, status).refusal, Refusal::kErrorStatus) << status;
  }
  for (const char* line : {"Cookie: a", "X-Api-Key: a", "X-Forwarded-For: 1", "Foo: a"}) {
    EXPECT_EQ(HttpSys(line, "", {}, 60).refusal, Refusal::kRequestField) << line;
  }
  EXPECT_EQ(HttpSys("Authorization: a", "", {}, 60).refusal, Refusal::kAuthorization);
}

TEST(HttpSysStoreTest, TheDefaultTimeDoesNotOverrideTheResponse) {
  EXPECT_EQ(HttpSys("", "Set-Cookie: a", {}, 60).refusal, Refusal::kSetCookie);
  EXPECT_EQ(HttpSys("", "Cache-Control: private", {}, 60).refusal, Refusal::kPrivate);
  EXPECT_EQ(HttpSys("", "Cache-Control: no-store", {}, 60).refusal, Refusal::kNoStore);
  EXPECT_EQ(HttpSys("", "Cache-Control: no-cache", {}, 60).refusal, Refusal::kNoCache);
  EXPECT_EQ(HttpSys("", "Cache-Control: max-age=0", {}, 60).refusal, Refusal::kStale);
  EXPECT_EQ(HttpSys("", "Cache-Control: max-age=5", {}, 60).terms.lifetime_s, 5u);
  EXPECT_EQ(HttpSys("", "Cache-Control: max-age=99", {}, 60).terms.lifetime_s, 60u);
  EXPECT_EQ(HttpSys("", "Vary: Cookie", {}, 60).refusal, Refusal::kVaryCredentials);
  EXPECT_EQ(HttpSys("", "Pragma: no-cache", {}, 60).refusal, Refusal::kPragma);
}

TEST(HttpSysStoreTest, TheDefaultTimeIsNotForAGarbledField) {
  for (const char* text : {"public; max-age=60; no-store", "max-age=60 private", "=private",
                           "max-age=60\tno-store", "x=\"y, max-age=60, private"}) {
    EXPECT_EQ(HttpSys("", "Cache-Control: " + std::string(text), {}, 60).refusal, Refusal::kGarbled)
        << text;
  }
  EXPECT_EQ(HttpSys("", "CDN-Cache-Control: no-store &", {}, 60).refusal, Refusal::kGarbled);
  EXPECT_TRUE(HttpSys("", "Cache-Control: x=\"a\\\"b, c\", max-age=60", {}, 60).is_stored());
  EXPECT_TRUE(HttpSys("", "Cache-Control: public, max-age=60, x y").is_stored());
}

TEST(HttpSysStoreTest, TheTargetedFieldAllowsNothingAndForbids) {
  const ResponsePolicy policy{PolicyKind::kTimeToLive, 10};
  for (const char* targeted : {"max-age=60", "stale-if-error=60", "foo"}) {
    const std::string line = "|CDN-Cache-Control: " + std::string(targeted);
    EXPECT_EQ(HttpSys("", "Cache-Control: private" + line, {}, 60).refusal, Refusal::kPrivate);
    EXPECT_EQ(HttpSys("", "Cache-Control: no-store" + line, {}, 60).refusal, Refusal::kNoStore);
    EXPECT_EQ(HttpSys("", "Cache-Control: no-cache" + line, {}, 60).refusal, Refusal::kNoCache);
    EXPECT_EQ(HttpSys("", "Cache-Control: private" + line, policy).refusal, Refusal::kPrivate);
    EXPECT_EQ(HttpSys("", "Cache-Control: public, max-age=5" + line).terms.lifetime_s, 5u);
  }
  EXPECT_EQ(HttpSys("", "CDN-Cache-Control: public, max-age=60").refusal, Refusal::kNoPolicy);
  EXPECT_EQ(HttpSys("", "CDN-Cache-Control: private", {}, 60).refusal, Refusal::kPrivate);
  EXPECT_EQ(HttpSys("", "CDN-Cache-Control: no-store", policy).refusal, Refusal::kNoStore);
  EXPECT_EQ(HttpSys("",
                    "Cache-Control: public|Expires: Fri, 27 Nov 2026 12:00:10 GMT|"
                    "CDN-Cache-Control: foo")
                .terms.lifetime_s,
            10u);
}

}  // namespace
}  // namespace httpsys::cache
