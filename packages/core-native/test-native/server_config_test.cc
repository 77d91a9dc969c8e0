#include "engine/server_config.h"

#include <gtest/gtest.h>

namespace httpsys::engine {
namespace {

std::shared_ptr<const ServerConfig> Config(std::vector<std::string> prefixes) {
  ServerSettings settings;
  settings.prefixes = std::move(prefixes);
  return ServerConfig::Create(std::move(settings));
}

TEST(ServerConfig, AnEmptyPrefixIsAnIdThatIsNotInUse) {
  const auto config = Config({"", "http://*:80/a/", ""});
  ASSERT_NE(config, nullptr);
  const Route route = config->FindPrefix(80, "h", "/a/b", {});
  EXPECT_EQ(route.status, RouteStatus::kMatch);
  EXPECT_EQ(route.id, 1u);
  EXPECT_EQ(config->FindPrefix(80, "h", "/b", {}).status, RouteStatus::kNotFound);
}

TEST(ServerConfigTest, WithoutPrefixesEverythingIsOwned) {
  EXPECT_EQ(Config({})->FindPrefix(1, "a", "/", {}).status, RouteStatus::kMatch);
}

TEST(ServerConfigTest, WithoutPrefixesLeftNothingIsOwned) {
  EXPECT_EQ(Config({"", ""})->FindPrefix(1, "a", "/", {}).status, RouteStatus::kUnknownHost);
}

TEST(ServerConfigTest, ThePortOfTheConnectionChoosesAmongPrefixesOfSeveralPorts) {
  const auto config = Config({"http://*:81/", "http://a.test:82/x/"});
  EXPECT_EQ(config->FindPrefix(81, "b.test", "/x/y", {}).id, 0u);
  EXPECT_EQ(config->FindPrefix(82, "a.test", "/x/y", {}).id, 1u);
  EXPECT_EQ(config->FindPrefix(82, "b.test", "/x/y", {}).status, RouteStatus::kUnknownHost);
  EXPECT_EQ(config->FindPrefix(83, "a.test", "/x/y", {}).status, RouteStatus::kUnknownHost);
}

TEST(ServerConfigTest, BadAndRepeatedPrefixesAreRefused) {
  EXPECT_EQ(Config({"http://a.test/"}), nullptr);
  EXPECT_EQ(Config({"http://a.test:80/", "http://a.test:80/"}), nullptr);
}

}  // namespace
}  // namespace httpsys::engine
