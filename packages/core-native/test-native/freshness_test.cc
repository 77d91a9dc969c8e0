#include "cache/freshness.h"

#include <gtest/gtest.h>

#include "support/cache_messages.h"

namespace httpsys::cache {
namespace {

using semantics::CacheControl;
using Source = Lifetime::Source;

CacheControl Directives(std::string_view value) {
  CacheControl control;
  if (!value.empty()) semantics::ReadCacheControl(value, &control);
  return control;
}

// Seconds of the lifetime, -1 without one.
int64_t LifetimeSeconds(std::string_view lines, bool allows_heuristics = false, int status = 200) {
  const TestResponse response(lines, status);
  const Lifetime lifetime = LifetimeOf(response.facts(), kNowS, allows_heuristics);
  return lifetime.source == Source::kNone ? -1 : int64_t{lifetime.seconds};
}

TEST(LifetimeTest, TheFieldThatDecidesIsTheMostSpecificOne) {
  EXPECT_EQ(LifetimeSeconds(""), -1);
  EXPECT_EQ(LifetimeSeconds("Cache-Control: public"), -1);
  EXPECT_EQ(LifetimeSeconds("Expires: Fri, 27 Nov 2026 12:01:00 GMT"), 60);
  EXPECT_EQ(LifetimeSeconds("Cache-Control: max-age=5|Expires: Fri, 27 Nov 2026 12:01:00 GMT"), 5);
  EXPECT_EQ(LifetimeSeconds("Cache-Control: s-maxage=7, max-age=5"), 7);
  EXPECT_EQ(LifetimeSeconds("Cache-Control: s-maxage=7|CDN-Cache-Control: max-age=9"), 9);
  EXPECT_EQ(LifetimeSeconds("Cache-Control: no-store, s-maxage=7|CDN-Cache-Control: public"), -1);
  EXPECT_EQ(LifetimeSeconds("CDN-Cache-Control: public|Expires: Fri, 27 Nov 2026 12:01:00 GMT"),
            -1);
}

TEST(LifetimeTest, ATargetedFieldThatCannotBeReadIsIgnored) {
  EXPECT_EQ(LifetimeSeconds("Cache-Control: max-age=7|CDN-Cache-Control: MaX-aGe=9"), 7);
  EXPECT_EQ(LifetimeSeconds("Cache-Control: max-age=7|CDN-Cache-Control:"), 7);
  EXPECT_EQ(LifetimeSeconds("Cache-Control: max-age=7|CDN-Cache-Control: max-age=9|"
                            "CDN-Cache-Control: &"),
            7);
  EXPECT_EQ(LifetimeSeconds("Cache-Control: max-age=7|CDN-Cache-Control: max-age=\"9\""), 0);
}

TEST(LifetimeTest, WhatCannotBeReadIsStale) {
  EXPECT_EQ(LifetimeSeconds("Cache-Control: max-age=x"), 0);
  EXPECT_EQ(LifetimeSeconds("Cache-Control: s-maxage=x, max-age=60"), 0);
  EXPECT_EQ(LifetimeSeconds("Expires: 0"), 0);
  EXPECT_EQ(LifetimeSeconds("Expires: -1"), 0);
  EXPECT_EQ(LifetimeSeconds("Expires:"), 0);
  EXPECT_EQ(LifetimeSeconds("Expires: Fri, 27 Nov 2026 12:01:00 GMT|Expires: x"), 0);
  EXPECT_EQ(LifetimeSeconds("Expires: x|Expires: Fri, 27 Nov 2026 12:01:00 GMT"), 0);
  EXPECT_EQ(LifetimeSeconds("Expires: Fri, 27 Nov 2026 12:01:00 UTC"), 0);
}

TEST(LifetimeTest, ExpiresCountsFromTheDate) {
  EXPECT_EQ(LifetimeSeconds("Expires: Fri, 27 Nov 2026 12:01:00 GMT|"
                            "Date: Fri, 27 Nov 2026 12:00:50 GMT"),
            10);
  EXPECT_EQ(LifetimeSeconds("Expires: Fri, 27 Nov 2026 12:01:00 GMT|Date: x"), 60);
  EXPECT_EQ(LifetimeSeconds("Expires: Fri, 27 Nov 2026 11:59:00 GMT"), 0);
  EXPECT_EQ(LifetimeSeconds("Expires: FRI, 27 nov 2026 12:01:00 gMT"), 60);
  EXPECT_EQ(LifetimeSeconds("Expires: Fri, 27 Nov 2026 12:02:00 GMT|"
                            "Expires: Fri, 27 Nov 2026 12:01:00 GMT"),
            60);
}

TEST(LifetimeTest, NumbersAndDatesAreClamped) {
  EXPECT_EQ(LifetimeSeconds("Cache-Control: max-age=99999999999"), 2147483648);
  EXPECT_EQ(LifetimeSeconds("Expires: Fri, 31 Dec 9999 23:59:59 GMT|"
                            "Date: Sat, 01 Jan 0000 00:00:00 GMT"),
            2147483648);
}

TEST(LifetimeTest, GuessingIsAnOption) {
  constexpr std::string_view kHourOld = "Last-Modified: Fri, 27 Nov 2026 11:00:00 GMT";
  EXPECT_EQ(LifetimeSeconds(kHourOld), -1);
  EXPECT_EQ(LifetimeSeconds(kHourOld, true), 360);
  EXPECT_EQ(LifetimeSeconds(kHourOld, true, 404), 360);
  EXPECT_EQ(LifetimeSeconds(kHourOld, true, 201), -1);
  EXPECT_EQ(LifetimeSeconds("Cache-Control: public|" + std::string(kHourOld), true, 201), 360);
  EXPECT_EQ(LifetimeSeconds("Cache-Control: max-age=1|" + std::string(kHourOld), true), 1);
  EXPECT_EQ(LifetimeSeconds("Last-Modified: Thu, 27 Nov 1986 11:00:00 GMT", true), 24 * 3600);
  EXPECT_EQ(LifetimeSeconds("Last-Modified: Fri, 27 Nov 2026 13:00:00 GMT", true), 0);
  EXPECT_EQ(LifetimeSeconds("Last-Modified: yesterday", true), -1);
}

uint32_t AgeOf(std::string_view lines) { return InitialAge(TestResponse(lines).facts(), kNowS); }

TEST(InitialAgeTest, TheLargerOneOfDateAndAgeCounts) {
  EXPECT_EQ(AgeOf(""), 0u);
  EXPECT_EQ(AgeOf("Age: 30"), 30u);
  EXPECT_EQ(AgeOf("Date: Fri, 27 Nov 2026 11:59:00 GMT"), 60u);
  EXPECT_EQ(AgeOf("Date: Fri, 27 Nov 2026 11:59:00 GMT|Age: 30"), 60u);
  EXPECT_EQ(AgeOf("Date: Fri, 27 Nov 2026 11:59:00 GMT|Age: 90"), 90u);
  EXPECT_EQ(AgeOf("Date: Fri, 27 Nov 2026 12:01:00 GMT"), 0u);
  EXPECT_EQ(AgeOf("Date: yesterday|Age: 5"), 5u);
}

TEST(InitialAgeTest, TheFirstMemberOfAgeCountsIfItIsANumber) {
  EXPECT_EQ(AgeOf("Age: 7200, 0"), 7200u);
  EXPECT_EQ(AgeOf("Age: 0, 7200"), 0u);
  EXPECT_EQ(AgeOf("Age: 7200|Age: 0"), 7200u);
  EXPECT_EQ(AgeOf("Age: 0|Age: 7200"), 0u);
  EXPECT_EQ(AgeOf("Age: 99999999999"), 2147483648u);
  for (const char* age : {"abc", "-7200", "7200.0", "", "7200;foo=bar", "7 200", ", 5"}) {
    EXPECT_EQ(AgeOf("Age: " + std::string(age)), 0u) << age;
  }
}

EntryTerms TermsOf(std::string_view response, StaleWindows defaults = {}) {
  const CacheControl control = Directives(response);
  EntryTerms terms;
  terms.stored_ms = 1'000'000;
  terms.lifetime_s = control.s_maxage.is_valid()  ? control.s_maxage.seconds
                     : control.max_age.is_valid() ? control.max_age.seconds
                                                  : 0;
  SetStaleness(control, defaults, &terms);
  return terms;
}

Judgement JudgeAfter(const EntryTerms& terms, uint64_t ms, std::string_view request = {},
                     FreshnessOptions options = {}) {
  return Judge(terms, Directives(request), options, terms.stored_ms + ms);
}

TEST(JudgeTest, AnEntryIsFreshUntilItsAgeReachesItsLifetime) {
  EntryTerms terms = TermsOf("max-age=10");
  EXPECT_EQ(JudgeAfter(terms, 9'999).verdict, Verdict::kFresh);
  EXPECT_EQ(JudgeAfter(terms, 9'999).age_s, 9u);
  EXPECT_EQ(JudgeAfter(terms, 10'000).verdict, Verdict::kRevalidate);
  terms.initial_age_s = 4;
  EXPECT_EQ(JudgeAfter(terms, 5'999).verdict, Verdict::kFresh);
  EXPECT_EQ(JudgeAfter(terms, 6'000).verdict, Verdict::kRevalidate);
  // A clock that seems to go back.
  EXPECT_EQ(Judge(terms, {}, {}, 0).age_s, 4u);
}

TEST(JudgeTest, DirectivesOfRequestsDemandYoungerAnswers) {
  const EntryTerms terms = TermsOf("max-age=10");
  EXPECT_EQ(JudgeAfter(terms, 5'000, "max-age=5").verdict, Verdict::kFresh);
  EXPECT_EQ(JudgeAfter(terms, 5'001, "max-age=5").verdict, Verdict::kRevalidate);
  EXPECT_EQ(JudgeAfter(terms, 1, "max-age=0").verdict, Verdict::kRevalidate);
  EXPECT_EQ(JudgeAfter(terms, 1, "max-age=x").verdict, Verdict::kFresh);
  EXPECT_EQ(JudgeAfter(terms, 1, "no-cache").verdict, Verdict::kRevalidate);
  EXPECT_EQ(JudgeAfter(terms, 4'000, "min-fresh=6").verdict, Verdict::kFresh);
  EXPECT_EQ(JudgeAfter(terms, 4'001, "min-fresh=6").verdict, Verdict::kRevalidate);
  FreshnessOptions options;
  options.ignores_reload = true;
  EXPECT_EQ(JudgeAfter(terms, 5'000, "no-cache, max-age=0, min-fresh=9", options).verdict,
            Verdict::kFresh);
}

TEST(JudgeTest, OnlyIfCachedIsNeverForwarded) {
  const EntryTerms terms = TermsOf("max-age=10");
  EXPECT_EQ(JudgeAfter(terms, 1'000, "only-if-cached").verdict, Verdict::kFresh);
  EXPECT_EQ(JudgeAfter(terms, 11'000, "only-if-cached").verdict, Verdict::kUnsatisfiable);
}

TEST(JudgeTest, MaxStaleAcceptsStaleAnswersUnlessTheResponseForbidsThem) {
  const EntryTerms terms = TermsOf("max-age=10");
  EXPECT_EQ(JudgeAfter(terms, 15'000, "max-stale=5").verdict, Verdict::kStaleAccepted);
  EXPECT_EQ(JudgeAfter(terms, 15'001, "max-stale=5").verdict, Verdict::kRevalidate);
  EXPECT_EQ(JudgeAfter(terms, 99'000, "max-stale").verdict, Verdict::kStaleAccepted);
  EXPECT_EQ(JudgeAfter(terms, 99'000, "max-stale=x").verdict, Verdict::kRevalidate);
  for (const char* response : {"max-age=10, must-revalidate", "max-age=10, proxy-revalidate",
                               "s-maxage=10", "s-maxage=10, stale-while-revalidate=2"}) {
    EXPECT_EQ(JudgeAfter(TermsOf(response), 15'000, "max-stale").verdict, Verdict::kRevalidate)
        << response;
  }
}

TEST(JudgeTest, StaleWhileRevalidateLetsOneRefreshHappenBehindTheAnswer) {
  const EntryTerms terms = TermsOf("max-age=10, stale-while-revalidate=5");
  EXPECT_EQ(JudgeAfter(terms, 9'000).verdict, Verdict::kFresh);
  EXPECT_EQ(JudgeAfter(terms, 15'000).verdict, Verdict::kStale);
  EXPECT_EQ(JudgeAfter(terms, 15'001).verdict, Verdict::kRevalidate);
  EXPECT_EQ(JudgeAfter(terms, 12'000, "no-cache").verdict, Verdict::kRevalidate);
  EXPECT_EQ(JudgeAfter(TermsOf("max-age=10, stale-while-revalidate=x"), 10'001).verdict,
            Verdict::kRevalidate);
}

TEST(JudgeTest, ErrorsAreAnsweredWithinTheirWindow) {
  const EntryTerms terms = TermsOf("max-age=10, stale-if-error=5");
  EXPECT_TRUE(JudgeAfter(terms, 15'000).may_answer_errors);
  EXPECT_EQ(JudgeAfter(terms, 15'000).verdict, Verdict::kRevalidate);
  EXPECT_FALSE(JudgeAfter(terms, 15'001).may_answer_errors);
  EXPECT_FALSE(JudgeAfter(TermsOf("max-age=10"), 11'000).may_answer_errors);
}

TEST(JudgeTest, FailuresAreThoseThatAnotherTryCouldMend) {
  for (const int status : {500, 502, 503, 504})
    EXPECT_TRUE(IsFailure(static_cast<uint16_t>(status)));
  for (const int status : {200, 304, 404, 499, 501, 505}) {
    EXPECT_FALSE(IsFailure(static_cast<uint16_t>(status))) << status;
  }
}

TEST(JudgeTest, DefaultWindowsApplyToResponsesThatNameNone) {
  const StaleWindows defaults{5, 7};
  EXPECT_EQ(JudgeAfter(TermsOf("max-age=10", defaults), 15'000).verdict, Verdict::kStale);
  EXPECT_TRUE(JudgeAfter(TermsOf("max-age=10", defaults), 17'000).may_answer_errors);
  EXPECT_EQ(JudgeAfter(TermsOf("max-age=10, stale-while-revalidate=0", defaults), 11'000).verdict,
            Verdict::kRevalidate);
}

TEST(JudgeTest, ResponsesCanForbidStaleAnswers) {
  const StaleWindows defaults{100, 100};
  for (const char* response :
       {"max-age=10, must-revalidate, stale-while-revalidate=9, stale-if-error=9",
        "max-age=10, proxy-revalidate, stale-while-revalidate=9, stale-if-error=9",
        "max-age=10, no-cache, stale-while-revalidate=9, stale-if-error=9", "s-maxage=10"}) {
    const Judgement judgement = JudgeAfter(TermsOf(response, defaults), 11'000);
    EXPECT_EQ(judgement.verdict, Verdict::kRevalidate) << response;
    EXPECT_FALSE(judgement.may_answer_errors) << response;
  }
  const EntryTerms named = TermsOf("s-maxage=10, stale-while-revalidate=9", defaults);
  EXPECT_EQ(JudgeAfter(named, 11'000).verdict, Verdict::kStale);
  EXPECT_FALSE(JudgeAfter(named, 11'000).may_answer_errors);
}

TEST(JudgeTest, NoCacheAsksTheApplicationEachTime) {
  const EntryTerms terms = TermsOf("max-age=10, no-cache");
  EXPECT_EQ(JudgeAfter(terms, 1).verdict, Verdict::kRevalidate);
  EXPECT_EQ(JudgeAfter(TermsOf("max-age=10, no-cache=\"a\""), 1).verdict, Verdict::kRevalidate);
}

TEST(JudgeTest, EntriesOfHttpSysRulesKnowNoDirectivesOfRequests) {
  EntryTerms terms;
  terms.lifetime_s = 10;
  terms.flags = EntryTerms::kHttpSysRules;
  for (const char* request : {"no-cache", "max-age=0", "min-fresh=99", "only-if-cached"}) {
    EXPECT_EQ(JudgeAfter(terms, 9'000, request).verdict, Verdict::kFresh) << request;
    EXPECT_EQ(JudgeAfter(terms, 10'000, request).verdict, Verdict::kRevalidate) << request;
  }
  terms.flags |= EntryTerms::kNeverExpires;
  EXPECT_EQ(JudgeAfter(terms, UINT64_MAX / 2, "").verdict, Verdict::kFresh);
}

TEST(JudgeTest, AnyContentsOfAnEntryGiveAJudgement) {
  EntryTerms terms;
  terms.initial_age_s = terms.lifetime_s = UINT32_MAX;
  terms.while_revalidate_s = terms.if_error_s = UINT32_MAX;
  for (uint32_t flags = 0; flags < 128; ++flags) {
    terms.flags = flags;
    const Judgement judgement = Judge(terms, Directives("max-stale=1"), {}, UINT64_MAX);
    EXPECT_LE(judgement.age_s, semantics::kDeltaSecondsMax);
  }
}

}  // namespace
}  // namespace httpsys::cache
