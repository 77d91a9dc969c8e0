// Tests of the frames in which members tell each other that their JavaScript is blocked.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/peer_links_fixture.h"

namespace httpsys::engine {
namespace {

using peer::FrameType;
using test::kPort;
using test::PeerLinksTest;

TEST_F(PeerLinksTest, ABlockedMemberTellsOfHasteBeforeWhatItPassesOn) {
  LinkToScript();
  HandOver("in time");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 1; }));
  EXPECT_EQ(played_.types, (std::vector<FrameType>{FrameType::kLink, FrameType::kHandOver}));
  patience_.OnBlocked(uv_now(&loop_));
  HandOver("late");
  HandOver("late, too");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 3; }));
  EXPECT_EQ(played_.types,
            (std::vector<FrameType>{FrameType::kLink, FrameType::kHandOver, FrameType::kHaste,
                                    FrameType::kHandOver, FrameType::kHandOver}))
      << "once for all of them";
}

TEST_F(PeerLinksTest, HasteIsPassedOnBeforeTheConnectionsThatHaveWaited) {
  Link();
  patience_.OnBlocked(uv_now(&loop_));
  HandOver("late");
  ASSERT_TRUE(Until([&] { return receives_.handed.size() == 1; }));
  EXPECT_TRUE(receivers_patience_.is_hasty());
  EXPECT_FALSE(receivers_patience_.TellsHaste(uv_now(&loop_)));
  ASSERT_TRUE(Until([&] { return !sender_->HasUnacknowledged(); }));
}

TEST_F(PeerLinksTest, SomebodyWhoHasNotSaidWhoItIsIsNotInHaste) {
  ScriptToReceiver();
  script_->Send(FrameType::kHaste, {});
  EXPECT_TRUE(Until([&] { return played_.is_broken; }));
  EXPECT_FALSE(receivers_patience_.is_hasty());
}

TEST_F(PeerLinksTest, WhoGetsSomethingFromABlockedMemberHearsOfItOnceAndWhenItHasBegun) {
  LinkToScript();
  sender_->SetBlocked(true);
  HandOver("late");
  HandOver("late, too");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 2; }));
  sender_->SetBlocked(false);
  sender_->SetBlocked(false);
  HandOver("in time");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 3; }));
  EXPECT_EQ(played_.types, (std::vector<FrameType>{FrameType::kLink, FrameType::kBlocked,
                                                   FrameType::kHandOver, FrameType::kHandOver,
                                                   FrameType::kBegun, FrameType::kHandOver}));
}

TEST_F(PeerLinksTest, WhoGetsSomethingOverAnotherSocketHearsOfItOverItsLink) {
  LinkToScript();
  HandOver("in time");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 1; }));
  sender_->TellBlocked(kId);
  sender_->SetBlocked(true);
  sender_->TellBlocked(kId + 1);
  sender_->TellBlocked(kId);
  sender_->TellBlocked(kId);
  HandOver("late");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 2; }));
  EXPECT_EQ(played_.types, (std::vector<FrameType>{FrameType::kLink, FrameType::kHandOver,
                                                   FrameType::kBlocked, FrameType::kHandOver}));
}

TEST_F(PeerLinksTest, AMemberIsBlockedFromWhenItSaysSoUntilItHasBegunSomething) {
  Link();
  EXPECT_FALSE(receiver_->IsBlocked(1));
  sender_->SetBlocked(true);
  HandOver("late");
  ASSERT_TRUE(Until([&] { return receives_.handed.size() == 1; }));
  EXPECT_TRUE(receiver_->IsBlocked(1));
  EXPECT_FALSE(receiver_->IsBlocked(2));
  EXPECT_EQ(receives_.begun, 0);
  sender_->SetBlocked(false);
  ASSERT_TRUE(Until([&] { return receives_.begun == 1; }));
  EXPECT_FALSE(receiver_->IsBlocked(1));
}

TEST_F(PeerLinksTest, ABlockedMemberThatHasGoneIsNotBlocked) {
  ScriptToReceiver();
  peer::Link hello;
  hello.id = 9;
  script_->Send(FrameType::kLink, peer::Encode(hello));
  script_->Send(FrameType::kBlocked, {});
  ASSERT_TRUE(Until([&] { return receiver_->IsBlocked(9); }));
  CloseScript();
  ASSERT_TRUE(Until([&] { return receives_.begun == 1; }));
  EXPECT_FALSE(receiver_->IsBlocked(9));
}

TEST_F(PeerLinksTest, SomebodyWhoHasNotSaidWhoItIsIsNotBlocked) {
  ScriptToReceiver();
  script_->Send(FrameType::kBlocked, {});
  EXPECT_TRUE(Until([&] { return played_.is_broken; }));
  EXPECT_FALSE(receiver_->IsBlocked(0));
}

class UnbegunRequestTest : public PeerLinksTest {
 protected:
  // A member relays a request, which comes back because JavaScript is blocked. Returns what the
  // member is told then.
  std::vector<FrameType> Return() {
    ScriptToReceiver();
    script_->Send(FrameType::kLink, peer::Encode(peer::Link{}));
    const std::array<int, 2> pair = test::SocketPair();
    clients_.push_back(pair[1]);
    peer::Relay relay;
    relay.port = kPort;
    relay.id = 7;
    script_->Send(FrameType::kRelay, peer::Encode(relay), pair[0]);
    EXPECT_TRUE(Until([&] { return receives_.handed.size() == 1; }));
    close(pair[0]);
    played_.types.clear();
    receiver_->SendUnbegun(*receives_.handed[0].origin);
    EXPECT_TRUE(Until([&] {
      return !played_.types.empty() && (played_.types.back() == FrameType::kUnbegun ||
                                        played_.types.back() == FrameType::kReturned);
    }));
    std::erase(played_.types, FrameType::kTaken);
    return played_.types;
  }
};

TEST_F(UnbegunRequestTest, AMemberIsToldThatItIsOnlyTheOwnerThatIsBlocked) {
  EXPECT_EQ(Return(), std::vector<FrameType>{FrameType::kUnbegun});
}

TEST_F(UnbegunRequestTest, ItHearsFirstThatTheOwnerIsBlocked) {
  receiver_->SetBlocked(true);
  EXPECT_EQ(Return(), (std::vector<FrameType>{FrameType::kBlocked, FrameType::kUnbegun}));
}

TEST_F(UnbegunRequestTest, WhoRelaysHearsOfIt) {
  Link();
  const RelayOrigin& origin = HandOverRelay();
  receiver_->SetBlocked(true);
  receiver_->SendUnbegun(origin);
  ASSERT_TRUE(Until([&] { return !sends_.unbegun.empty(); }));
  EXPECT_EQ(sends_.unbegun, std::vector<uint32_t>{7});
  EXPECT_TRUE(sends_.returned.empty());
  EXPECT_TRUE(sender_->IsBlocked(kId));
  receiver_->SetBlocked(false);
  ASSERT_TRUE(Until([&] { return sends_.begun == 1; }));
  EXPECT_FALSE(sender_->IsBlocked(kId));
}

}  // namespace
}  // namespace httpsys::engine
