#include "semantics/content_coding.h"

#include <gtest/gtest.h>

#include <string>

namespace httpsys::semantics {
namespace {

constexpr CodingSet kAll = {ContentCoding::kBr, ContentCoding::kZstd, ContentCoding::kGzip};
constexpr CodingSet kGzip = {ContentCoding::kGzip};

// The name of the choice, "refused" if there is none.
std::string Choose(std::optional<std::string_view> field, CodingSet available = kAll) {
  const std::optional<ContentCoding> coding = ChooseCoding(field, available);
  return coding.has_value() ? std::string(CodingName(*coding)) : "refused";
}

TEST(ChooseCoding, WithoutAFieldNothingIsCoded) {
  EXPECT_EQ(Choose(std::nullopt), "identity");
  EXPECT_EQ(Choose(""), "identity");
  EXPECT_EQ(Choose(" , "), "identity");
}

TEST(ChooseCoding, WhatABrowserSends) {
  EXPECT_EQ(Choose("gzip, deflate, br, zstd"), "br");
  EXPECT_EQ(Choose("gzip, deflate, br, zstd", {ContentCoding::kZstd, ContentCoding::kGzip}),
            "zstd");
  EXPECT_EQ(Choose("gzip, deflate"), "gzip");
  EXPECT_EQ(Choose("gzip, deflate, br, zstd", {}), "identity");
  EXPECT_EQ(Choose("deflate, compress"), "identity");
}

TEST(ChooseCoding, TheHighestWeightWins) {
  EXPECT_EQ(Choose("gzip;q=1.0, br;q=0.9"), "gzip");
  EXPECT_EQ(Choose("gzip;q=0.2, zstd;q=0.201, br;q=0.1"), "zstd");
  EXPECT_EQ(Choose("gzip;q=0.5, identity"), "identity");
  EXPECT_EQ(Choose("gzip;q=0.001"), "gzip") << "identity is only implied";
  EXPECT_EQ(Choose("identity, gzip"), "gzip") << "equal";
  EXPECT_EQ(Choose("identity;q=0.5, gzip;q=0.4"), "identity");
}

TEST(ChooseCoding, AWeightOf0Refuses) {
  EXPECT_EQ(Choose("br;q=0, gzip"), "gzip");
  EXPECT_EQ(Choose("gzip;q=0", kGzip), "identity");
  EXPECT_EQ(Choose("gzip;q=0.000", kGzip), "identity");
  EXPECT_EQ(Choose("identity;q=0", kGzip), "refused");
  EXPECT_EQ(Choose("identity;q=0, gzip", kGzip), "gzip");
  EXPECT_EQ(Choose("identity;q=0, br", kGzip), "refused");
}

TEST(ChooseCoding, AnAsteriskMeansWhatIsNotNamed) {
  EXPECT_EQ(Choose("*"), "br");
  EXPECT_EQ(Choose("*", kGzip), "gzip");
  EXPECT_EQ(Choose("br;q=0, *"), "zstd");
  EXPECT_EQ(Choose("*;q=0.5, gzip"), "gzip");
  EXPECT_EQ(Choose("*;q=0", kGzip), "refused");
  EXPECT_EQ(Choose("*;q=0, identity", kGzip), "identity");
  EXPECT_EQ(Choose("*;q=0, gzip;q=0.1", kGzip), "gzip");
  EXPECT_EQ(Choose("gzip;q=0.1, *;q=0.5", kGzip), "identity") << "identity is not named either";
}

TEST(ChooseCoding, NamesAndWeightsInOtherNotations) {
  EXPECT_EQ(Choose("GZIP"), "gzip");
  EXPECT_EQ(Choose("x-gzip"), "gzip");
  EXPECT_EQ(Choose("Br ; Q=1"), "br");
  EXPECT_EQ(Choose("br\t;\tq=1.000 , gzip"), "br");
  EXPECT_EQ(Choose("br;q=0., gzip"), "gzip");
  EXPECT_EQ(Choose("br;q=1., gzip"), "br");
}

TEST(ChooseCoding, AMalformedMemberDoesNotCount) {
  for (const char* field : {"br;q=1.001", "br;q=2",   "br;q=0.1234", "br;q=-1", "br;q=.5",
                            "br;q=",      "br;q",     "br;",         "br;x=1",  "br;q=1;x=2",
                            "br;q =1",    "br;q= 1",  "br;q=\"1\"",  "br;q=1x", "br q=1",
                            "\"br\"",     "br;q=1,1", "br;q=1.0000", "b r",     "brx",
                            "b",          "br/1",     "br;q=0x1"}) {
    const std::string text = field;
    const bool has_list = text == "br;q=1,1";
    EXPECT_EQ(Choose(text), has_list ? "br" : "identity") << text;
    EXPECT_EQ(Choose("gzip, " + text + ""), has_list ? "br" : "gzip") << text;
  }
}

TEST(ChooseCoding, OfSeveralWeightsTheSmallestCounts) {
  EXPECT_EQ(Choose("gzip, gzip;q=0", kGzip), "identity");
  EXPECT_EQ(Choose("gzip;q=0, gzip", kGzip), "identity");
  EXPECT_EQ(Choose("gzip;q=0.1, identity;q=0.5, gzip;q=0.9", kGzip), "identity");
  EXPECT_EQ(Choose("x-gzip;q=0, gzip", kGzip), "identity");
}

TEST(CodingSet, AddsAndRemoves) {
  CodingSet set = kGzip;
  EXPECT_FALSE(set.Has(ContentCoding::kBr));
  set.Add(ContentCoding::kBr);
  EXPECT_TRUE(set.Has(ContentCoding::kBr) && set.Has(ContentCoding::kGzip));
  set.Remove(ContentCoding::kBr);
  EXPECT_EQ(set, kGzip);
}

}  // namespace
}  // namespace httpsys::semantics
