// Which folder has a request: at its prefix, or below each prefix of the server.

#include "engine/config/static_mounts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/server_config.h"
#include "support/whole_prefixes.h"

namespace httpsys::engine {
namespace {

StaticMount BelowAll(const std::string& path, const std::string& root) {
  StaticMount mount;
  mount.is_below_all = true;
  mount.path = path;
  mount.root = root;
  return mount;
}

StaticMount At(uint32_t prefix_id, const std::string& path, const std::string& root,
               bool owns_prefix = false) {
  StaticMount mount;
  mount.prefix_id = prefix_id;
  mount.path = path;
  mount.root = root;
  mount.owns_prefix = owns_prefix;
  return mount;
}

class StaticMountsTest : public testing::Test {
 protected:
  // Returns the root of the folder that has the path, and the rest of the path behind the folder's;
  // empty = no folder has it.
  static std::string Find(const StaticMounts& mounts, uint32_t prefix_id, std::string_view prefix,
                          std::string_view path) {
    const StaticMounts::Found found = mounts.Find(prefix_id, prefix.size(), path);
    if (found.mount == nullptr) return "";
    return found.mount->settings.root + " " +
           std::string(path.substr(std::min(found.path_bytes, path.size())));
  }
  StaticMounts Mounts(const std::vector<StaticMount>& wanted, const StaticMounts* last = nullptr) {
    return {wanted, last, &sites_};
  }

  static_files::StaticSites sites_{nullptr};
};

TEST_F(StaticMountsTest, AServerWithoutPrefixesHasFoldersBelowItsRoot) {
  const StaticMounts mounts = Mounts({BelowAll("/", "all"), BelowAll("/a b/", "blank")});
  EXPECT_EQ(Find(mounts, 0, "/", "/x.txt"), "all x.txt");
  EXPECT_EQ(Find(mounts, 0, "/", "/"), "all ");
  EXPECT_EQ(Mounts({BelowAll("/a b/", "blank")}).Find(0, 1, "/A%20b/x").path_bytes, 5U);
  EXPECT_EQ(Mounts({BelowAll("/a b/", "blank")}).Find(0, 1, "/b").mount, nullptr);
  EXPECT_TRUE(Mounts({}).empty());
  EXPECT_FALSE(mounts.empty());
}

TEST_F(StaticMountsTest, AFolderIsBelowEachPrefix) {
  const StaticMounts mounts = Mounts({BelowAll("/assets/", "assets")});
  EXPECT_EQ(Find(mounts, 7, "/shop/", "/shop/assets/x.txt"), "assets x.txt");
  EXPECT_EQ(Find(mounts, 8, "/a/b/", "/A/B/Assets/y.txt"), "assets y.txt");
  EXPECT_EQ(Find(mounts, 7, "/shop/", "/shop/assets"), "assets ") << "the folder without its slash";
  EXPECT_EQ(Find(mounts, 7, "/shop/", "/shop/assetsx"), "");
  EXPECT_EQ(Find(mounts, 7, "/shop/", "/shop/x/assets/y"), "");
  EXPECT_EQ(Find(mounts, 7, "/assets/", "/assets/y"), "") << "the path of the prefix is no folder";
}

TEST_F(StaticMountsTest, APrefixWithoutItsSlashHasTheFolderAtItsRootAlone) {
  EXPECT_EQ(Find(Mounts({BelowAll("/", "all")}), 7, "/shop/", "/shop"), "all ");
  EXPECT_EQ(Find(Mounts({BelowAll("/assets/", "assets")}), 7, "/shop/", "/shop"), "");
  EXPECT_EQ(Find(Mounts({BelowAll("/", "all")}), 7, "/shop/", "/sho"), "");
}

TEST_F(StaticMountsTest, TheLongestPathWinsWhereverTheFolderIs) {
  const StaticMounts mounts = Mounts({At(7, "/shop/", "shop"), BelowAll("/", "all"),
                                      BelowAll("/a/b/", "deep"), BelowAll("/a/", "a")});
  EXPECT_EQ(Find(mounts, 7, "/shop/", "/shop/a/b/x"), "deep x");
  EXPECT_EQ(Find(mounts, 7, "/shop/", "/shop/a/x"), "a x");
  EXPECT_EQ(Find(mounts, 7, "/shop/", "/shop/x"), "shop x") << "of equal ones the first";
  EXPECT_EQ(Find(mounts, 8, "/shop/", "/shop/x"), "all x");
  const StaticMounts other = Mounts({BelowAll("/", "all"), At(7, "/shop/", "shop")});
  EXPECT_EQ(Find(other, 7, "/shop/", "/shop/x"), "all x") << "of equal ones the first";
}

TEST_F(StaticMountsTest, APrefixOfAFolderIsThatFoldersAlone) {
  const StaticMounts mounts =
      Mounts({At(7, "/files/", "files", true), BelowAll("/assets/", "all")});
  EXPECT_EQ(Find(mounts, 7, "/files/", "/files/assets/x"), "files assets/x");
  EXPECT_EQ(Find(mounts, 8, "/app/", "/app/assets/x"), "all x");
}

TEST_F(StaticMountsTest, AFolderThatStaysKeepsWhatIsKnownOfItsFiles) {
  const StaticMounts before = Mounts({BelowAll("/a/", "a"), At(7, "/b/", "b")});
  StaticMount other = BelowAll("/a/", "a");
  other.max_age = 1;
  const StaticMounts after =
      Mounts({At(7, "/b/", "b"), BelowAll("/c/", "c"), BelowAll("/a/", "a")}, &before);
  const auto site = [](const StaticMounts& mounts, uint32_t prefix_id, std::string_view path) {
    return mounts.Find(prefix_id, 1, path).mount->site;
  };
  EXPECT_EQ(site(after, 0, "/a/"), site(before, 0, "/a/"));
  EXPECT_EQ(site(after, 7, "/b/"), site(before, 7, "/b/"));
  EXPECT_NE(site(Mounts({other}, &before), 0, "/a/"), site(before, 0, "/a/"));
}

class ServerFoldersTest : public StaticMountsTest {
 protected:
  static std::string Root(const ServerConfig& config, uint32_t prefix_id, std::string_view path) {
    const StaticMounts::Found found = config.FindStatic(prefix_id, path);
    return found.mount == nullptr ? "" : found.mount->settings.root;
  }
  // Returns a version behind `last` that adds a prefix.
  std::shared_ptr<const ServerConfig> With(const ServerConfig* last, NumberedPrefix added) {
    ServerSettings settings;
    settings.prefixes = {.is_everything = false, .is_whole = false, .changes = {std::move(added)}};
    settings.keeps_statics = true;
    return ServerConfig::Create(std::move(settings), last, &sites_);
  }
};

TEST_F(ServerFoldersTest, APrefixThatComesLaterHasTheFoldersOfItsServer) {
  ServerSettings settings;
  settings.prefixes = test::WholePrefixes({"http://*:80/a/"});
  settings.statics = {BelowAll("/assets/", "assets")};
  const auto first = ServerConfig::Create(std::move(settings), nullptr, &sites_);
  const auto second = With(first.get(), {1, "http://*:80/Caf%C3%A9/"});
  ASSERT_NE(second, nullptr);
  EXPECT_TRUE(second->has_statics());
  EXPECT_EQ(Root(*second, 0, "/a/assets/x"), "assets");
  EXPECT_EQ(Root(*second, 1, "/caf%c3%89/assets/x"), "assets") << "compared decoded, without case";
  EXPECT_EQ(Root(*second, 1, "/a/assets/x"), "") << "the path of another prefix";
  EXPECT_EQ(first->FindStatic(0, "/a/assets/").mount, second->FindStatic(0, "/a/assets/").mount)
      << "no folder is copied";
}

TEST_F(ServerFoldersTest, FoldersAreGoneWhenTheyAreNotNamedAgain) {
  ServerSettings settings;
  settings.statics = {BelowAll("/", "all")};
  const auto first = ServerConfig::Create(std::move(settings), nullptr, &sites_);
  EXPECT_EQ(Root(*first, 0, "/x"), "all");
  EXPECT_FALSE(ServerConfig::Create(ServerSettings(), first.get(), &sites_)->has_statics());
}

TEST_F(ServerFoldersTest, NobodyKnowsTheFoldersOfANewServer) {
  ServerSettings settings;
  settings.keeps_statics = true;
  EXPECT_EQ(ServerConfig::Create(std::move(settings), nullptr, &sites_), nullptr);
}

}  // namespace
}  // namespace httpsys::engine
