// Which owner of a queue gets a request. The other owners are names under which the test listens.

#include "engine/peers/owner_choice.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <uv.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "sharing/meeting_place.h"
#include "sharing/port_routing.h"
#include "sharing/port_state.h"
#include "support/own_attachment.h"
#include "support/peer_links_fixture.h"

namespace httpsys::engine {
namespace {

constexpr uint64_t kSelf = 1;
constexpr uint32_t kServer = 3;

class OwnerChoiceTest : public testing::Test {
 protected:
  OwnerChoiceTest() {
    uv_loop_init(&loop_);
    EXPECT_EQ(sharing::ListenUnder(sharing::MemberName(kLiving), &named_), 0);
    links_ = std::make_unique<PeerLinks>(&loop_, kSelf, &patience_, &asked_, &asked_);
    choice_ = std::make_unique<OwnerChoice>(&loop_, kSelf, attachment_.list(), &table_, &patience_,
                                            links_.get());
  }
  ~OwnerChoiceTest() override {
    choice_->Close();
    links_->Close();
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
    close(named_.fd);
  }

  // The queue has an owner here, one that has just died, and perhaps one that lives.
  const sharing::PortRoutes::Target& SetOwners(bool is_opening, bool has_living) {
    ServerSettings settings;
    settings.is_opening = is_opening;
    auto server = std::make_unique<LaneServer>();
    server->id = kServer;
    server->config = ServerConfig::Create(std::move(settings));
    servers_[kServer] = std::move(server);
    sharing::PortState state(test::kPort);
    for (const uint64_t member : {kSelf, kDead, kLiving}) {
      if (member == kLiving && !has_living) continue;
      EXPECT_TRUE(state.AddEntry({member, kServer, 0, 0, 0, "q", "http://*:8080/"}, 1000));
    }
    sharing::PortRouting routing(test::kPort, kSelf);
    table_.SetRoutes(routing.Update(state.entries_to_follow(), false));
    return table_.Find(test::kPort)->routes->target(0);
  }
  // Returns the member that gets a request of the dead one; 0 = this one.
  uint64_t OwnerInPlaceOfDead(const sharing::PortRoutes::Target& target) {
    for (const sharing::PortRoutes::Owner& owner : target.owners) {
      if (owner.member == kDead) return choice_->OtherOwner(target, owner)->member;
    }
    return kDead;
  }

  const uint64_t kDead = sharing::RandomId();
  const uint64_t kLiving = sharing::RandomId();
  uv_loop_t loop_;
  sharing::NamedSocket named_;
  test::OwnAttachment attachment_;
  LaneServers servers_;
  PortStatistics statistics_;
  PortTable table_{&servers_, &statistics_};
  LanePatience patience_{[](bool) {}, [] {}};
  test::Owner asked_;
  std::unique_ptr<PeerLinks> links_;
  std::unique_ptr<OwnerChoice> choice_;
};

TEST_F(OwnerChoiceTest, AnOwnerHereTakesThePlaceOfOneThatHasDied) {
  EXPECT_EQ(OwnerInPlaceOfDead(SetOwners(false, true)), 0u);
}

TEST_F(OwnerChoiceTest, AnOwnerThatDoesNotListenYetDoesSoOnlyIfThereIsNoOther) {
  EXPECT_EQ(OwnerInPlaceOfDead(SetOwners(true, true)), kLiving);
  EXPECT_EQ(OwnerInPlaceOfDead(SetOwners(true, false)), 0u);
}

}  // namespace
}  // namespace httpsys::engine
