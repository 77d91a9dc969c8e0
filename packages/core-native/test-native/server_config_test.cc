#include "engine/config/server_config.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "backend/tls_contexts.h"
#include "support/whole_prefixes.h"

namespace httpsys::engine {
namespace {

std::shared_ptr<const ServerConfig> Config(const std::vector<std::string>& prefixes) {
  ServerSettings settings;
  settings.prefixes = test::WholePrefixes(prefixes);
  return ServerConfig::Create(std::move(settings));
}

// Returns a version behind `last` with these changes, or nullptr.
std::shared_ptr<const ServerConfig> Change(const ServerConfig* last,
                                           std::vector<NumberedPrefix> changes) {
  ServerSettings settings;
  settings.prefixes = {.is_everything = false, .is_whole = false, .changes = std::move(changes)};
  return ServerConfig::Create(std::move(settings), last);
}

Route Find(const ServerConfig& config, uint16_t port, std::string_view host,
           std::string_view target) {
  http1::RequestHead head;
  head.host = host;
  head.has_host = true;
  head.target = target;
  return config.FindPrefix(port, head, {});
}

LocalAddress AddressOf(const char* text) {
  LocalAddress address;
  address.is_ip = ParseIpAddress(text, &address.ip);
  return address;
}

ServerSettings WithTls() {
  ServerSettings settings;
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  settings.tls = MakeTlsContext(context, {});
  SSL_CTX_free(context);
  return settings;
}

TEST(ServerConfig, AnEmptyPrefixIsAnIdThatIsNotInUse) {
  const auto config = Config({"", "http://*:80/a/", ""});
  ASSERT_NE(config, nullptr);
  const Route route = Find(*config, 80, "h", "/a/b");
  EXPECT_EQ(route.status, RouteStatus::kMatch);
  EXPECT_EQ(route.id, 1u);
  EXPECT_EQ(Find(*config, 80, "h", "/b").status, RouteStatus::kNotFound);
}

TEST(ServerConfigTest, WithoutPrefixesEverythingIsOwned) {
  EXPECT_EQ(Find(*Config({}), 1, "a", "/").status, RouteStatus::kMatch);
}

TEST(ServerConfigTest, WithoutPrefixesLeftNothingIsOwned) {
  EXPECT_EQ(Find(*Config({"", ""}), 1, "a", "/").status, RouteStatus::kUnknownHost);
}

TEST(ServerConfigTest, ThePortOfTheConnectionChoosesAmongPrefixesOfSeveralPorts) {
  const auto config = Config({"http://*:81/", "http://a.test:82/x/"});
  EXPECT_EQ(Find(*config, 81, "b.test", "/x/y").id, 0u);
  EXPECT_EQ(Find(*config, 82, "a.test", "/x/y").id, 1u);
  EXPECT_EQ(Find(*config, 82, "b.test", "/x/y").status, RouteStatus::kUnknownHost);
  EXPECT_EQ(Find(*config, 83, "a.test", "/x/y").status, RouteStatus::kUnknownHost);
}

TEST(ServerConfigTest, OnlyAServerOfPrefixesWantsAValidHost) {
  for (const char* host : {"", "a_b.test:80", "a.test.", "[::1]:80"}) {
    EXPECT_EQ(Find(*Config({"http://*:80/"}), 80, host, "/").status, RouteStatus::kMatch) << host;
  }
  for (const char* host : {"u@a.test", "a.test:80:x", "a b", ":80"}) {
    EXPECT_EQ(Find(*Config({"http://*:80/"}), 80, host, "/").status, RouteStatus::kBadHost) << host;
    EXPECT_EQ(Find(*Config({}), 80, host, "/").status, RouteStatus::kMatch) << host;
  }
}

TEST(ServerConfigTest, TlsGoesByPortOrByAddress) {
  const LocalAddress one = AddressOf("127.0.0.1");
  const LocalAddress other = AddressOf("::1");
  ServerSettings settings = WithTls();
  ASSERT_NE(settings.tls, TlsContextId::kNone);
  EXPECT_NE(ServerConfig::Create(settings)->TlsOf(80, {}), nullptr) << "everywhere";
  settings.prefixes = {.is_everything = false,
                       .changes = {},
                       .places = {{443, true, {}}, {80, true, one}, {80, false, {}}}};
  const auto config = ServerConfig::Create(settings);
  EXPECT_NE(config->TlsOf(443, one), nullptr);
  EXPECT_NE(config->TlsOf(443, {}), nullptr);
  EXPECT_NE(config->TlsOf(80, one), nullptr);
  EXPECT_EQ(config->TlsOf(80, other), nullptr);
  EXPECT_EQ(config->TlsOf(80, {}), nullptr) << "a Unix socket";
  EXPECT_EQ(config->TlsOf(79, one), nullptr);
  EXPECT_EQ(config->TlsOf(81, one), nullptr);
}

TEST(ServerConfigTest, APortSpeaksTlsAtEveryAddressUntilItSpeaksBoth) {
  const LocalAddress one = AddressOf("127.0.0.1");
  const LocalAddress other = AddressOf("::1");
  ServerSettings settings = WithTls();
  settings.prefixes = {.is_everything = false, .changes = {}, .places = {{80, true, one}}};
  std::vector<std::shared_ptr<const ServerConfig>> versions{ServerConfig::Create(settings)};
  const auto change = [&](std::vector<SpokenPlace> places) {
    settings.prefixes = {.is_everything = false, .is_whole = false, .changes = {}};
    settings.prefixes.places = std::move(places);
    versions.push_back(ServerConfig::Create(settings, versions.back().get()));
    return versions.back();
  };
  EXPECT_NE(versions[0]->TlsOf(80, other), nullptr);
  // Parsing what is no address leaves bytes behind.
  EXPECT_EQ(change({{80, false, AddressOf("")}})->TlsOf(80, other), nullptr);
  EXPECT_NE(versions.back()->TlsOf(80, one), nullptr);
  EXPECT_NE(change({{80, true, other}, {80, true, other}})->TlsOf(80, other), nullptr);
  EXPECT_EQ(change({{80, true, other, false}})->TlsOf(80, other), nullptr) << "told twice is one";
  EXPECT_NE(change({{80, false, {}, false}})->TlsOf(80, other), nullptr);
  EXPECT_EQ(change({{80, true, one, false}})->TlsOf(80, one), nullptr);
  EXPECT_EQ(change({{81, true, {}}, {80, true, other, false}})->TlsOf(80, one), nullptr);
  EXPECT_NE(versions[0]->TlsOf(80, other), nullptr) << "a version stays as it is";
  EXPECT_EQ(versions[1]->TlsOf(80, other), nullptr);
  EXPECT_NE(versions[2]->TlsOf(80, other), nullptr);
}

TEST(ServerConfigTest, BadAndRepeatedPrefixesAreRefused) {
  EXPECT_EQ(Config({"http://a.test/"}), nullptr);
  EXPECT_EQ(Config({"http://a.test:80/", "http://a.test:80/"}), nullptr);
  EXPECT_NE(Config({"http://a.test:80/", "https://a.test:80/"}), nullptr) << "not here";
}

TEST(ServerConfigTest, AChangeLeavesOtherPrefixesAndTheVersionBefore) {
  const auto first = Config({"http://*:80/a/", "http://*:80/b/"});
  const auto second = Change(first.get(), {{1, ""}, {2, "http://*:80/c/"}});
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(Find(*second, 80, "h", "/a/").id, 0u);
  EXPECT_EQ(Find(*second, 80, "h", "/b/").status, RouteStatus::kNotFound);
  EXPECT_EQ(Find(*second, 80, "h", "/c/").id, 2u);
  EXPECT_EQ(Find(*first, 80, "h", "/b/").id, 1u);
  EXPECT_EQ(Find(*first, 80, "h", "/c/").status, RouteStatus::kNotFound);
  const auto third = Change(second.get(), {});
  EXPECT_EQ(Find(*third, 80, "h", "/c/").id, 2u);
}

TEST(ServerConfigTest, APrefixMayGetAnotherId) {
  const auto first = Config({"http://*:80/a/", "http://*:80/b/"});
  const auto second = Change(first.get(), {{0, "http://*:80/b/"}, {1, "http://*:80/a/"}});
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(Find(*second, 80, "h", "/a/").id, 1u);
  EXPECT_EQ(Find(*second, 80, "h", "/b/").id, 0u);
}

TEST(ServerConfigTest, APortWithoutPrefixesIsForgotten) {
  const auto first = Config({"http://*:81/", "http://*:82/x/"});
  EXPECT_EQ(Find(*first, 83, "h", "/x/").status, RouteStatus::kUnknownHost);
  const auto second = Change(first.get(), {{0, ""}});
  EXPECT_EQ(Find(*second, 83, "h", "/x/").id, 1u) << "the listener may stand behind another port";
  EXPECT_EQ(Find(*Change(second.get(), {{1, ""}, {9, ""}}), 82, "h", "/x/").status,
            RouteStatus::kUnknownHost);
}

// Its registration is refused, and it is taken back.
TEST(ServerConfigTest, APrefixOfTheOtherSchemeLeavesTheOneThatWasThere) {
  const auto first = Config({"http://*:80/a/"});
  const auto second = Change(first.get(), {{1, "https://*:80/a/"}});
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(Find(*Change(second.get(), {{1, ""}}), 80, "h", "/a/").id, 0u);
  EXPECT_EQ(Change(second.get(), {{2, "http://*:80/b"}}), nullptr) << "not canonical";
}

TEST(ServerConfigTest, APrefixOfTheOtherSchemeGetsThePlaceThatBecomesFree) {
  const auto first = Config({"http://*:80/a/", "", "http://*:80/b/"});
  const auto second = Change(first.get(), {{1, "https://*:80/a/"}});
  const auto third = Change(second.get(), {{0, ""}, {2, ""}});
  const Route route = Find(*third, 80, "h", "/a/x");
  EXPECT_EQ(route.status, RouteStatus::kMatch);
  EXPECT_EQ(route.id, 1u);
  EXPECT_EQ(Find(*Change(third.get(), {{1, ""}}), 80, "h", "/a/x").status,
            RouteStatus::kUnknownHost);
}

TEST(ServerConfigTest, ChangesNeedWhatTheyChange) {
  EXPECT_EQ(Change(nullptr, {{0, "http://*:80/a/"}}), nullptr);
}

}  // namespace
}  // namespace httpsys::engine
