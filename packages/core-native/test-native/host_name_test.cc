// One reading of Host values, and of the host of a request.

#include "url/host_name.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http1/request_host.h"
#include "http1/request_parser.h"

namespace httpsys {
namespace {

TEST(HostNameTest, AValidValueHasItsNameWithoutPortAndFinalDot) {
  for (const auto& [value, name] : std::vector<std::pair<std::string, std::string>>{
           {"", ""},
           {"a.test", "a.test"},
           {"A.Test", "A.Test"},
           {"a.test:80", "a.test"},
           {"a.test:", "a.test"},
           {"a.test:080", "a.test"},
           {"a.test.", "a.test"},
           {"a.test.:80", "a.test"},
           {"a.test..", "a.test."},
           {".", ""},
           {"a_b.test", "a_b.test"},
           {"_", "_"},
           {"-~.!$&'()*+,;=", "-~.!$&'()*+,;="},
           {"%61.test", "%61.test"},
           {"xn--bcher-kva.example", "xn--bcher-kva.example"},
           {"127.0.0.1:8080", "127.0.0.1"},
           {"[::1]", "[::1]"},
           {"[::1]:80", "[::1]"},
           {"[::ffff:127.0.0.1]:80", "[::ffff:127.0.0.1]"},
           {"[2001:DB8::A]:", "[2001:DB8::A]"},
       }) {
    const HostName host = ReadHost(value);
    EXPECT_TRUE(host.is_valid) << value;
    EXPECT_EQ(host.name, name) << value;
  }
}

TEST(HostNameTest, AnInvalidValueHasNoName) {
  for (const std::string_view value : {"u@a.test",
                                       "u:p@a.test",
                                       "@a.test",
                                       "a.test@",
                                       "b.test#@a.test",
                                       "b.test?@a.test",
                                       "b.test/@a.test",
                                       "b.test\\@a.test",
                                       "a.test:80:x",
                                       "a.test:x",
                                       "a.test:80x",
                                       "a.test:-1",
                                       "a.test:80 ",
                                       "a.test: 80",
                                       " a.test",
                                       "a b",
                                       "a\tb",
                                       "a.test/",
                                       "a.test?",
                                       "a.test#",
                                       "http://a.test",
                                       ":",
                                       ":80",
                                       "::1",
                                       "[",
                                       "]",
                                       "[]",
                                       "[]:80",
                                       "[::1",
                                       "::1]",
                                       "[::1]x",
                                       "[::1].",
                                       "[::1]:x",
                                       "[::1]]",
                                       "[[::1]]",
                                       "[a.test]",
                                       "[127.0.0.1]",
                                       "[fe80::1%25eth0]",
                                       "[fe80::1%eth0]",
                                       "[v1.x]",
                                       "[::g]",
                                       "%",
                                       "a%",
                                       "a%4",
                                       "a%4x",
                                       "%zz",
                                       "a\"b",
                                       "<a>",
                                       "a^b",
                                       "a`b",
                                       "{a}",
                                       "a|b",
                                       "a\x7f",
                                       "b\xc3\xbc\x63her",
                                       "\xff"}) {
    const HostName host = ReadHost(value);
    EXPECT_FALSE(host.is_valid) << value;
    EXPECT_EQ(host.name, "") << value;
  }
  EXPECT_FALSE(ReadHost(std::string_view("a\0b", 3)).is_valid);
}

TEST(HostNameTest, NamesAreComparedWithoutCase) {
  EXPECT_TRUE(IsSameHost("a.TEST", "A.test"));
  EXPECT_TRUE(IsSameHost("", ""));
  EXPECT_FALSE(IsSameHost("a.test", "a.tes"));
  EXPECT_FALSE(IsSameHost("a_test", "a\x7ftest"));
  EXPECT_FALSE(IsSameHost("[", "{")) << "they differ by the bit that letters do";
  EXPECT_EQ(WithoutFinalDot("a.test."), "a.test");
  EXPECT_EQ(WithoutFinalDot("a.test"), "a.test");
  EXPECT_EQ(WithoutFinalDot(""), "");
}

// The name that a whole request names, "invalid" when it is to be refused.
std::string HostOf(const std::string& line, const std::string& fields) {
  static const http1::MethodTable methods({"GET", "CONNECT", "OPTIONS"});
  http1::RequestParser parser(&methods);
  parser.Reset(16 * 1024);
  const std::string text = line + "\r\n" + fields + "\r\n";
  EXPECT_EQ(parser.Parse(text), http1::ParseStatus::kDone) << text;
  const HostName host = http1::HostOf(parser.head());
  return host.is_valid ? std::string(host.name) : "invalid";
}

TEST(RequestHostTest, AnHttp11RequestHasOneHostLine) {
  EXPECT_EQ(HostOf("GET / HTTP/1.1", "Host: a.test:80\r\n"), "a.test");
  EXPECT_EQ(HostOf("GET / HTTP/1.1", "Host:\r\n"), "");
  EXPECT_EQ(HostOf("GET / HTTP/1.1", ""), "invalid");
  EXPECT_EQ(HostOf("GET / HTTP/1.1", "X: y\r\n"), "invalid");
  EXPECT_EQ(HostOf("GET / HTTP/1.1", "Host: a.test\r\nHost: b.test\r\n"), "invalid");
  EXPECT_EQ(HostOf("GET / HTTP/1.1", "Host: a.test\r\nX: y\r\nhost: a.test\r\n"), "invalid");
  EXPECT_EQ(HostOf("GET / HTTP/1.1", "Host:\r\nHost:\r\n"), "invalid");
  EXPECT_EQ(HostOf("GET / HTTP/1.1", "Host: a\r\nHost: a\r\nHost: a\r\n"), "invalid");
  EXPECT_EQ(HostOf("GET / HTTP/1.1", "Host: u@a.test\r\n"), "invalid");
}

TEST(RequestHostTest, AnHttp10RequestMayHaveNone) {
  EXPECT_EQ(HostOf("GET / HTTP/1.0", ""), "");
  EXPECT_EQ(HostOf("GET / HTTP/1.0", "Host: a.test\r\n"), "a.test");
  EXPECT_EQ(HostOf("GET / HTTP/1.0", "Host: a\r\nHost: a\r\n"), "invalid");
  EXPECT_EQ(HostOf("GET / HTTP/1.0", "Host: a.test:80:x\r\n"), "invalid");
  EXPECT_EQ(HostOf("GET http://a.test/ HTTP/1.0", ""), "a.test");
}

TEST(RequestHostTest, AnAbsoluteFormTargetWinsOverTheLine) {
  EXPECT_EQ(HostOf("GET http://b.test/x HTTP/1.1", "Host: a.test\r\n"), "b.test");
  EXPECT_EQ(HostOf("GET https://B.test.:443?x HTTP/1.1", "Host: a.test\r\n"), "B.test");
  EXPECT_EQ(HostOf("GET http://[::1]:80/ HTTP/1.1", "Host:\r\n"), "[::1]");
  EXPECT_EQ(HostOf("GET /?u=http://b.test/ HTTP/1.1", "Host: a.test\r\n"), "a.test");
  EXPECT_EQ(HostOf("OPTIONS * HTTP/1.1", "Host: a.test\r\n"), "a.test");
}

TEST(RequestHostTest, TheTargetOfConnectWinsOverTheLine) {
  EXPECT_EQ(HostOf("CONNECT b.test:443 HTTP/1.1", "Host: a.test\r\n"), "b.test");
  EXPECT_EQ(HostOf("CONNECT B.test.:1 HTTP/1.1", "Host:\r\n"), "B.test");
  EXPECT_EQ(HostOf("CONNECT [::1]:443 HTTP/1.1", "Host: a.test\r\n"), "[::1]");
  EXPECT_EQ(HostOf("CONNECT 127.0.0.1:443 HTTP/1.1", "Host: a.test\r\n"), "127.0.0.1");
  EXPECT_EQ(HostOf("CONNECT b.test:443 HTTP/1.0", ""), "b.test");
  EXPECT_EQ(HostOf("CONNECT b.test:443 HTTP/1.1", ""), "invalid");
  EXPECT_EQ(HostOf("CONNECT b.test:443 HTTP/1.1", "Host: u@a.test\r\n"), "invalid");
}

TEST(RequestHostTest, TheTargetOfConnectHasAHostAndAPort) {
  for (const char* target : {"b.test", "b.test:", "b1", "127.0.0.1", "[::1]", "[::1]:", ":443",
                             ".:443", "u@b.test:443", "b.test:443:1", "b.test:x1", "/x", "/x:1",
                             "http://b.test:443", "http://b.test:443/", "*"}) {
    const std::string line = std::string("CONNECT ") + target + " HTTP/1.1";
    EXPECT_EQ(HostOf(line, "Host: b.test\r\n"), "invalid") << target;
  }
}

TEST(RequestHostTest, AnAbsoluteFormTargetExcusesNoLine) {
  EXPECT_EQ(HostOf("GET http://b.test/ HTTP/1.1", ""), "invalid");
  EXPECT_EQ(HostOf("GET http://b.test/ HTTP/1.1", "Host: u@a.test\r\n"), "invalid");
  EXPECT_EQ(HostOf("GET http://b.test/ HTTP/1.1", "Host: b.test\r\nHost: b.test\r\n"), "invalid");
}

TEST(RequestHostTest, AnAbsoluteFormTargetHasAValidHost) {
  for (const char* authority :
       {"u@b.test", "@b.test", "b.test:80:x", "b.test:x", "", ":80", ".", "[b.test]", "b.test%"}) {
    const std::string line = std::string("GET http://") + authority + "/ HTTP/1.1";
    EXPECT_EQ(HostOf(line, "Host: b.test\r\n"), "invalid") << authority;
  }
}

}  // namespace
}  // namespace httpsys
