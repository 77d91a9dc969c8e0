#include "http2/response_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace httpsys::http2 {
namespace {

using List = std::vector<std::pair<std::string, std::string>>;

List Listed(const ResponseFields& fields) {
  List list;
  for (size_t i = 0; i < fields.size(); ++i) {
    const NgField& field = fields.data()[i];
    list.emplace_back(std::string(reinterpret_cast<char*>(field.name), field.name_bytes),
                      std::string(reinterpret_cast<char*>(field.value), field.value_bytes));
  }
  return list;
}

TEST(ResponseFieldsTest, NamesAreInLowerCaseAndTheStatusComesFirst) {
  ResponseFields fields;
  fields.Fill(404, {{"Content-Type", "a/b"}, {"ETag", "\"x\""}});
  EXPECT_EQ(Listed(fields), (List{{":status", "404"}, {"content-type", "a/b"}, {"etag", "\"x\""}}));
}

TEST(ResponseFieldsTest, WhatIsAboutTheConnectionStaysBehind) {
  ResponseFields fields;
  fields.Fill(200, {{"Connection", "close , X-Hop,"},
                    {"x-hop", "1"},
                    {"Keep-Alive", "timeout=5"},
                    {"Transfer-Encoding", "chunked"},
                    {"Upgrade", "h2c"},
                    {"Proxy-Connection", "x"},
                    {"TE", "x"},
                    {"HTTP2-Settings", "x"},
                    {"X-End", "y"}});
  EXPECT_EQ(Listed(fields), (List{{":status", "200"}, {"x-end", "y"}}));
}

TEST(ResponseFieldsTest, WhatCannotBeSentIsLeftOut) {
  ResponseFields fields;
  fields.Fill(200, {{"bad name", "x"}, {"bad-value", std::string_view("a\0b", 3)}, {"ok", "x"}});
  EXPECT_EQ(Listed(fields), (List{{":status", "200"}, {"ok", "x"}}));
}

TEST(ResponseFieldsTest, AnAcceptedUpgradeIsASuccessWithoutItsKey) {
  ResponseFields fields;
  fields.FillAccept({{"Upgrade", "websocket"},
                     {"Connection", "Upgrade"},
                     {"Sec-WebSocket-Accept", "x"},
                     {"Sec-WebSocket-Protocol", "chat"}});
  EXPECT_EQ(Listed(fields), (List{{":status", "200"}, {"sec-websocket-protocol", "chat"}}));
}

}  // namespace
}  // namespace httpsys::http2
