#include "engine/command_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace httpsys::engine {
namespace {

using Kind = CommandQueue::Kind;

class CommandQueueTest : public testing::Test {
 protected:
  void Add(const std::string& name, Kind kind) {
    queue_.Add([this, name] { ran_.push_back(name); }, kind);
  }
  std::vector<std::string> Run(const std::vector<CommandQueue::Command>& commands) {
    ran_.clear();
    for (const CommandQueue::Command& command : commands) command.run();
    return ran_;
  }

  CommandQueue queue_;

 private:
  std::vector<std::string> ran_;
};

using Names = std::vector<std::string>;

TEST_F(CommandQueueTest, OrdersEndAtTheFirstOtherCommand) {
  Add("unlisten", Kind::kUnlisten);
  Add("adopt", Kind::kAdopt);
  Add("check", Kind::kOther);
  Add("config", Kind::kConfig);
  EXPECT_TRUE(queue_.has_orders());
  EXPECT_EQ(Run(queue_.TakeOrders()), (Names{"unlisten", "adopt"}));
  EXPECT_FALSE(queue_.has_orders());
  EXPECT_EQ(Run(queue_.TakeAll()), (Names{"check", "config"}));
}

// Otherwise a lane would see that a server was closed and answer its clients before it sees that
// the server listens again, because another thread had something to say in between.
TEST_F(CommandQueueTest, CommandsWithoutOrderDoNotPartOthers) {
  Add("unlisten", Kind::kUnlisten);
  Add("one", Kind::kUnordered);
  Add("config", Kind::kConfig);
  Add("two", Kind::kUnordered);
  EXPECT_EQ(Run(queue_.TakeOrders()), (Names{"unlisten", "config"}));
  EXPECT_EQ(Run(queue_.TakeAll()), (Names{"one", "two"}));
}

TEST_F(CommandQueueTest, SettingsAreTakenPastCommandsWithoutOrder) {
  Add("one", Kind::kUnordered);
  Add("config", Kind::kConfig);
  Add("adopt", Kind::kAdopt);
  Add("later", Kind::kConfig);
  EXPECT_TRUE(queue_.has_configs());
  EXPECT_EQ(Run(queue_.TakeConfigs()), Names{"config"});
  EXPECT_EQ(Run(queue_.TakeAll()), (Names{"one", "adopt", "later"}));
}

}  // namespace
}  // namespace httpsys::engine
