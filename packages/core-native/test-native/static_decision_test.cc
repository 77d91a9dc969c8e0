// Responses for static files. Unless a test names RFC 9110, status, fields and documents are those
// that serve-static 2.2.1 with send 1.2.1 gave for the same file.

#include "static_files/static_decision.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "static_files/file_fields.h"
#include "static_files/html_document.h"

namespace httpsys::static_files {
namespace {

using semantics::ConditionalMethod;
using semantics::ContentCoding;

// 1 March 2024, 12:34:56.7895: halves of a millisecond are rounded up.
constexpr int64_t kModifiedNs = 1'709'296'496'789'500'000;
constexpr int64_t kNow = 1'795'910'400;
constexpr std::string_view kDate = "Fri, 01 Mar 2024 12:34:56 GMT";
constexpr std::string_view kTag = "W/\"a-18dfa02b096\"";

class StaticDecisionTest : public testing::Test {
 protected:
  StaticDecisionTest() {
    options_.types = {{"txt", "text/plain; charset=utf-8"}, {"js", "text/javascript"}};
    file_.path = "a.txt";
    file_.facts = {.kind = files::FileKind::kFile, .size = 10, .modified_ns = kModifiedNs};
  }

  StaticResponse Answer() const {
    return StaticDecision(&options_).WithFile(request_, file_, kNow, semantics::MakeBoundary(1, 2));
  }
  int StatusOf() const { return Answer().status; }

  void AddSibling(ContentCoding coding, uint64_t size) {
    options_.precompressed.Add(coding);
    file_.siblings[static_cast<size_t>(coding)] = {
        .kind = files::FileKind::kFile, .size = size, .modified_ns = kModifiedNs};
  }

  StaticOptions options_;
  StaticRequest request_;
  FoundFile file_;
};

// The value of a field; "none" if it is not there.
std::string FieldOf(const StaticResponse& response, const std::string& name) {
  const std::string lines = "\r\n" + response.fields;
  const size_t at = lines.find("\r\n" + name + ": ");
  if (at == std::string::npos) return "none";
  const size_t begin = at + name.size() + 4;
  return lines.substr(begin, lines.find("\r\n", begin) - begin);
}

TEST_F(StaticDecisionTest, AWholeFile) {
  const StaticResponse response = Answer();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.fields,
            "Accept-Ranges: bytes\r\n"
            "Cache-Control: public, max-age=0\r\n"
            "Last-Modified: Fri, 01 Mar 2024 12:34:56 GMT\r\n"
            "ETag: W/\"a-18dfa02b096\"\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "Content-Length: 10\r\n");
  EXPECT_TRUE(response.sends_file);
  EXPECT_EQ(response.ranges.count, 0u);
  EXPECT_EQ(response.coding, ContentCoding::kIdentity);
  EXPECT_EQ(response.body, "");
}

// Caddy does the same; Go does so for the second 0.
TEST_F(StaticDecisionTest, AFileOfTheFirstTwoSecondsHasNoValidators) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  for (const int64_t modified_ns : {int64_t{0}, kNsPerSecond, 2 * kNsPerSecond - 1}) {
    file_.facts.modified_ns = modified_ns;
    request_ = {};
    const StaticResponse response = Answer();
    EXPECT_EQ(FieldOf(response, "ETag"), "none") << modified_ns;
    EXPECT_EQ(FieldOf(response, "Last-Modified"), "none") << modified_ns;
    EXPECT_EQ(FieldOf(response, "Accept-Ranges"), "bytes");
    const std::string tag = MakeEtag(file_.facts, ContentCoding::kIdentity);
    request_.conditions.if_none_match = tag;
    EXPECT_EQ(StatusOf(), 200);
    request_ = {};
    request_.conditions.if_modified_since = kDate;
    EXPECT_EQ(StatusOf(), 200);
    request_ = {};
    request_.range = "bytes=0-3";
    EXPECT_EQ(StatusOf(), 206);
    request_.conditions.if_range = "Thu, 01 Jan 1970 00:00:01 GMT";
    EXPECT_EQ(StatusOf(), 200);
  }
  for (const int64_t modified_ns : {int64_t{-1}, 2 * kNsPerSecond}) {
    file_.facts.modified_ns = modified_ns;
    request_ = {};
    EXPECT_NE(FieldOf(Answer(), "ETag"), "none") << modified_ns;
    EXPECT_NE(FieldOf(Answer(), "Last-Modified"), "none") << modified_ns;
  }
  // What a rule says is the application's.
  options_.header_rules = {{"*", "ETag", "\"fixed\""}};
  file_.facts.modified_ns = 0;
  EXPECT_EQ(FieldOf(Answer(), "ETag"), "\"fixed\"");
}

// RFC 9110, section 8.8.2.1.
TEST_F(StaticDecisionTest, AFileFromTheFutureWasChangedNow) {
  constexpr std::string_view kNowDate = "Sun, 29 Nov 2026 00:00:00 GMT";
  file_.facts.modified_ns = (kNow + 86'400) * 1'000'000'000;
  const StaticResponse response = Answer();
  EXPECT_EQ(FieldOf(response, "Last-Modified"), kNowDate);
  const std::string tag = FieldOf(response, "ETag");
  request_.conditions.if_none_match = tag;
  EXPECT_EQ(StatusOf(), 304);
  EXPECT_EQ(FieldOf(Answer(), "Last-Modified"), kNowDate);
  // A date of an earlier response says nothing about the content since.
  request_ = {};
  request_.conditions.if_modified_since = "Sat, 28 Nov 2026 23:59:59 GMT";
  EXPECT_EQ(StatusOf(), 200);
  request_ = {};
  request_.range = "bytes=0-3";
  request_.conditions.if_range = kNowDate;
  EXPECT_EQ(StatusOf(), 200);
}

TEST_F(StaticDecisionTest, HeadHasTheSameFieldsAndNoFile) {
  const std::string fields = Answer().fields;
  request_.method = ConditionalMethod::kHead;
  const StaticResponse response = Answer();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.fields, fields);
  EXPECT_FALSE(response.sends_file);
}

TEST_F(StaticDecisionTest, OptionsOfTheFields) {
  options_.max_age_seconds = 86'400;
  options_.immutable = true;
  EXPECT_EQ(FieldOf(Answer(), "Cache-Control"), "public, max-age=86400, immutable");
  options_.max_age_seconds = UINT64_MAX;
  options_.immutable = false;
  EXPECT_EQ(FieldOf(Answer(), "Cache-Control"), "public, max-age=31536000");
  options_.cache_control = false;
  options_.etag = false;
  options_.last_modified = false;
  options_.accept_ranges = false;
  EXPECT_EQ(Answer().fields, "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 10\r\n");
}

TEST_F(StaticDecisionTest, TheTypeFollowsFromTheExtension) {
  for (const auto& [path, type] :
       {std::pair("sub/A.TXT", "text/plain; charset=utf-8"),
        std::pair("a.min.js", "text/javascript"),
        std::pair("a.unknown", "application/octet-stream"),
        std::pair("txt", "application/octet-stream"), std::pair(".txt", "application/octet-stream"),
        std::pair("a.", "application/octet-stream")}) {
    file_.path = path;
    EXPECT_EQ(FieldOf(Answer(), "Content-Type"), type) << path;
  }
}

TEST_F(StaticDecisionTest, RulesReplaceTheFieldsOfTheOptions) {
  options_.header_rules = {{"*", "cache-control", "no-store"},
                           {".txt", "X-A", "1"},
                           {".js", "X-B", "2"},
                           {"*.txt", "Cache-Control", "private"},
                           {"*", "ETag", "\"fixed\""},
                           {"*", "Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"},
                           {"*", "Accept-Ranges", "none"},
                           {"*", "Content-Type", "text/x"},
                           {"*", "Content-Language", "de"}};
  EXPECT_EQ(Answer().fields,
            "Cache-Control: private\r\nX-A: 1\r\nETag: \"fixed\"\r\n"
            "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nAccept-Ranges: none\r\n"
            "Content-Type: text/x\r\nContent-Language: de\r\nContent-Length: 10\r\n");
  request_.conditions.if_match = "\"fixed\"";
  EXPECT_EQ(StatusOf(), 200) << "a strong tag";
  request_.conditions.if_modified_since = "Sun, 06 Nov 1994 08:49:37 GMT";
  const StaticResponse response = Answer();
  EXPECT_EQ(response.status, 304);
  EXPECT_EQ(response.fields,
            "Cache-Control: private\r\nX-A: 1\r\nETag: \"fixed\"\r\n"
            "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nAccept-Ranges: none\r\n");
}

TEST_F(StaticDecisionTest, NotModified) {
  request_.conditions.if_none_match = kTag;
  const StaticResponse response = Answer();
  EXPECT_EQ(response.status, 304);
  EXPECT_FALSE(response.sends_file);
  EXPECT_EQ(response.fields,
            "Accept-Ranges: bytes\r\nCache-Control: public, max-age=0\r\n"
            "Last-Modified: Fri, 01 Mar 2024 12:34:56 GMT\r\nETag: W/\"a-18dfa02b096\"\r\n");
  request_.conditions.if_none_match = "*";
  EXPECT_EQ(StatusOf(), 304);
  request_.cache_control = "no-cache";
  EXPECT_EQ(StatusOf(), 200) << "a reload";
  request_.cache_control = "max-age=0";
  EXPECT_EQ(StatusOf(), 304);
  request_.conditions.if_none_match = "\"x\"";
  request_.conditions.if_modified_since = kDate;
  EXPECT_EQ(StatusOf(), 200);
  request_.conditions.if_none_match.reset();
  EXPECT_EQ(StatusOf(), 304);
  options_.last_modified = false;
  EXPECT_EQ(StatusOf(), 200);
}

TEST_F(StaticDecisionTest, PreconditionFailed) {
  request_.conditions.if_match = "\"x\"";
  const StaticResponse response = Answer();
  EXPECT_EQ(response.status, 412);
  EXPECT_FALSE(response.sends_file);
  EXPECT_EQ(FieldOf(response, "ETag"), "none");
  EXPECT_EQ(response.body, HtmlDocument("Error", "Precondition Failed"));
  EXPECT_EQ(FieldOf(response, "Content-Length"), std::to_string(response.body.size()));
  request_.method = ConditionalMethod::kHead;
  EXPECT_EQ(Answer().fields, response.fields);
  EXPECT_EQ(Answer().body, "");
}

TEST_F(StaticDecisionTest, OneRange) {
  request_.range = "bytes=2-4";
  const StaticResponse response = Answer();
  EXPECT_EQ(response.status, 206);
  EXPECT_EQ(response.fields,
            "Accept-Ranges: bytes\r\n"
            "Cache-Control: public, max-age=0\r\n"
            "Last-Modified: Fri, 01 Mar 2024 12:34:56 GMT\r\n"
            "ETag: W/\"a-18dfa02b096\"\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "Content-Range: bytes 2-4/10\r\n"
            "Content-Length: 3\r\n");
  ASSERT_EQ(response.ranges.count, 1u);
  EXPECT_EQ(response.ranges.ranges[0], (semantics::ByteRange{2, 4}));
  request_.range = "bytes=0-1,2-3";
  EXPECT_EQ(FieldOf(Answer(), "Content-Range"), "bytes 0-3/10");
  options_.accept_ranges = false;
  EXPECT_EQ(StatusOf(), 200);
}

TEST_F(StaticDecisionTest, NoRangeCanBeSatisfied) {
  request_.range = "bytes=20-";
  const StaticResponse response = Answer();
  EXPECT_EQ(response.status, 416);
  EXPECT_FALSE(response.sends_file);
  EXPECT_EQ(FieldOf(response, "Content-Range"), "bytes */10");
  EXPECT_EQ(response.body, HtmlDocument("Error", "Range Not Satisfiable"));
  EXPECT_EQ(FieldOf(response, "Vary"), "none");
}

TEST_F(StaticDecisionTest, SeveralRangesAreSeveralPartsAsInRfc9110) {
  file_.facts.size = 1000;
  request_.range = "bytes=500-509,0-9";
  const StaticResponse response = Answer();
  EXPECT_EQ(response.status, 206);
  EXPECT_EQ(response.ranges.count, 2u);
  EXPECT_EQ(response.part_type, "text/plain; charset=utf-8");
  EXPECT_EQ(FieldOf(response, "Content-Range"), "none");
  EXPECT_EQ(FieldOf(response, "Content-Type"),
            "multipart/byteranges; boundary=10000000000000002000000000000000");
  const semantics::MultipartByteranges multipart(semantics::MakeBoundary(1, 2), response.part_type,
                                                 1000, response.ranges.view());
  EXPECT_EQ(FieldOf(response, "Content-Length"), std::to_string(multipart.content_bytes()));
}

TEST_F(StaticDecisionTest, DifferencesFromSendThatRfc9110Demands) {
  request_.range = "bytes=-20";
  EXPECT_EQ(FieldOf(Answer(), "Content-Range"), "bytes 0-9/10") << "a suffix that is too long";
  request_.range = "bytes=2-4";
  request_.method = ConditionalMethod::kHead;
  EXPECT_EQ(StatusOf(), 200) << "HEAD ignores Range";
  request_.method = ConditionalMethod::kGet;
  request_.conditions.if_range = kTag;
  EXPECT_EQ(StatusOf(), 200) << "a weak tag in If-Range";
  request_.conditions.if_range = "Fri, 01 Mar 2024 12:34:57 GMT";
  EXPECT_EQ(StatusOf(), 200) << "a later date in If-Range";
  request_.conditions.if_range = kDate;
  EXPECT_EQ(StatusOf(), 206);
  request_.range.reset();
  request_.conditions = {.if_match = kTag};
  EXPECT_EQ(StatusOf(), 412) << "a weak tag in If-Match";
  options_.etag = false;
  options_.last_modified = false;
  request_.conditions = {.if_match = "*"};
  EXPECT_EQ(StatusOf(), 200) << "any representation";
  request_.conditions = {.if_unmodified_since = "Sun, 06 Nov 1994 08:49:37 GMT"};
  EXPECT_EQ(StatusOf(), 200) << "no date to compare with";
  request_.conditions = {.if_match = ""};
  EXPECT_EQ(StatusOf(), 412) << "an empty list";
}

TEST_F(StaticDecisionTest, APrecompressedSibling) {
  AddSibling(ContentCoding::kGzip, 6);
  AddSibling(ContentCoding::kBr, 5);
  request_.accept_encoding = "gzip, br";
  const StaticResponse response = Answer();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.coding, ContentCoding::kBr);
  EXPECT_EQ(response.fields,
            "Accept-Ranges: bytes\r\n"
            "Cache-Control: public, max-age=0\r\n"
            "Last-Modified: Fri, 01 Mar 2024 12:34:56 GMT\r\n"
            "ETag: W/\"5-18dfa02b096-br\"\r\n"
            "Vary: Accept-Encoding\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "Content-Encoding: br\r\n"
            "Content-Length: 5\r\n");
  request_.accept_encoding = "gzip";
  EXPECT_EQ(Answer().coding, ContentCoding::kGzip);
}

TEST_F(StaticDecisionTest, EveryResponseOfAFileWithASiblingVaries) {
  AddSibling(ContentCoding::kGzip, 6);
  EXPECT_EQ(FieldOf(Answer(), "Vary"), "Accept-Encoding");
  EXPECT_EQ(FieldOf(Answer(), "Content-Encoding"), "none");
  request_.range = "bytes=1-2";
  EXPECT_EQ(FieldOf(Answer(), "Vary"), "Accept-Encoding");
  request_.range = "bytes=10-";
  EXPECT_EQ(Answer().status, 416);
  EXPECT_EQ(FieldOf(Answer(), "Vary"), "Accept-Encoding");
  request_.range.reset();
  request_.conditions.if_none_match = "*";
  EXPECT_EQ(Answer().status, 304);
  EXPECT_EQ(FieldOf(Answer(), "Vary"), "Accept-Encoding");
  request_.accept_encoding = "identity;q=0";
  EXPECT_EQ(Answer().status, 304);
}

TEST_F(StaticDecisionTest, PreconditionsAndRangesAreThoseOfTheSelectedCoding) {
  AddSibling(ContentCoding::kGzip, 6);
  request_.accept_encoding = "gzip";
  request_.conditions.if_none_match = kTag;
  EXPECT_EQ(StatusOf(), 200) << "the tag of the plain file";
  request_.conditions.if_none_match = "W/\"6-18dfa02b096-gzip\"";
  EXPECT_EQ(StatusOf(), 304);
  request_.conditions = {};
  request_.range = "bytes=-2";
  const StaticResponse response = Answer();
  EXPECT_EQ(FieldOf(response, "Content-Range"), "bytes 4-5/6");
  EXPECT_EQ(FieldOf(response, "Content-Encoding"), "gzip");
  request_.range = "bytes=6-";
  EXPECT_EQ(FieldOf(Answer(), "Content-Range"), "bytes */6");
}

TEST_F(StaticDecisionTest, ASiblingThatIsOlderOrNoFileOrNotWantedIsIgnored) {
  AddSibling(ContentCoding::kGzip, 6);
  request_.accept_encoding = "gzip";
  auto& sibling = file_.siblings[static_cast<size_t>(ContentCoding::kGzip)];
  sibling->modified_ns = kModifiedNs - 1;
  EXPECT_EQ(Answer().coding, ContentCoding::kIdentity);
  EXPECT_EQ(FieldOf(Answer(), "Vary"), "none");
  sibling->modified_ns = kModifiedNs + 1;
  EXPECT_EQ(Answer().coding, ContentCoding::kGzip);
  sibling->kind = files::FileKind::kFolder;
  EXPECT_EQ(Answer().coding, ContentCoding::kIdentity);
  sibling->kind = files::FileKind::kFile;
  options_.precompressed = {};
  EXPECT_EQ(Answer().coding, ContentCoding::kIdentity);
}

TEST_F(StaticDecisionTest, ASiblingWithTheWholeSecondOfItsFileIsAsNew) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  constexpr int64_t kSecond = kModifiedNs / kNsPerSecond * kNsPerSecond;
  static_assert(kModifiedNs > kSecond + 1);
  AddSibling(ContentCoding::kGzip, 6);
  request_.accept_encoding = "gzip";
  auto& sibling = file_.siblings[static_cast<size_t>(ContentCoding::kGzip)];
  sibling->modified_ns = kSecond;
  EXPECT_EQ(Answer().coding, ContentCoding::kGzip);
  for (const int64_t older : {kSecond + 1, kSecond - 1, kSecond - kNsPerSecond, INT64_MIN}) {
    sibling->modified_ns = older;
    EXPECT_EQ(Answer().coding, ContentCoding::kIdentity) << older;
  }
  file_.facts.modified_ns = -1;
  sibling->modified_ns = -kNsPerSecond;
  EXPECT_EQ(Answer().coding, ContentCoding::kGzip) << "before 1970";
  sibling->modified_ns = -2 * kNsPerSecond;
  EXPECT_EQ(Answer().coding, ContentCoding::kIdentity);
}

TEST_F(StaticDecisionTest, ATagOfTheRulesNamesTheCoding) {
  AddSibling(ContentCoding::kGzip, 6);
  options_.header_rules = {{"*", "etag", "\"v1\""}};
  EXPECT_EQ(FieldOf(Answer(), "etag"), "\"v1\"");
  request_.range = "bytes=1-2";
  request_.conditions.if_range = "\"v1\"";
  EXPECT_EQ(StatusOf(), 206);
  request_.accept_encoding = "gzip";
  EXPECT_EQ(FieldOf(Answer(), "etag"), "\"v1-gzip\"");
  EXPECT_EQ(StatusOf(), 200) << "the tag of other bytes";
  request_.conditions.if_range = "\"v1-gzip\"";
  EXPECT_EQ(StatusOf(), 206);
  request_.conditions = {};
  request_.conditions.if_none_match = "\"v1\"";
  EXPECT_EQ(StatusOf(), 206);
  request_.conditions.if_none_match = "\"v1-gzip\"";
  const StaticResponse response = Answer();
  EXPECT_EQ(response.status, 304);
  EXPECT_EQ(FieldOf(response, "etag"), "\"v1-gzip\"");
  options_.header_rules = {{"*", "ETag", "W/\"v1\""}, {"*", "X-A", "\"a\""}};
  EXPECT_EQ(FieldOf(Answer(), "ETag"), "W/\"v1-gzip\"");
  EXPECT_EQ(FieldOf(Answer(), "X-A"), "\"a\"");
  // An ETag of the table that is no entity tag is sent as it is, and compares with nothing.
  options_.header_rules = {{"*", "ETag", "v1"}};
  EXPECT_EQ(FieldOf(Answer(), "ETag"), "v1");
}

TEST_F(StaticDecisionTest, AClientThatRefusesEverythingGetsTheFile) {
  request_.accept_encoding = "identity;q=0";
  EXPECT_EQ(StatusOf(), 200);
  EXPECT_EQ(Answer().coding, ContentCoding::kIdentity);
}

TEST_F(StaticDecisionTest, OtherMethods) {
  const StaticDecision decision(&options_);
  const RequestPath path = ReadRequestPath("/a.txt", 1);
  EXPECT_FALSE(decision.BeforeSearch(request_, path).has_value());
  request_.method = ConditionalMethod::kOther;
  EXPECT_TRUE(decision.BeforeSearch(request_, path)->passes_on);
  options_.fallthrough = false;
  const auto response = decision.BeforeSearch(request_, path);
  EXPECT_EQ(response->status, 405);
  EXPECT_EQ(response->fields, "Allow: GET, HEAD\r\nContent-Length: 0\r\n");
  EXPECT_EQ(response->body, "");
}

TEST_F(StaticDecisionTest, ErrorsOfPaths) {
  const StaticDecision decision(&options_);
  const auto status_of = [&](std::string_view path) {
    const auto response = decision.BeforeSearch(request_, ReadRequestPath(path, 1));
    if (!response.has_value()) return 0;
    return response->passes_on ? 1 : response->status;
  };
  for (const char* path : {"/%zz", "/../a", "/.env", "/.well-known/x"}) {
    EXPECT_EQ(status_of(path), 1) << path;
  }
  options_.fallthrough = false;
  EXPECT_EQ(status_of("/%zz"), 400);
  EXPECT_EQ(status_of("/%00"), 400);
  EXPECT_EQ(status_of("/../a"), 403);
  EXPECT_EQ(status_of("/" + std::string(kRequestPathBytesMax, 'a')), 404);
  EXPECT_EQ(status_of("/a/.env"), 404);
  options_.dotfiles = Dotfiles::kDeny;
  EXPECT_EQ(status_of("/a/.env"), 403);
  options_.dotfiles = Dotfiles::kAllow;
  EXPECT_EQ(status_of("/a/.env"), 0);
}

TEST_F(StaticDecisionTest, NoFile) {
  const StaticDecision decision(&options_);
  EXPECT_TRUE(decision.WithoutFile(request_, SearchStatus::kNotFound).passes_on);
  EXPECT_EQ(decision.WithoutFile(request_, SearchStatus::kFailed).status, 500);
  options_.fallthrough = false;
  const StaticResponse response = decision.WithoutFile(request_, SearchStatus::kNotFound);
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.fields,
            "Content-Type: text/html; charset=UTF-8\r\n"
            "Content-Length: " +
                std::to_string(response.body.size()) +
                "\r\n"
                "Content-Security-Policy: default-src 'none'\r\n"
                "X-Content-Type-Options: nosniff\r\n");
  EXPECT_EQ(response.body, HtmlDocument("Error", "Not Found"));
}

TEST_F(StaticDecisionTest, ARedirectOfAFolder) {
  request_.target = "//sub?x=<1>&%zz";
  const StaticDecision decision(&options_);
  const StaticResponse response = decision.WithoutFile(request_, SearchStatus::kRedirect);
  EXPECT_EQ(response.status, 301);
  EXPECT_EQ(response.fields,
            "Content-Type: text/html; charset=UTF-8\r\n"
            "Content-Length: 173\r\n"
            "Content-Security-Policy: default-src 'none'\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Location: /sub/?x=%3C1%3E&%25zz\r\n");
  EXPECT_EQ(response.body,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<title>Redirecting</title>\n</head>\n<body>\n"
            "<pre>Redirecting to /sub/?x=%3C1%3E&amp;%25zz</pre>\n</body>\n</html>\n");
  request_.method = ConditionalMethod::kHead;
  EXPECT_EQ(decision.WithoutFile(request_, SearchStatus::kRedirect).body, "");
}

TEST_F(StaticDecisionTest, ARedirectNeverNamesAnotherHost) {
  const StaticDecision decision(&options_);
  for (const auto& [target, location] :
       {std::pair("/sub", "/sub/"), std::pair("///evil.test", "/evil.test/"),
        std::pair("//evil.test/%2e%2e", "/evil.test/%2e%2e/"), std::pair("/a%20b", "/a%20b/"),
        std::pair("http://h/sub?x", "/sub/?x"), std::pair("http://h//evil.test", "/evil.test/"),
        std::pair("/sub?", "/sub/?"), std::pair("/sub?a?b=/../c", "/sub/?a?b=/../c"),
        std::pair("/sub#x?y", "/sub/"), std::pair("/sub?x#y", "/sub/?x"),
        std::pair("/sub?\r\nX: y", "/sub/?%0D%0AX:%20y"), std::pair("/\xC3\x84", "/%C3%84/"),
        std::pair("/", "/"), std::pair("//", "/"), std::pair("*", "/"), std::pair("http://h", "/"),
        std::pair("http://h?x", "/?x")}) {
    request_.target = target;
    const StaticResponse response = decision.WithoutFile(request_, SearchStatus::kRedirect);
    EXPECT_EQ(FieldOf(response, "Location"), location) << target;
  }
}

TEST(MakeEtag, TheTagOfSend) {
  const auto tag_of = [](uint64_t size, int64_t modified_ns) {
    return MakeEtag({.size = size, .modified_ns = modified_ns}, ContentCoding::kIdentity);
  };
  EXPECT_EQ(tag_of(10, kModifiedNs), kTag);
  EXPECT_EQ(tag_of(10, kModifiedNs - 1000), "W/\"a-18dfa02b095\"");
  EXPECT_EQ(tag_of(0, -1'800'000'000), "W/\"0--708\"");
  EXPECT_EQ(tag_of(0, 0), "W/\"0-0\"");
  EXPECT_EQ(tag_of(UINT64_MAX, INT64_MAX), "W/\"ffffffffffffffff-8637bd05af7\"");
}

TEST(ModifiedMs, RoundsAsNodeDoes) {
  EXPECT_EQ(ModifiedMs({.modified_ns = kModifiedNs}), 1'709'296'496'790);
  EXPECT_EQ(ModifiedMs({.modified_ns = 499'999}), 0);
  EXPECT_EQ(ModifiedMs({.modified_ns = 500'000}), 1);
  EXPECT_EQ(ModifiedMs({.modified_ns = -500'000}), 0);
  EXPECT_EQ(ModifiedMs({.modified_ns = -500'001}), -1);
}

TEST(EncodeUrl, EscapesThatAreWholeStay) {
  EXPECT_EQ(EncodeUrl("/a%20b%C3%84"), "/a%20b%C3%84");
  EXPECT_EQ(EncodeUrl("%%2%zz%"), "%25%252%25zz%25");
  EXPECT_EQ(EncodeUrl("!#$&'()*+,-./:;=?@[\\]^_|~"), "!#$&'()*+,-./:;=?@[\\]^_|~");
  EXPECT_EQ(EncodeUrl("\"<>`{} \x7f"), "%22%3C%3E%60%7B%7D%20%7F");
}

TEST(HtmlDocument, NothingInTheTextIsMarkup) {
  const std::string document = HtmlDocument("T", "<a href=\"x\">&'</a>");
  EXPECT_NE(document.find("<pre>&lt;a href=&quot;x&quot;&gt;&amp;&#39;&lt;/a&gt;</pre>"),
            std::string::npos);
}

}  // namespace
}  // namespace httpsys::static_files
