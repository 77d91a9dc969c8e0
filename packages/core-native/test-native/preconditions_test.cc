#include "semantics/preconditions.h"

#include <gtest/gtest.h>

#include <string>

#include "semantics/http_date.h"
#include "semantics/list_members.h"

namespace httpsys::semantics {
namespace {

constexpr int64_t kModified = 784'111'777;  // Sun, 06 Nov 1994 08:49:37 GMT.
constexpr int64_t kNow = 1'795'910'400;
constexpr std::string_view kSame = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr std::string_view kEarlier = "Sun, 06 Nov 1994 08:49:36 GMT";
constexpr std::string_view kLater = "Sun, 06 Nov 1994 08:49:38 GMT";
constexpr std::string_view kTag = "\"a\"";
constexpr std::string_view kWeakTag = "W/\"a\"";

constexpr auto kPass = PreconditionOutcome::kPass;
constexpr auto kNotModified = PreconditionOutcome::kNotModified;
constexpr auto kFailed = PreconditionOutcome::kPreconditionFailed;
constexpr auto kGet = ConditionalMethod::kGet;
constexpr auto kHead = ConditionalMethod::kHead;
constexpr auto kOther = ConditionalMethod::kOther;

const Validators kStrong{kTag, kModified};
const Validators kWeak{kWeakTag, kModified};

PreconditionOutcome OutcomeOf(const ConditionFields& fields, ConditionalMethod method = kGet,
                              const Validators& validators = kStrong) {
  return EvaluatePreconditions(method, fields, validators, kNow).outcome;
}

bool RangeApplies(ConditionFields fields, ConditionalMethod method = kGet,
                  const Validators& validators = kStrong) {
  fields.has_range = true;
  return EvaluatePreconditions(method, fields, validators, kNow).range_applies;
}

TEST(Preconditions, WithoutFieldsTheMethodIsPerformed) {
  for (const auto method : {kGet, kHead, kOther}) EXPECT_EQ(OutcomeOf({}, method), kPass);
  EXPECT_FALSE(EvaluatePreconditions(kGet, {}, kStrong, kNow).range_applies);
}

TEST(Preconditions, IfMatchComparesStrongly) {
  for (const auto method : {kGet, kHead, kOther}) {
    EXPECT_EQ(OutcomeOf({.if_match = kTag}, method), kPass);
    EXPECT_EQ(OutcomeOf({.if_match = "\"b\", \"a\""}, method), kPass);
    EXPECT_EQ(OutcomeOf({.if_match = "\"b\""}, method), kFailed);
    EXPECT_EQ(OutcomeOf({.if_match = kWeakTag}, method), kFailed);
    EXPECT_EQ(OutcomeOf({.if_match = kTag}, method, kWeak), kFailed);
    EXPECT_EQ(OutcomeOf({.if_match = kWeakTag}, method, kWeak), kFailed);
  }
  EXPECT_EQ(OutcomeOf({.if_match = ""}), kFailed);
  EXPECT_EQ(OutcomeOf({.if_match = "a"}), kFailed);
}

TEST(Preconditions, IfMatchWithAnAsteriskNeedsNoTag) {
  EXPECT_EQ(OutcomeOf({.if_match = "*"}, kGet, {}), kPass);
  EXPECT_EQ(OutcomeOf({.if_match = kTag}, kGet, {}), kFailed);
  EXPECT_EQ(OutcomeOf({.if_match = "\"\""}, kGet, {}), kFailed);
  EXPECT_EQ(OutcomeOf({.if_match = "a"}, kGet, {.etag = "a", .last_modified_seconds = {}}), kFailed)
      << "an ETag that is malformed is none";
}

TEST(Preconditions, IfUnmodifiedSinceIsReadOnlyWithoutIfMatch) {
  EXPECT_EQ(OutcomeOf({.if_unmodified_since = kSame}), kPass);
  EXPECT_EQ(OutcomeOf({.if_unmodified_since = kLater}), kPass);
  EXPECT_EQ(OutcomeOf({.if_unmodified_since = kEarlier}), kFailed);
  EXPECT_EQ(OutcomeOf({.if_unmodified_since = kEarlier}, kOther), kFailed);
  EXPECT_EQ(OutcomeOf({.if_match = kTag, .if_unmodified_since = kEarlier}), kPass);
  EXPECT_EQ(OutcomeOf({.if_match = "\"b\"", .if_unmodified_since = kSame}), kFailed);
}

TEST(Preconditions, ADateThatCannotBeComparedCountsAsAbsent) {
  EXPECT_EQ(OutcomeOf({.if_unmodified_since = "yesterday"}), kPass);
  EXPECT_EQ(OutcomeOf({.if_unmodified_since = kEarlier}, kGet,
                      {.etag = kTag, .last_modified_seconds = {}}),
            kPass);
  EXPECT_EQ(OutcomeOf({.if_modified_since = "tomorrow"}), kPass);
  EXPECT_EQ(
      OutcomeOf({.if_modified_since = kLater}, kGet, {.etag = kTag, .last_modified_seconds = {}}),
      kPass);
  EXPECT_EQ(OutcomeOf({.if_modified_since =
                           "Sun, 06 Nov 1994 08:49:38 GMT, Sun, 06 Nov 1994 08:49:38 GMT"}),
            kPass);
}

TEST(Preconditions, IfNoneMatchComparesWeakly) {
  for (const auto& validators : {kStrong, kWeak}) {
    for (const auto& list :
         {kTag, kWeakTag, std::string_view("\"b\", W/\"a\""), std::string_view("*")}) {
      EXPECT_EQ(OutcomeOf({.if_none_match = list}, kGet, validators), kNotModified) << list;
      EXPECT_EQ(OutcomeOf({.if_none_match = list}, kHead, validators), kNotModified) << list;
      EXPECT_EQ(OutcomeOf({.if_none_match = list}, kOther, validators), kFailed) << list;
    }
    for (const char* list : {"", "\"b\"", "a", "W/\"b\", \"A\"", "x, \"a\""}) {
      EXPECT_EQ(OutcomeOf({.if_none_match = list}, kGet, validators), kPass) << list;
    }
  }
  EXPECT_EQ(OutcomeOf({.if_none_match = "*"}, kGet, {}), kNotModified);
}

TEST(Preconditions, IfModifiedSinceIsReadOnlyWithoutIfNoneMatchAndForGetAndHead) {
  EXPECT_EQ(OutcomeOf({.if_modified_since = kSame}), kNotModified);
  EXPECT_EQ(OutcomeOf({.if_modified_since = kLater}, kHead), kNotModified);
  EXPECT_EQ(OutcomeOf({.if_modified_since = kEarlier}), kPass);
  EXPECT_EQ(OutcomeOf({.if_modified_since = kLater}, kOther), kPass);
  EXPECT_EQ(OutcomeOf({.if_none_match = "\"b\"", .if_modified_since = kLater}), kPass);
  EXPECT_EQ(OutcomeOf({.if_none_match = kTag, .if_modified_since = kEarlier}), kNotModified);
}

TEST(Preconditions, AFailedPreconditionWinsOver304) {
  EXPECT_EQ(OutcomeOf({.if_match = "\"b\"", .if_none_match = kTag}), kFailed);
  EXPECT_EQ(OutcomeOf({.if_match = kTag, .if_none_match = kTag}), kNotModified);
  EXPECT_EQ(OutcomeOf({.if_unmodified_since = kEarlier, .if_modified_since = kLater}), kFailed);
}

TEST(Preconditions, AReloadIsNotAnsweredWith304) {
  EXPECT_EQ(OutcomeOf({.if_none_match = kTag, .is_reload = true}), kPass);
  EXPECT_EQ(OutcomeOf({.if_modified_since = kSame, .is_reload = true}), kPass);
  EXPECT_EQ(OutcomeOf({.if_match = "\"b\"", .is_reload = true}), kFailed);
  EXPECT_EQ(OutcomeOf({.if_none_match = kTag, .is_reload = true}, kOther), kFailed);
  EXPECT_TRUE(RangeApplies({.if_none_match = kTag, .is_reload = true}));
}

TEST(Preconditions, ARangeAppliesToGetThatPasses) {
  EXPECT_TRUE(RangeApplies({}));
  EXPECT_FALSE(RangeApplies({}, kHead));
  EXPECT_FALSE(RangeApplies({}, kOther));
  EXPECT_FALSE(RangeApplies({.if_none_match = kTag}));
  EXPECT_FALSE(RangeApplies({.if_match = "\"b\""}));
  EXPECT_TRUE(RangeApplies({.if_none_match = "\"b\""}));
}

TEST(Preconditions, IfRangeWithATagComparesStrongly) {
  EXPECT_TRUE(RangeApplies({.if_range = kTag}));
  EXPECT_TRUE(RangeApplies({.if_range = " \"a\" "}));
  EXPECT_FALSE(RangeApplies({.if_range = "\"b\""}));
  EXPECT_FALSE(RangeApplies({.if_range = kWeakTag}));
  EXPECT_FALSE(RangeApplies({.if_range = kTag}, kGet, kWeak));
  EXPECT_FALSE(RangeApplies({.if_range = kWeakTag}, kGet, kWeak));
  EXPECT_FALSE(RangeApplies({.if_range = kTag}, kGet, {}));
  EXPECT_FALSE(RangeApplies({.if_range = "\"b\", \"a\""})) << "no list";
  EXPECT_FALSE(RangeApplies({.if_range = "*"}));
  EXPECT_FALSE(RangeApplies({.if_range = ""}));
  EXPECT_FALSE(EvaluatePreconditions(kGet, {.if_range = kTag}, kStrong, kNow).range_applies);
}

TEST(Preconditions, IfRangeWithADateMustBeThatOfTheRepresentation) {
  EXPECT_TRUE(RangeApplies({.if_range = kSame}));
  EXPECT_TRUE(RangeApplies({.if_range = "Sunday, 06-Nov-94 08:49:37 GMT"}));
  EXPECT_TRUE(RangeApplies({.if_range = kSame}, kGet, kWeak));
  EXPECT_FALSE(RangeApplies({.if_range = kLater}));
  EXPECT_FALSE(RangeApplies({.if_range = kEarlier}));
  EXPECT_FALSE(RangeApplies({.if_range = "then"}));
  EXPECT_FALSE(
      RangeApplies({.if_range = kSame}, kGet, {.etag = kTag, .last_modified_seconds = {}}));
}

TEST(Preconditions, IfRangeWithTheDateOfThisSecondDoesNotApply) {
  const HttpDateText date = FormatHttpDate(kNow);
  const ConditionFields fields{.if_range = date.view(), .has_range = true};
  const Validators validators{kTag, kNow};
  EXPECT_FALSE(EvaluatePreconditions(kGet, fields, validators, kNow).range_applies);
  EXPECT_TRUE(EvaluatePreconditions(kGet, fields, validators, kNow + 1).range_applies);
}

TEST(Preconditions, IfRangeIsReadAfterTheOthers) {
  EXPECT_FALSE(RangeApplies({.if_none_match = "\"b\"", .if_range = "\"b\""}));
  EXPECT_EQ(OutcomeOf({.if_range = "\"b\"", .has_range = true}), kPass);
  EXPECT_EQ(OutcomeOf({.if_none_match = kTag, .if_range = "\"b\"", .has_range = true}),
            kNotModified);
}

TEST(HasNoCache, TheDirectiveAmongOthers) {
  for (const char* value :
       {"no-cache", "No-Cache", "max-age=0, no-cache", " no-cache ,x", ",no-cache,"}) {
    EXPECT_TRUE(HasNoCache(value)) << value;
  }
  for (const char* value : {"", "no-store", "no-cache-x", "xno-cache", "a=\"b, no-cache, c\"",
                            "no cache", "a=\"b\\\", no-cache, c\"", "no-cache=x"}) {
    EXPECT_FALSE(HasNoCache(value)) << value;
  }
}

TEST(ListMembers, CommasBetweenQuotesDoNotSplit) {
  ListMembers members(" ,a , \"b,c\";d ,, \"e\\\",f\", \"open, x");
  std::string all;
  std::string_view member;
  while (members.Next(&member)) all += std::string(member) + "|";
  EXPECT_EQ(all, "a|\"b,c\";d|\"e\\\",f\"|\"open, x|");
}

}  // namespace
}  // namespace httpsys::semantics
