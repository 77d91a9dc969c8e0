#include "http1/method_table.h"

#include <gtest/gtest.h>

namespace httpsys::http1 {
namespace {

class MethodTableTest : public testing::Test {
 protected:
  MethodTable table_{{"ACL", "CONNECT", "GET", "HEAD", "M-SEARCH", "POST", "PUT"}};
};

TEST_F(MethodTableTest, EveryMethodIsFoundAtItsIndex) {
  for (int i = 0; i < 7; i++) EXPECT_EQ(table_.Find(table_.Name(static_cast<uint16_t>(i))), i);
}

TEST_F(MethodTableTest, OtherWordsAreNotFound) {
  for (const char* word : {"", "G", "GE", "GETS", "get", "Get", "PATCH", "M-SEARCHES"}) {
    EXPECT_EQ(table_.Find(word), -1) << word;
  }
}

TEST_F(MethodTableTest, BeginningsOfMethodsArePrefixes) {
  for (const char* word : {"", "P", "PO", "POST", "M-", "M-SEARCH"}) {
    EXPECT_TRUE(table_.IsPrefix(word)) << word;
  }
  for (const char* word : {"p", "PX", "POSTS", "GET ", "-"}) {
    EXPECT_FALSE(table_.IsPrefix(word)) << word;
  }
}

TEST_F(MethodTableTest, ConnectIsKnownByItsIndex) {
  EXPECT_EQ(table_.connect(), 1);
  EXPECT_EQ(MethodTable({"GET"}).connect(), -1);
}

TEST_F(MethodTableTest, LongestMethodIsMeasured) {
  EXPECT_EQ(table_.longest_bytes(), 8u);
  EXPECT_EQ(MethodTable({}).longest_bytes(), 0u);
  EXPECT_EQ(MethodTable({}).Find("GET"), -1);
}

}  // namespace
}  // namespace httpsys::http1
