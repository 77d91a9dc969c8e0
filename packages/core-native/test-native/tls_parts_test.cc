#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "tls/client_hello.h"
#include "tls/hello_peek.h"
#include "tls/ticket_keys.h"

namespace httpsys::tls {
namespace {

using namespace std::string_view_literals;

TEST(ClientHelloTest, ReadsAServerName) {
  EXPECT_EQ(ServernameOf("\x00\x09\x00\x00\x06"
                         "a.test"sv),
            "a.test");
}

TEST(ClientHelloTest, ServerNamesThatAreNoneCountAsNone) {
  for (const std::string_view bad : {
           ""sv,
           "\x00"sv,
           "\x00\x09\x00\x00\x06"sv,
           "\x00\x09\x01\x00\x06"
           "a.test"sv,
           "\x00\x09\x00\x00\x07"
           "a.test"sv,
           "\x00\x08\x00\x00\x06"
           "a.test"sv,
           "\x00\x09\x00\x00\x06"
           "a\0test"sv,
       }) {
    EXPECT_EQ(ServernameOf(bad), "") << bad.size();
  }
}

TEST(ClientHelloTest, ReadsAnAlpnList) {
  EXPECT_EQ(AlpnOf("\x00\x03\x02h2"sv), "\x02h2");
  EXPECT_EQ(AlpnOf("\x00\x04\x02h2"sv), "");
  EXPECT_EQ(AlpnOf("\x00"sv), "");
}

TEST(ClientHelloTest, TheServersOrderDecides) {
  EXPECT_EQ(ChooseProtocol("\x02h2\x08http/1.1", "\x08http/1.1\x02h2"), "h2");
  EXPECT_EQ(ChooseProtocol("\x02h2", "\x08http/1.1"), "");
  EXPECT_EQ(ChooseProtocol("", "\x08http/1.1"), "");
  EXPECT_EQ(ChooseProtocol("\x02h2", "\x09http/1.1"), "");
  EXPECT_EQ(ChooseProtocol("\x02h2", "\x00\x02h2"sv), "");
}

TEST(ClientHelloTest, AStarIsWithinALabel) {
  EXPECT_TRUE(MatchesHost("a.test", "A.TEST"));
  EXPECT_TRUE(MatchesHost("*.test", "a.test"));
  EXPECT_TRUE(MatchesHost("a*c.test", "abbc.test"));
  EXPECT_TRUE(MatchesHost("*", "localhost"));
  EXPECT_TRUE(MatchesHost("*.*.test", "a.b.test"));
  EXPECT_FALSE(MatchesHost("*.test", "a.b.test"));
  EXPECT_FALSE(MatchesHost("*", "a.test"));
  EXPECT_FALSE(MatchesHost("a.test", "a.testx"));
  EXPECT_FALSE(MatchesHost("a.testx", "a.test"));
  EXPECT_FALSE(MatchesHost("", "a"));
}

class TicketKeysTest : public testing::Test {
 protected:
  struct Parts {
    Parts()
        : cipher(EVP_CIPHER_CTX_new()),
          kind(EVP_MAC_fetch(nullptr, "HMAC", nullptr)),
          mac(EVP_MAC_CTX_new(kind)) {}
    ~Parts() {
      EVP_CIPHER_CTX_free(cipher);
      EVP_MAC_CTX_free(mac);
      EVP_MAC_free(kind);
    }
    EVP_CIPHER_CTX* cipher;
    EVP_MAC* kind;
    EVP_MAC_CTX* mac;
  };

  static int Seal(TicketKeys& keys, uint64_t now, uint8_t* name, uint8_t* iv) {
    Parts parts;
    return keys.Seal(now, name, iv, parts.cipher, parts.mac);
  }

  static int Open(TicketKeys& keys, uint64_t now, const uint8_t* name, const uint8_t* iv) {
    Parts parts;
    return keys.Open(now, name, iv, parts.cipher, parts.mac);
  }

  uint8_t name_[kTicketNameBytes];
  uint8_t iv_[EVP_MAX_IV_LENGTH];
};

TEST_F(TicketKeysTest, KeysAreReplacedAndOldOnesKeptForAWhile) {
  const auto keys = TicketKeys::Create();
  const uint64_t start = 1'000;
  ASSERT_EQ(Seal(*keys, start, name_, iv_), 1);
  EXPECT_EQ(Open(*keys, start + 1, name_, iv_), 1);
  uint64_t now = start;
  for (size_t i = 1; i < limits::kTicketKeysKept; ++i) {
    now += limits::kTicketKeyMs;
    EXPECT_EQ(Open(*keys, now, name_, iv_), 2) << i;
  }
  now += limits::kTicketKeyMs;
  EXPECT_EQ(Open(*keys, now, name_, iv_), 0);
}

TEST_F(TicketKeysTest, ProcessesOfAPortOpenWhatOneOfThemHasSealed) {
  const auto first = TicketKeys::Create();
  const auto second = TicketKeys::Create();
  const uint64_t start = 1'000'000;
  uint8_t own[kTicketNameBytes];
  ASSERT_EQ(Seal(*second, start, own, iv_), 1);
  second->Learn(start, first->Tell(start));
  ASSERT_EQ(Seal(*second, start, name_, iv_), 1);
  EXPECT_EQ(Open(*first, start, name_, iv_), 1) << "sealed with what it was told";
  EXPECT_EQ(Open(*second, start, own, iv_), 2) << "from before it was told";
  EXPECT_EQ(Open(*first, start, own, iv_), 0);
  ASSERT_EQ(Seal(*first, start, name_, iv_), 1);
  // They are replaced, and told; clocks of processes differ by what a message takes.
  uint64_t now = start;
  for (size_t i = 1; i < limits::kTicketKeysKept; ++i) {
    now += limits::kTicketKeyMs;
    second->Learn(now + 5, first->Tell(now));
    EXPECT_EQ(Open(*first, now + 5, name_, iv_), 2) << i;
    EXPECT_EQ(Open(*second, now + 5, name_, iv_), 2) << i;
    uint8_t fresh[kTicketNameBytes];
    ASSERT_EQ(Seal(*second, now + 5, fresh, iv_), 1);
    EXPECT_NE(std::memcmp(fresh, name_, sizeof fresh), 0);
    EXPECT_EQ(Open(*first, now + 5, fresh, iv_), 1);
  }
  now += limits::kTicketKeyMs;
  second->Learn(now + 5, first->Tell(now));
  EXPECT_EQ(Open(*first, now + 5, name_, iv_), 0);
  EXPECT_EQ(Open(*second, now + 5, name_, iv_), 0);
  EXPECT_EQ(Open(*second, now + 5, own, iv_), 0);
}

TEST_F(TicketKeysTest, WhoIsToldNothingReplacesThemByItself) {
  const auto first = TicketKeys::Create();
  const auto second = TicketKeys::Create();
  const uint64_t start = 1'000'000;
  second->Learn(start, first->Tell(start));
  ASSERT_EQ(Seal(*second, start, name_, iv_), 1);
  const uint64_t late = start + limits::kTicketKeyMs + limits::kTicketTellMs;
  uint8_t next[kTicketNameBytes];
  ASSERT_EQ(Seal(*second, late, next, iv_), 1);
  EXPECT_EQ(std::memcmp(next, name_, sizeof next), 0) << "the news may be on their way";
  ASSERT_EQ(Seal(*second, late + limits::kTicketTellMs, next, iv_), 1);
  EXPECT_NE(std::memcmp(next, name_, sizeof next), 0);
}

TEST_F(TicketKeysTest, NonsenseThatIsToldIsNotLearned) {
  const auto keys = TicketKeys::Create();
  ASSERT_EQ(Seal(*keys, 1'000, name_, iv_), 1);
  const std::string good(kToldKeyBytes, 'k');
  keys->Learn(1'000, {});
  keys->Learn(1'000, {{"short", 0}, {std::string(kToldKeyBytes + 1, 'k'), 0}});
  keys->Learn(1'000, {{good, limits::kTicketKeyMs * limits::kTicketKeysKept}});
  keys->Learn(1'000, {{good, UINT64_MAX}});
  EXPECT_EQ(Open(*keys, 1'000, name_, iv_), 1);
  std::vector<TicketKeys::Told> many;
  for (int i = 0; i < 1000; ++i)
    many.push_back({std::string(kToldKeyBytes, static_cast<char>(i)), 0});
  keys->Learn(1'000, many);
  EXPECT_EQ(keys->Tell(1'000).size(), limits::kTicketKeysKept);
  EXPECT_EQ(Open(*keys, 1'000, name_, iv_), 2) << "what it has sealed it opens";
  const auto fixed = TicketKeys::Fixed(std::string(kTicketKeysBytes, 'f'));
  fixed->Learn(1'000, {{good, 0}});
  EXPECT_TRUE(fixed->Tell(1'000).empty()) << "the application's own are not told";
}

TEST_F(TicketKeysTest, FixedKeysStay) {
  const std::string bytes(kTicketKeysBytes, 'k');
  const auto one = TicketKeys::Fixed(bytes);
  const auto two = TicketKeys::Fixed(bytes);
  ASSERT_NE(one, nullptr);
  ASSERT_EQ(Seal(*one, 1, name_, iv_), 1);
  EXPECT_EQ(std::memcmp(name_, bytes.data(), kTicketNameBytes), 0);
  EXPECT_EQ(Open(*two, 100 * limits::kTicketKeyMs, name_, iv_), 1);
  EXPECT_EQ(Open(*TicketKeys::Create(), 1, name_, iv_), 0);
  EXPECT_EQ(TicketKeys::Fixed("short"), nullptr);
}

}  // namespace
}  // namespace httpsys::tls
