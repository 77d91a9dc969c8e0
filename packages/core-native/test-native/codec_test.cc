// Every message between members: there and back, cut off, and with bytes too many.

#include "peer/codec.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "backend/port_report.h"
#include "peer/messages.h"

namespace httpsys::peer {
namespace {

// Decodes it, at every length that is not its own in vain.
template <typename Message>
Message ThereAndBack(const Message& message) {
  const std::string bytes = Encode(message);
  Message result;
  EXPECT_TRUE(Decode(bytes, &result));
  EXPECT_EQ(Encode(result), bytes);
  for (size_t i = 0; i < bytes.size(); ++i) {
    Message cut;
    EXPECT_FALSE(Decode(std::string_view(bytes).substr(0, i), &cut)) << i << " bytes";
  }
  Message longer;
  EXPECT_FALSE(Decode(bytes + '\0', &longer));
  return result;
}

TEST(CodecTest, NumbersAreLittleEndian) {
  EXPECT_EQ(Encode(Sync{0x01020304}), std::string("\4\3\2\1", 4));
  EXPECT_EQ(Encode(MemberGone{0xff}), std::string("\xff\0\0\0\0\0\0\0", 8));
}

TEST(CodecTest, MessagesOfTheHandshakeArriveAsTheyWere) {
  const Hello hello = ThereAndBack(Hello{1, 2, 0x1122334455667788, 3, "server.js"});
  EXPECT_EQ(hello.id, 0x1122334455667788u);
  EXPECT_EQ(hello.program, "server.js");
  EXPECT_EQ(hello.newest, 2);
  EXPECT_EQ(ThereAndBack(Welcome{1, 7}).coordinator, 7u);
  EXPECT_EQ(ThereAndBack(Refusal{1, 3, 4}).newest, 4);
  EXPECT_EQ(ThereAndBack(Link{1, 1, 9}).id, 9u);
}

TEST(CodecTest, MessagesOfRegistrationsArriveAsTheyWere) {
  const Register wanted =
      ThereAndBack(Register{5,
                            6,
                            kEntryPlain,
                            2,
                            1,
                            "queue",
                            {{1, "http://*:80/a/"}, {2, ""}, {3, std::string(300, 'x')}}});
  ASSERT_EQ(wanted.prefixes.size(), 3u);
  EXPECT_EQ(wanted.prefixes[2].text, std::string(300, 'x'));
  EXPECT_EQ(wanted.prefixes[2].id, 3u);
  EXPECT_EQ(wanted.queue, "queue");
  EXPECT_EQ(ThereAndBack(Registered{5, 98, 77, "http://*:80/a/", 2, "q"}).pid, 77u);
  EXPECT_EQ(ThereAndBack(Registered{5, 98, 77, "http://*:80/a/", 2, "q"}).reason, 2);
  EXPECT_EQ(ThereAndBack(Registered{5, 98, 77, "http://*:80/a/", 2, "q"}).queue, "q");
  EXPECT_EQ(ThereAndBack(Unregister{6, 500, 0, {1, 2, 3}, 7}).prefix_ids.size(), 3u);
}

TEST(CodecTest, MessagesOfTheStateArriveAsTheyWere) {
  EXPECT_EQ(ThereAndBack(Member{1, 2, 3, 4, "p"}).protocol, 4);
  ThereAndBack(MemberGone{1});
  ThereAndBack(Pong{1});
  ThereAndBack(Doubt{8080});
  const Entry entry = ThereAndBack(Entry{1, 2, 3, kEntryExclusive, 400, "q", "http://*:80/"});
  EXPECT_EQ(entry.absent_ms, 400u);
  EXPECT_EQ(entry.prefix, "http://*:80/");
  EXPECT_EQ(ThereAndBack(EntryGone{1, 2, 3}).prefix_id, 3u);
  EXPECT_EQ(ThereAndBack(Sync{8}).serial, 8u);
  EXPECT_EQ(ThereAndBack(Sequence{9}).sequence, 9u);
}

TEST(CodecTest, TermsArriveAsTheyWere) {
  const std::string digest(kTermsBytes, 't');
  EXPECT_EQ(ThereAndBack(Entry{1, 2, 3, 0, 0, "q", "https://*:80/", digest}).terms, digest);
  const Register wanted{
      5, 6, 0, 0, 0, "", {{1, "http://*:80/a/", ""}, {2, "https://*:80/b/", digest}}};
  const Register asked = ThereAndBack(wanted);
  EXPECT_EQ(asked.prefixes[0].terms, "");
  EXPECT_EQ(asked.prefixes[1].terms, digest);
}

TEST(CodecTest, TermsThatAreNoDigestAreRefused) {
  for (const size_t bytes : {size_t{1}, kTermsBytes - 1, kTermsBytes + 1}) {
    const std::string terms(bytes, 't');
    Entry entry;
    EXPECT_FALSE(Decode(Encode(Entry{1, 2, 3, 0, 0, "q", "https://*:80/", terms}), &entry));
    Register asked;
    EXPECT_FALSE(
        Decode(Encode(Register{5, 6, 0, 0, 0, "", {{1, "https://*:80/", terms}}}), &asked));
  }
}

TEST(CodecTest, MessagesOfCachesArriveAsTheyWere) {
  const CacheWish wish = ThereAndBack(CacheWish{uint64_t{1} << 40, 2, 3, 4});
  EXPECT_EQ(wish.bytes, uint64_t{1} << 40);
  EXPECT_EQ(wish.limit, 2u);
  EXPECT_EQ(wish.held, 3u);
  EXPECT_EQ(wish.serial, 4u);
  EXPECT_EQ(ThereAndBack(CacheGrant{7, 8}).bytes, 7u);
  EXPECT_EQ(ThereAndBack(CacheGrant{7, 8}).serial, 8u);
  const CacheAsk ask = ThereAndBack(CacheAsk{7, 8});
  EXPECT_EQ(ask.server_id, 7u);
  EXPECT_EQ(ask.prefix_id, 8u);
  const CacheChunk chunk = ThereAndBack(CacheChunk{3, uint64_t{1} << 40});
  EXPECT_EQ(chunk.chunk, 3u);
  EXPECT_EQ(chunk.serial, uint64_t{1} << 40);
  EXPECT_EQ(ThereAndBack(CacheGone{9}).chunk, 9u);
  const CacheScope bare = ThereAndBack(CacheScope{1, 2, 70'000, 3, "http://*:80/", ""});
  EXPECT_EQ(bare.scope, 70'000u);
  EXPECT_EQ(bare.flags, 3);
  EXPECT_EQ(bare.prefix, "http://*:80/");
  EXPECT_EQ(bare.terms, "");
  const std::string digest(kTermsBytes, 't');
  EXPECT_EQ(ThereAndBack(CacheScope{1, 2, 70'000, 0, "", digest}).terms, digest);
}

TEST(CodecTest, AScopeWithTermsThatAreNoDigestIsRefused) {
  CacheScope read;
  const std::string digest(kTermsBytes, 't');
  EXPECT_TRUE(Decode(Encode(CacheScope{1, 2, 3, 0, "p", digest}), &read));
  EXPECT_FALSE(Decode(Encode(CacheScope{1, 2, 3, 0, "p", digest.substr(1)}), &read));
  EXPECT_FALSE(Decode(Encode(CacheScope{1, 2, 3, 0, "p", digest + "t"}), &read));
}

TEST(CodecTest, MessagesOfRelaysArriveAsTheyWere) {
  const Answered answer = ThereAndBack(Answered{1, uint64_t{1} << 40, 1});
  EXPECT_EQ(answer.total, uint64_t{1} << 40);
  EXPECT_EQ(ThereAndBack(Decided{2, 1}).is_upgraded, 1);
  EXPECT_EQ(ThereAndBack(Returned{3}).id, 3u);
}

TEST(CodecTest, AHandOverIsFollowedByTheBytesThatWereRead) {
  const HandOver message = ThereAndBack(HandOver{1, 8080, 2, 300, 16});
  EXPECT_EQ(message.port, 8080);
  EXPECT_EQ(Encode(message).size(), kHandOverBytes);
  const std::string bytes = Encode(message) + "GET / HTTP/1.1\r\n" + "next";
  HandOver read;
  Reader reader(bytes);
  reader(read);
  EXPECT_TRUE(reader.is_good());
  EXPECT_FALSE(reader.is_exact());
  EXPECT_EQ(reader.Take(read.bytes), "GET / HTTP/1.1\r\n");
  EXPECT_EQ(reader.rest(), "next");
}

TEST(CodecTest, MoreBytesThanThereAreAreNotTaken) {
  Reader reader("abc");
  EXPECT_EQ(reader.Take(4), "");
  EXPECT_FALSE(reader.is_good());
}

TEST(CodecTest, TheLongestPrefixFitsIntoAText) {
  const std::string longest(3 * 2048 + 253 + 20, 'x');
  EXPECT_EQ(ThereAndBack(Entry{1, 2, 3, 0, 0, "", longest}).prefix, longest);
}

TEST(CodecTest, ATextThatIsTooLongIsCutAndOneThatClaimsToBeIsRefused) {
  const PrefixItem item{1, std::string(kTextBytesMax + 1, 'x')};
  EXPECT_EQ(Encode(item).size(), 4 + 2 + kTextBytesMax + 2);
  const std::string claimed =
      std::string("\1\0\0\0\xff\xff", 6) + std::string(0xffff, 'x') + std::string(2, '\0');
  PrefixItem read;
  EXPECT_FALSE(Decode(claimed, &read));
}

TEST(CodecTest, AListThatIsTooLongIsRefusedBeforeMemoryIsTaken) {
  Unregister longest;
  longest.prefix_ids.assign(kListItemsMax, 1);
  ThereAndBack(Unregister{1, 2, 0, {}, 0});
  Unregister read;
  EXPECT_TRUE(Decode(Encode(longest), &read));
  longest.prefix_ids.push_back(1);
  EXPECT_FALSE(Decode(Encode(longest), &read));
  EXPECT_TRUE(read.prefix_ids.empty());
}

TEST(CodecTest, TheReportOfAPortArrivesAsItWas) {
  CacheEntry entry;
  entry.url = "http://a/";
  entry.created_s = 1u << 31;
  entry.varies = true;
  MemberReport member{1, "id", 2, "a.js", kProtocol, {}, {1, 2, 3, 4}, CacheReport{5, {entry}}};
  member.registrations.push_back({"http://*:80/", "queue", {6}, {7, 8, 9}});
  const PortReport read = ThereAndBack(PortReport{80, kProtocol, 1, {member}, {"[::]:80"}});
  ASSERT_EQ(read.members.size(), 1u);
  EXPECT_EQ(read.members[0].counters.cache_answers, 4u);
  EXPECT_EQ(read.members[0].registrations[0].queue_counters.refused, 9u);
  ASSERT_TRUE(read.members[0].cache.has_value());
  EXPECT_TRUE(read.members[0].cache->entries[0].varies);
  member.cache.reset();
  member.registrations.resize(kListItemsMax + 1);
  EXPECT_TRUE(Decode(Encode(member), &member)) << "a frame limits its length";
}

TEST(CodecTest, AReportOutOfItsBoundsIsRefused) {
  MemberReport member;
  MemberReport read;
  EXPECT_FALSE(Decode(Encode(member), &read)) << "no process";
  member.pid = 1u << 31;
  EXPECT_FALSE(Decode(Encode(member), &read));
  CacheEntry entry;
  entry.policy = 3;
  CacheReport cache;
  EXPECT_FALSE(Decode(Encode(CacheReport{0, {entry}}), &cache));
  entry.policy = 0;
  std::string bytes = Encode(CacheReport{0, {entry}});
  EXPECT_TRUE(Decode(bytes, &cache));
  bytes.back() = 2;
  EXPECT_FALSE(Decode(bytes, &cache)) << "neither true nor false";
}

TEST(CodecTest, AfterTheFirstBytesThatAreMissingNothingIsRead) {
  Reader reader(std::string_view("\1\0\0", 3));
  uint32_t first = 7;
  uint16_t second = 7;
  std::string text = "old";
  reader(first, second, text);
  EXPECT_FALSE(reader.is_good());
  EXPECT_EQ(first, 0u);
  EXPECT_EQ(second, 0u);
  EXPECT_EQ(text, "old");
}

}  // namespace
}  // namespace httpsys::peer
