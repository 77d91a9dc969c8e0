// Which responses get compressed variants, and which requests get those.

#include "cache/coding_policy.h"

#include <gtest/gtest.h>

#include <string>

#include "support/cache_messages.h"

namespace httpsys::cache {
namespace {

using semantics::CodingSet;
using semantics::ContentCoding;

constexpr CodingSet kEvery = {ContentCoding::kBr, ContentCoding::kZstd, ContentCoding::kGzip};
constexpr uint32_t kEveryFlag = 7u << EntryTerms::kCodingsShift;

uint32_t FlagsOf(std::string_view response, std::string_view request = {},
                 CodingSet codings = kEvery) {
  std::string text = "HTTP/1.1 200 OK\r\n";
  TestRequest::AppendLines(response, &text);
  http1::ResponseHead head;
  EXPECT_TRUE(http1::ParseResponseHead(text, &head)) << text;
  return CodingFlags(TestRequest(request).facts(), head.lines, codings);
}

ContentCoding ChosenFor(std::string_view request, uint32_t flags = kEveryFlag,
                        CodingSet allowed = kEvery) {
  EntryTerms terms;
  terms.flags = flags;
  const TestRequest asked(request);
  return CodingFor(terms, allowed, asked.facts(), asked.head());
}

TEST(CodingPolicyTest, TextsAreCompressedAndWhatIsCompressedItselfIsNot) {
  for (const char* type :
       {"text/html", "text/plain; charset=utf-8", "Text/CSS", "application/json ;charset=utf-8",
        "application/javascript", "application/wasm", "image/svg+xml", "application/problem+json",
        "application/atom+xml", "application/xml", "font/ttf", "image/x-icon"}) {
    EXPECT_TRUE(IsCompressible(type)) << type;
  }
  for (const char* type :
       {"", ";", "image/png", "image/jpeg", "video/mp4", "application/zip", "application/pdf",
        "font/woff2", "application/octet-stream", "text/event-stream", "textual/x", "json"}) {
    EXPECT_FALSE(IsCompressible(type)) << type;
  }
}

TEST(CodingPolicyTest, AnEligibleResponseSaysThatItVaries) {
  EXPECT_EQ(FlagsOf("Content-Type: text/html"), kEveryFlag | EntryTerms::kVariesByCoding);
  EXPECT_EQ(FlagsOf("Content-Type: text/html", {}, {ContentCoding::kGzip}),
            4u << EntryTerms::kCodingsShift | EntryTerms::kVariesByCoding);
  // The application has said so itself.
  EXPECT_EQ(FlagsOf("Content-Type: text/html|Vary: Origin, accept-encoding"), kEveryFlag);
  EXPECT_EQ(FlagsOf("Content-Type: text/html|Vary: Origin"),
            kEveryFlag | EntryTerms::kVariesByCoding);
}

TEST(CodingPolicyTest, NothingElseIsCompressed) {
  EXPECT_EQ(FlagsOf("Content-Type: text/html", {}, {}), 0u);
  EXPECT_EQ(FlagsOf("Content-Type: image/png"), 0u);
  EXPECT_EQ(FlagsOf("X-Type: text/html"), 0u);
  for (const char* line :
       {"Content-Encoding: gzip", "Content-Encoding: identity", "Content-Range: bytes 0-1/2",
        "Content-MD5: x", "Digest: x", "Content-Digest: x", "Repr-Digest: x", "Signature: x",
        "Cache-Control: public, No-Transform", "CDN-Cache-Control: no-transform"}) {
    EXPECT_EQ(FlagsOf("Content-Type: text/html|" + std::string(line)), 0u) << line;
  }
  // The response to a request with credentials may have secrets, whatever it says.
  EXPECT_EQ(FlagsOf("Content-Type: text/html", "Cookie: a=b"), 0u);
  EXPECT_EQ(FlagsOf("Content-Type: text/html", "Authorization: Basic eA=="), 0u);
}

TEST(CodingPolicyTest, AClientGetsTheCodingThatItPrefers) {
  EXPECT_EQ(ChosenFor("Accept-Encoding: gzip, deflate, br, zstd"), ContentCoding::kBr);
  EXPECT_EQ(ChosenFor("Accept-Encoding: gzip|Accept-Encoding: zstd"), ContentCoding::kZstd);
  EXPECT_EQ(ChosenFor("Accept-Encoding: a|Accept-Encoding: b|Accept-Encoding: gzip"),
            ContentCoding::kGzip);
  EXPECT_EQ(ChosenFor("Accept-Encoding: br;q=0.5, gzip"), ContentCoding::kGzip);
  EXPECT_EQ(ChosenFor("Accept-Encoding: *"), ContentCoding::kBr);
  EXPECT_EQ(ChosenFor(""), ContentCoding::kIdentity);
  EXPECT_EQ(ChosenFor("Accept-Encoding: identity"), ContentCoding::kIdentity);
  EXPECT_EQ(ChosenFor("Accept-Encoding: br;q=0"), ContentCoding::kIdentity);
  // Refusing everything is answered with the plain response.
  EXPECT_EQ(ChosenFor("Accept-Encoding: *;q=0"), ContentCoding::kIdentity);
}

TEST(CodingPolicyTest, ACodingMustBeThatOfTheEntryAndOfTheServer) {
  const uint32_t gzip = 4u << EntryTerms::kCodingsShift;
  EXPECT_EQ(ChosenFor("Accept-Encoding: br, gzip", gzip), ContentCoding::kGzip);
  EXPECT_EQ(ChosenFor("Accept-Encoding: br", gzip), ContentCoding::kIdentity);
  EXPECT_EQ(ChosenFor("Accept-Encoding: br, gzip", kEveryFlag, {ContentCoding::kGzip}),
            ContentCoding::kGzip);
  EXPECT_EQ(ChosenFor("Accept-Encoding: br, gzip", 0), ContentCoding::kIdentity);
  EXPECT_EQ(ChosenFor("Accept-Encoding: br, gzip", ~kCodingFlags), ContentCoding::kIdentity);
}

TEST(CodingPolicyTest, CredentialsRangesAndNoTransformGetThePlainResponse) {
  for (const char* line : {"Cookie: a=b", "Authorization: Basic eA==", "Range: bytes=0-1",
                           "If-Range: \"a\"", "Cache-Control: no-transform"}) {
    EXPECT_EQ(ChosenFor("Accept-Encoding: br|" + std::string(line)), ContentCoding::kIdentity)
        << line;
  }
}

TEST(CodingPolicyTest, AVariantBelongsToOneEntry) {
  EntryTerms plain;
  plain.stamp = 5;
  plain.stored_ms = 1000;
  EntryTerms coded = plain;
  EXPECT_TRUE(IsVariantOf(coded, plain));
  coded.stamp = 6;
  EXPECT_FALSE(IsVariantOf(coded, plain));
  coded.stamp = 5;
  coded.stored_ms = 1001;
  EXPECT_FALSE(IsVariantOf(coded, plain));
  std::string key = "h80\na.example\n/a\n?0123\n+x";
  MakeCodedKey(ContentCoding::kZstd, &key);
  EXPECT_EQ(key, "h80\na.example\n/a\n?0123\n+x\n*zstd");
}

}  // namespace
}  // namespace httpsys::cache
