// The server name of a ClientHello, whole, in pieces, in several records, and of what is none.

#include "tls/hello_peek.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace httpsys::tls {
namespace {

std::string Number(size_t value, size_t bytes) {
  std::string text;
  for (size_t i = bytes; i-- > 0;) text += static_cast<char>(value >> (i * 8));
  return text;
}

std::string Vector(std::string_view bytes, size_t length_bytes) {
  return Number(bytes.size(), length_bytes).append(bytes);
}

std::string Extension(size_t type, std::string_view body) {
  return Number(type, 2) + Vector(body, 2);
}

std::string Servername(std::string_view name) {
  return Extension(0, Vector(std::string(1, '\0') + Vector(name, 2), 2));
}

std::string Message(std::string_view extensions) {
  std::string body = Number(0x0303, 2) + std::string(32, 'r') + Vector("session", 1) +
                     Vector("\x13\x01\x13\x02", 2) + Vector(std::string(1, '\0'), 1);
  if (!extensions.empty()) body += Vector(extensions, 2);
  return std::string(1, '\1') + Vector(body, 3);
}

std::string Record(std::string_view fragment) {
  return std::string("\x16\x03\x01", 3) + Vector(fragment, 2);
}

std::string NameIn(const std::string& bytes) {
  std::string name;
  EXPECT_EQ(PeekServername(bytes, &name), PeekStatus::kHello);
  return name;
}

PeekStatus StatusOf(const std::string& bytes) {
  std::string name;
  return PeekServername(bytes, &name);
}

TEST(HelloPeekTest, TheNameIsFoundBetweenOtherExtensions) {
  const std::string hello =
      Record(Message(Extension(16, "alpn") + Servername("shop.test") + Extension(43, "versions")));
  EXPECT_EQ(NameIn(hello), "shop.test");
  EXPECT_EQ(NameIn(hello + "what follows is not looked at"), "shop.test");
}

TEST(HelloPeekTest, EveryBeginningOfItNeedsMore) {
  const std::string hello = Record(Message(Servername("shop.test")));
  for (size_t i = 0; i < hello.size(); ++i) {
    EXPECT_EQ(StatusOf(hello.substr(0, i)), PeekStatus::kNeedMore) << i << " bytes";
  }
}

TEST(HelloPeekTest, AMessageMayComeInRecordsOfOneByte) {
  std::string hello;
  for (const char byte : Message(Servername("shop.test"))) hello += Record({&byte, 1});
  EXPECT_EQ(NameIn(hello), "shop.test");
}

TEST(HelloPeekTest, CaseAndAFinalDotDoNotCount) {
  EXPECT_EQ(NameIn(Record(Message(Servername("Shop.TEST.")))), "shop.test");
}

TEST(HelloPeekTest, WithoutAUsableNameThereIsNone) {
  EXPECT_EQ(NameIn(Record(Message(""))), "");
  EXPECT_EQ(NameIn(Record(Message(Extension(16, "alpn")))), "");
  EXPECT_EQ(NameIn(Record(Message(Servername("")))), "");
  EXPECT_EQ(NameIn(Record(Message(Servername(std::string(254, 'a'))))), "");
  EXPECT_EQ(NameIn(Record(Message(Servername(std::string(5000, 'a'))))), "");
  EXPECT_EQ(NameIn(Record(Message(Extension(0, std::string("\0\7\0\0\x50name", 9))))), "")
      << "a length that lies";
  EXPECT_EQ(NameIn(Record(Message(Extension(0, Vector("\1" + Vector("name", 2), 2))))), "")
      << "of another type";
}

TEST(HelloPeekTest, WhatIsNoClientHelloIsSomethingElse) {
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n"), PeekStatus::kOther);
  EXPECT_EQ(StatusOf(std::string("\x16\x02", 2)), PeekStatus::kOther);
  EXPECT_EQ(StatusOf(Record(std::string(1, '\2') + Vector("body", 3))), PeekStatus::kOther);
  EXPECT_EQ(StatusOf(std::string("\x16\x03\x01\0\0", 5)), PeekStatus::kOther);
  EXPECT_EQ(StatusOf(std::string("\x16\x03\x01\xff\xff", 5)), PeekStatus::kOther);
  EXPECT_EQ(StatusOf(Record(std::string("\1\xff\xff\xff", 4))), PeekStatus::kOther)
      << "longer than anybody's";
  EXPECT_EQ(StatusOf(Record("\1\1\1") + "x"), PeekStatus::kOther) << "no record behind the first";
}

}  // namespace
}  // namespace httpsys::tls
