#include "http1/request_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/guard_page.h"

namespace httpsys::http1 {
namespace {

constexpr size_t kHeaderBytesMax = 16384;

const MethodTable& Methods() {
  static const MethodTable table(
      {"CONNECT", "GET", "HEAD", "M-SEARCH", "OPTIONS", "POST", "SOURCE"});
  return table;
}

// "GET /x 1.1 keep host=a length=5 | Host: a | Content-Length: 5 |"
std::string Describe(const RequestHead& head) {
  std::string text(Methods().Name(head.method));
  text += " " + std::string(head.target) + " 1." + std::to_string(head.version_minor);
  if (head.keep_alive) text += " keep";
  if (head.upgrade) text += " upgrade";
  if (head.has_host) text += " host=" + std::string(head.host);
  if (head.repeats_host) text += " repeated";
  if (head.expect == Expectation::kContinue) text += " continue";
  if (head.expect == Expectation::kOther) text += " expect";
  if (head.body == BodyKind::kLength) text += " length=" + std::to_string(head.content_length);
  if (head.body == BodyKind::kChunked) text += " chunked";
  text += " |";
  for (const HeaderLine& line : head.lines) {
    text += " " + std::string(line.name) + ": " + std::string(line.value) + " |";
  }
  return text;
}

// Parses a message of which further bytes follow; the parser remembers it.
void ParseFirst(RequestParser* parser, std::string_view message) {
  parser->Reset(kHeaderBytesMax);
  ASSERT_EQ(parser->Parse(message), ParseStatus::kDone);
  parser->Remember(message);
}

class RequestParserTest : public testing::Test {
 protected:
  // Feeds the message up to each of `cuts`, at another place in memory each time.
  std::string Parse(std::string_view message, const std::vector<size_t>& cuts,
                    size_t header_bytes_max = kHeaderBytesMax) {
    parser_.Reset(header_bytes_max);
    for (const size_t cut : cuts) {
      const ParseStatus status = parser_.Parse(page_.Place(message.substr(0, cut)));
      if (status == ParseStatus::kError) return ParseErrorCode(parser_.error());
      if (status == ParseStatus::kDone) return Describe(parser_.head());
    }
    return "incomplete";
  }

  std::string ParseWhole(std::string_view message, size_t header_bytes_max = kHeaderBytesMax) {
    return Parse(message, {message.size()}, header_bytes_max);
  }

  // The same outcome whole, byte by byte and in two pieces cut anywhere.
  void ExpectHoweverCut(std::string_view message, const std::string& outcome) {
    SCOPED_TRACE(testing::PrintToString(message));
    EXPECT_EQ(ParseWhole(message), outcome);
    std::vector<size_t> every_byte;
    for (size_t i = 1; i <= message.size(); i++) every_byte.push_back(i);
    EXPECT_EQ(Parse(message, every_byte), outcome);
    for (size_t i = 0; i <= message.size(); i++) {
      EXPECT_EQ(Parse(message, {i, message.size()}), outcome) << "cut at " << i;
    }
  }

  test::GuardPage page_{1 << 20};
  RequestParser parser_{&Methods()};
};

struct Accepted {
  std::string_view message;
  const char* head;
};

const Accepted kAccepted[] = {
    {"GET / HTTP/1.1\r\n\r\n", "GET / 1.1 keep |"},
    {"GET / HTTP/1.0\r\n\r\n", "GET / 1.0 |"},
    {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / 1.1 keep host=a | Host: a |"},
    {"\r\n\n\r\rGET /a HTTP/1.1\r\n\r\n", "GET /a 1.1 keep |"},
    {"GET   /a   HTTP/1.1\r\n\r\n", "GET /a 1.1 keep |"},
    {"M-SEARCH * HTTP/1.1\r\n\r\n", "M-SEARCH * 1.1 keep |"},
    {"OPTIONS * HTTP/1.1\r\n\r\n", "OPTIONS * 1.1 keep |"},
    {"SOURCE /music HTTP/1.1\r\n\r\n", "SOURCE /music 1.1 keep |"},
    // Targets.
    {"GET *anything HTTP/1.1\r\n\r\n", "GET *anything 1.1 keep |"},
    {"GET /a?b?c=d/e#f#g?h HTTP/1.1\r\n\r\n", "GET /a?b?c=d/e#f#g?h 1.1 keep |"},
    {"GET /%zz\"<>[]\\^`{|}~ HTTP/1.1\r\n\r\n", "GET /%zz\"<>[]\\^`{|}~ 1.1 keep |"},
    {"GET /0123456789abcdef0123456789abcdef?x HTTP/1.1\r\n\r\n",
     "GET /0123456789abcdef0123456789abcdef?x 1.1 keep |"},
    {"GET http://u:p@h.test:80/p HTTP/1.1\r\n\r\n", "GET http://u:p@h.test:80/p 1.1 keep |"},
    {"GET http://h?q HTTP/1.1\r\n\r\n", "GET http://h?q 1.1 keep |"},
    {"GET x:///p HTTP/1.1\r\n\r\n", "GET x:///p 1.1 keep |"},
    {"GET http://a@b@c HTTP/1.1\r\n\r\n", "GET http://a@b@c 1.1 keep |"},
    {"CONNECT [::1]:443 HTTP/1.1\r\n\r\n", "CONNECT [::1]:443 1.1 keep upgrade |"},
    // Lines.
    {"GET / HTTP/1.1\r\nA:\r\nB: \t\r\nC:d\r\nE: \t f g \t \r\n\r\n",
     "GET / 1.1 keep | A:  | B:  | C: d | E: f g |"},
    {"GET / HTTP/1.1\r\n!#$%&'*+-.^_`|~09Zz: \x80\xff:\"\\\r\n\r\n",
     "GET / 1.1 keep | !#$%&'*+-.^_`|~09Zz: \x80\xff:\"\\ |"},
    {"GET / HTTP/1.1\r\nHost:\r\nhOST: b\r\n\r\n",
     "GET / 1.1 keep host= repeated | Host:  | hOST: b |"},
    {"GET / HTTP/1.1\r\nHosts: a\r\nConnections: close\r\n\r\n",
     "GET / 1.1 keep | Hosts: a | Connections: close |"},
    {"GET / HTTP/1.1\r\nSixteen-Bytes-XY: 0123456789abcdef\tand more than that\r\n\r\n",
     "GET / 1.1 keep | Sixteen-Bytes-XY: 0123456789abcdef\tand more than that |"},
    // Bodies.
    {"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n",
     "POST / 1.1 keep length=5 | Content-Length: 5 |"},
    {"POST / HTTP/1.1\r\ncontent-length:0005  \r\n\r\n",
     "POST / 1.1 keep length=5 | content-length: 0005 |"},
    {"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "POST / 1.1 keep | Content-Length: 0 |"},
    {"POST / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n",
     "POST / 1.1 keep length=18446744073709551615 | Content-Length: 18446744073709551615 |"},
    {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
     "POST / 1.1 keep chunked | Transfer-Encoding: chunked |"},
    {"POST / HTTP/1.1\r\ntransfer-encoding:\tCHUNKED  \r\n\r\n",
     "POST / 1.1 keep chunked | transfer-encoding: CHUNKED |"},
    {"CONNECT a:1 HTTP/1.1\r\nContent-Length: 5\r\n\r\n",
     "CONNECT a:1 1.1 keep upgrade | Content-Length: 5 |"},
    // Connection options.
    {"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "GET / 1.1 | Connection: close |"},
    {"GET / HTTP/1.1\r\nConnection: x,\t CLOSE ,y\r\n\r\n",
     "GET / 1.1 | Connection: x,\t CLOSE ,y |"},
    {"GET / HTTP/1.1\r\nConnection: closed, close x, close\t\r\n\r\n",
     "GET / 1.1 keep | Connection: closed, close x, close |"},
    {"GET / HTTP/1.1\r\nProxy-Connection: close\r\n\r\n", "GET / 1.1 | Proxy-Connection: close |"},
    {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
     "GET / 1.0 keep | Connection: Keep-Alive |"},
    {"GET / HTTP/1.0\r\nConnection: close\r\nConnection: keep-alive\r\n\r\n",
     "GET / 1.0 keep | Connection: close | Connection: keep-alive |"},
    {"GET / HTTP/1.1\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n",
     "GET / 1.1 keep upgrade | Connection: keep-alive, Upgrade | Upgrade: websocket |"},
    {"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", "GET / 1.1 keep | Upgrade: websocket |"},
    {"GET / HTTP/1.1\r\nConnection: upgrade\r\n\r\n", "GET / 1.1 keep | Connection: upgrade |"},
    {"GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade:\r\n\r\n",
     "GET / 1.1 keep | Connection: upgrade | Upgrade:  |"},
    // Expectations.
    {"GET / HTTP/1.1\r\nExpect: 100-continue\r\n\r\n",
     "GET / 1.1 keep continue | Expect: 100-continue |"},
    {"GET / HTTP/1.1\r\nExpect: a\r\nExpect: b,100-Continue;c\r\n\r\n",
     "GET / 1.1 keep continue | Expect: a | Expect: b,100-Continue;c |"},
    {"GET / HTTP/1.1\r\nExpect: x100-continue, 100-continue_\r\n\r\n",
     "GET / 1.1 keep expect | Expect: x100-continue, 100-continue_ |"},
    {"GET / HTTP/1.1\r\nExpect:\r\n\r\n", "GET / 1.1 keep expect | Expect:  |"},
    {"GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n", "GET / 1.0 | Expect: 100-continue |"},
};

TEST_F(RequestParserTest, WellFormedHeadsAreAcceptedHoweverTheyAreCut) {
  for (const Accepted& row : kAccepted) ExpectHoweverCut(row.message, row.head);
}

TEST_F(RequestParserTest, EveryTruncationOfAHeadIsIncomplete) {
  for (const Accepted& row : kAccepted) {
    for (size_t i = 0; i < row.message.size(); i++) {
      EXPECT_EQ(ParseWhole(row.message.substr(0, i)), "incomplete") << row.message.substr(0, i);
    }
  }
}

struct Refused {
  std::string_view message;  // The last byte is the one that makes it wrong.
  ParseError error;
};

using std::operator""sv;

const Refused kRefused[] = {
    {"g", ParseError::kInvalidMethod},
    {"GEX", ParseError::kInvalidMethod},
    {"GETS", ParseError::kInvalidMethod},
    {"GET\t", ParseError::kInvalidMethod},
    {"GET\r", ParseError::kInvalidMethod},
    {"G ", ParseError::kInvalidMethod},
    {" ", ParseError::kInvalidMethod},
    {"\x16", ParseError::kInvalidMethod},
    // Targets.
    {"GET \t", ParseError::kInvalidUrl},
    {"GET \r", ParseError::kInvalidUrl},
    {"GET ?", ParseError::kInvalidUrl},
    {"GET 1", ParseError::kInvalidUrl},
    {"GET http ", ParseError::kInvalidUrl},
    {"GET h1", ParseError::kInvalidUrl},
    {"GET http:x", ParseError::kInvalidUrl},
    {"GET http:/x", ParseError::kInvalidUrl},
    {"GET http://a@@", ParseError::kInvalidUrl},
    {"GET http://a#", ParseError::kInvalidUrl},
    {"GET http://a\"", ParseError::kInvalidUrl},
    {"GET /\x80", ParseError::kInvalidUrl},
    {"GET /a\x7f", ParseError::kInvalidUrl},
    {"GET /a?b\x01", ParseError::kInvalidUrl},
    {"GET /a#b\xff", ParseError::kInvalidUrl},
    {"GET /a\0"sv, ParseError::kInvalidUrl},
    {"CONNECT a#", ParseError::kInvalidUrl},
    // Stricter than Node: HTTP/0.9.
    {"GET /\r", ParseError::kInvalidUrl},
    {"GET /\n", ParseError::kInvalidUrl},
    // Versions.
    {"GET / X", ParseError::kInvalidConstant},
    {"GET / \r", ParseError::kInvalidConstant},
    {"GET / HTTPS", ParseError::kInvalidConstant},
    {"GET / R", ParseError::kInvalidConstant},
    {"GET / HTTP/x", ParseError::kInvalidVersion},
    {"GET / HTTP/1,", ParseError::kInvalidVersion},
    {"GET / HTTP/1.2", ParseError::kInvalidVersion},
    {"GET / HTTP/1.11", ParseError::kInvalidVersion},
    {"GET / HTTP/1.1 ", ParseError::kInvalidVersion},
    {"GET / HTTP/1.1\n", ParseError::kInvalidVersion},
    {"GET / HTTP/1.1\r\r", ParseError::kStrict},
    // Stricter than Node: versions that llhttp lets through.
    {"GET / HTTP/0", ParseError::kInvalidVersion},
    {"GET / HTTP/2", ParseError::kInvalidVersion},
    // Names.
    {"GET / HTTP/1.1\r\n ", ParseError::kUnexpectedSpace},
    {"GET / HTTP/1.1\r\n\t", ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\n:", ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\n\n", ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\nHost ", ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\nContent-Length\t", ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\nA\r", ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\nA\0"sv, ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\nA\x80", ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\nA(", ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\nLong-Enough-For-Sixteen\"", ParseError::kInvalidHeaderToken},
    // Values.
    {"GET / HTTP/1.1\r\nA: b\0"sv, ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\nA: b\x7f", ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\nA: 0123456789abcdef\x1f", ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\nA: b\n", ParseError::kCrExpected},
    {"GET / HTTP/1.1\r\nA: b\rc", ParseError::kLfExpected},
    {"GET / HTTP/1.1\r\nA: b\r\r", ParseError::kLfExpected},
    {"GET / HTTP/1.1\r\nA:\n", ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\nA: \rb", ParseError::kStrict},
    {"GET / HTTP/1.1\r\nA: b\r\n ", ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\nA: b\r\n\t", ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\nA:\r\n ", ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\nA: b\r\n\n", ParseError::kInvalidHeaderToken},
    {"GET / HTTP/1.1\r\nA: b\r\n\rX", ParseError::kStrict},
    // Content-Length.
    {"GET / HTTP/1.1\r\nContent-Length:\r\n\r", ParseError::kInvalidContentLength},
    {"GET / HTTP/1.1\r\nContent-Length: +", ParseError::kInvalidContentLength},
    {"GET / HTTP/1.1\r\nContent-Length: -", ParseError::kInvalidContentLength},
    {"GET / HTTP/1.1\r\nContent-Length: 1,", ParseError::kInvalidContentLength},
    {"GET / HTTP/1.1\r\nContent-Length: 1 1", ParseError::kInvalidContentLength},
    {"GET / HTTP/1.1\r\nContent-Length: 1\t", ParseError::kInvalidContentLength},
    {"GET / HTTP/1.1\r\nContent-Length: 0x", ParseError::kInvalidContentLength},
    {"GET / HTTP/1.1\r\nContent-Length: 1\x01", ParseError::kInvalidContentLength},
    {"GET / HTTP/1.1\r\nContent-Length: 1\n", ParseError::kCrExpected},
    {"GET / HTTP/1.1\r\nContent-Length: 18446744073709551616", ParseError::kInvalidContentLength},
    {"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999", ParseError::kInvalidContentLength},
    {"GET / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5",
     ParseError::kUnexpectedContentLength},
    // Transfer-Encoding.
    {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked,", ParseError::kInvalidTransferEncoding},
    {"GET / HTTP/1.1\r\nTransfer-Encoding: chunkedx", ParseError::kInvalidTransferEncoding},
    {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\t", ParseError::kInvalidTransferEncoding},
    {"GET / HTTP/1.1\r\nTransfer-Encoding: chunke\r", ParseError::kInvalidTransferEncoding},
    {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding:",
     ParseError::kInvalidTransferEncoding},
    {"GET / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding:",
     ParseError::kInvalidTransferEncoding},
    {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length:",
     ParseError::kInvalidContentLength},
    {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked                                        "
     "                                        x\r",
     ParseError::kInvalidTransferEncoding},
    // Stricter than Node: codings whose end we do not know.
    {"GET / HTTP/1.1\r\nTransfer-Encoding: g", ParseError::kInvalidTransferEncoding},
    {"GET / HTTP/1.1\r\nTransfer-Encoding:\r", ParseError::kInvalidTransferEncoding},
};

TEST_F(RequestParserTest, MalformedHeadsAreRefusedHoweverTheyAreCut) {
  for (const Refused& row : kRefused) ExpectHoweverCut(row.message, ParseErrorCode(row.error));
}

TEST_F(RequestParserTest, ErrorsAreFoundWithTheByteThatMakesThemCertain) {
  for (const Refused& row : kRefused) {
    const std::string_view before = row.message.substr(0, row.message.size() - 1);
    EXPECT_EQ(ParseWhole(before), "incomplete") << testing::PrintToString(row.message);
  }
}

TEST_F(RequestParserTest, BytesBehindTheHeadAreLeftAlone) {
  const std::string_view message = "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n\0\r\n"sv;
  ExpectHoweverCut(message, "POST / 1.1 keep length=3 | Content-Length: 3 |");
  EXPECT_EQ(parser_.head_bytes(), message.size() - 3);
}

TEST_F(RequestParserTest, LeadingLineEndsDoNotStartAMessage) {
  parser_.Reset(kHeaderBytesMax);
  EXPECT_FALSE(parser_.started());
  EXPECT_EQ(parser_.Parse("\r\n\r\n"), ParseStatus::kNeedMore);
  EXPECT_FALSE(parser_.started());
  EXPECT_EQ(parser_.Parse("\r\n\r\nG"), ParseStatus::kNeedMore);
  EXPECT_TRUE(parser_.started());
}

TEST_F(RequestParserTest, NothingOfAMessageIsLeftForTheNext) {
  const std::string first =
      "POST /long HTTP/1.0\r\nHost: a\r\nConnection: close, upgrade\r\nUpgrade: b\r\n"
      "Expect: c\r\nContent-Length: 5\r\n\r\n";
  ASSERT_NE(ParseWhole(first), "incomplete");
  EXPECT_EQ(ParseWhole("GET / HTTP/1.1\r\n\r\n"), "GET / 1.1 keep |");
  ASSERT_EQ(ParseWhole("GET / HTTP/1.1\r\nTransfer-Encoding: x"), "HPE_INVALID_TRANSFER_ENCODING");
  EXPECT_EQ(ParseWhole("GET / HTTP/1.1\r\n\r\n"), "GET / 1.1 keep |");
  EXPECT_EQ(parser_.error(), ParseError::kNone);
}

TEST_F(RequestParserTest, TargetNamesAndValuesCountAndMustStayBelowTheLimit) {
  const std::string_view message = "GET /abc HTTP/1.1\r\nab:  cde \r\n\r\n";
  const size_t counted = 4 + 2 + 4;
  EXPECT_EQ(ParseWhole(message, counted), "HPE_HEADER_OVERFLOW");
  EXPECT_EQ(ParseWhole(message, counted + 1), "GET /abc 1.1 keep | ab: cde |");
}

TEST_F(RequestParserTest, OverflowIsFoundBeforeTheSpanEnds) {
  EXPECT_EQ(ParseWhole("GET /abc", 4), "HPE_HEADER_OVERFLOW");
  EXPECT_EQ(ParseWhole("GET /abc", 5), "incomplete");
  EXPECT_EQ(ParseWhole("GET / HTTP/1.1\r\nabc", 4), "HPE_HEADER_OVERFLOW");
  EXPECT_EQ(ParseWhole("GET / HTTP/1.1\r\na: bc", 4), "HPE_HEADER_OVERFLOW");
  EXPECT_EQ(ParseWhole("GET / HTTP/1.1\r\na: bc", 5), "incomplete");
}

TEST_F(RequestParserTest, WhiteSpaceThatDoesNotCountIsLimitedToo) {
  const std::string most(kPaddingBytesMax, ' ');
  EXPECT_EQ(ParseWhole("GET " + most + "/ HTTP/1.1\r\n\r\n"), "GET / 1.1 keep |");
  EXPECT_EQ(ParseWhole("GET  " + most), "HPE_HEADER_OVERFLOW");
  EXPECT_EQ(ParseWhole("GET /  " + most), "HPE_HEADER_OVERFLOW");
  EXPECT_EQ(ParseWhole("GET / HTTP/1.1\r\nA: " + most), "HPE_HEADER_OVERFLOW");
  EXPECT_EQ(ParseWhole(std::string(kPaddingBytesMax + 1, '\n')), "HPE_HEADER_OVERFLOW");
}

TEST_F(RequestParserTest, ALineTooManyIsRefusedWithTheFirstByteOfItsName) {
  const auto parse = [this](std::string_view message) {
    parser_.Reset(kHeaderBytesMax, 2);
    return parser_.Parse(page_.Place(message));
  };
  EXPECT_EQ(parse("GET / HTTP/1.1\r\nA: b\r\nC:\r\n\r\n"), ParseStatus::kDone);
  EXPECT_EQ(parse("GET / HTTP/1.1\r\nA: b\r\nC:\r\n"), ParseStatus::kNeedMore);
  for (const std::string_view rest : {"D", "D:", "D: e\r\n\r\n"}) {
    EXPECT_EQ(parse("GET / HTTP/1.1\r\nA: b\r\nC:\r\n" + std::string(rest)), ParseStatus::kError);
    EXPECT_EQ(parser_.error(), ParseError::kHeaderOverflow);
  }
  EXPECT_EQ(parse("GET / HTTP/1.1\r\nA: b\r\nC:\r\nD("), ParseStatus::kError);
  EXPECT_EQ(parser_.error(), ParseError::kInvalidHeaderToken);
}

TEST_F(RequestParserTest, ThousandsOfLinesAreKeptInOrder) {
  std::string message = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 3000; i++)
    message += "n" + std::to_string(i) + ": " + std::to_string(i) + "\r\n";
  message += "\r\n";
  parser_.Reset(1 << 20);
  ASSERT_EQ(parser_.Parse(page_.Place(message)), ParseStatus::kDone);
  ASSERT_EQ(parser_.head().lines.size(), 3000u);
  for (size_t i = 0; i < 3000; i++) {
    EXPECT_EQ(parser_.head().lines[i].name, "n" + std::to_string(i));
    EXPECT_EQ(parser_.head().lines[i].value, std::to_string(i));
  }
}

TEST_F(RequestParserTest, ARepeatedHeadMeansWhatItMeantAtFirst) {
  const std::string_view heads[] = {
      "GET /x?y HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n",
      "\r\nPOST / HTTP/1.0\r\nHost: a\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n",
      "POST /c HTTP/1.1\r\nHost: a\r\nhost: b\r\nTransfer-Encoding: chunked\r\nExpect: "
      "100-continue\r\n\r\n",
      "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\nConnection: upgrade, close\r\nUpgrade: x\r\nEmpty:\r\n\r\n",
  };
  for (const std::string_view head : heads) {
    SCOPED_TRACE(testing::PrintToString(head));
    const std::string outcome = ParseWhole(head);
    std::string first = std::string(head) + "rest";
    ParseFirst(&parser_, first);
    first.assign(first.size(), '?');
    for (const std::string& rest : {std::string(), std::string("GET "), std::string(2000, 'x')}) {
      // Elsewhere in memory: what was parsed first is gone.
      const std::string_view again = page_.Place(std::string(head) + rest);
      ASSERT_TRUE(parser_.Repeat(again, kHeaderBytesMax, kAnyLines));
      EXPECT_EQ(Describe(parser_.head()), outcome);
      EXPECT_EQ(parser_.head_bytes(), head.size());
      EXPECT_GE(parser_.head().target.data(), again.data());
      EXPECT_LT(parser_.head().target.data(), again.data() + again.size());
    }
  }
}

TEST_F(RequestParserTest, AParsedHeadIsViewedAgainAfterItsBytesHaveMoved) {
  std::string first = "POST /x?y HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nA: b\r\n\r\n";
  const std::string outcome = ParseWhole(first);
  parser_.Reset(kHeaderBytesMax);
  EXPECT_EQ(parser_.status(), ParseStatus::kNeedMore);
  ASSERT_EQ(parser_.Parse(first), ParseStatus::kDone);
  const std::string_view moved = page_.Place(first + "rest");
  first.assign(first.size(), '?');
  EXPECT_EQ(parser_.View(moved), ParseStatus::kDone);
  EXPECT_EQ(Describe(parser_.head()), outcome);
  parser_.Reset(kHeaderBytesMax);
  ASSERT_EQ(parser_.Parse("GET\r\n"), ParseStatus::kError);
  EXPECT_EQ(parser_.View("GET\r\n"), ParseStatus::kError);
}

TEST_F(RequestParserTest, AHeadThatDiffersAnywhereIsNoRepetition) {
  const std::string head = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
  ParseFirst(&parser_, head);
  for (size_t i = 0; i < head.size(); ++i) {
    std::string other = head + head;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_FALSE(parser_.Repeat(other, kHeaderBytesMax, kAnyLines)) << i;
    EXPECT_FALSE(parser_.Repeat(head.substr(0, i), kHeaderBytesMax, kAnyLines)) << i;
  }
  EXPECT_TRUE(parser_.Repeat(head, kHeaderBytesMax, kAnyLines));
}

TEST_F(RequestParserTest, AHeadIsParsedAnewForOtherLimits) {
  const std::string head = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
  ParseFirst(&parser_, head);
  EXPECT_FALSE(parser_.Repeat(head, kHeaderBytesMax - 1, kAnyLines));
  EXPECT_FALSE(parser_.Repeat(head, kHeaderBytesMax, 1));
  EXPECT_TRUE(parser_.Repeat(head, kHeaderBytesMax, kAnyLines));
}

TEST_F(RequestParserTest, OnlyTheHeadThatWasParsedLastIsRepeated) {
  const std::string head = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
  EXPECT_FALSE(parser_.Repeat(head, 0, 0));
  ParseFirst(&parser_, head);
  parser_.Reset(kHeaderBytesMax);
  EXPECT_FALSE(parser_.Repeat(head, kHeaderBytesMax, kAnyLines));
  EXPECT_EQ(parser_.Parse("GET /y HTTP/1.1\r\n"), ParseStatus::kNeedMore);
  EXPECT_FALSE(parser_.Repeat(head, kHeaderBytesMax, kAnyLines));
  const std::string long_head = "GET /" + std::string(2000, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n";
  ParseFirst(&parser_, long_head);
  EXPECT_FALSE(parser_.Repeat(long_head, kHeaderBytesMax, kAnyLines)) << "it is long";
}

}  // namespace
}  // namespace httpsys::http1
