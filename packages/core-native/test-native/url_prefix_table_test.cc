#include "url/url_prefix_table.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "http1/request_host.h"

namespace httpsys {
namespace {

// Prefix sets and vectors of docs/url-prefixes.md. "R:" marks a reservation.
const std::vector<std::string> kSetA = {"www.adatum.com:80/", "www.adatum.com:80/dir/sna/"};
const std::vector<std::string> kSetB = {"+:80/vroot/", "adatum.com:80/", "*:80/"};
const std::vector<std::string> kSetC = {"*:80/vroot/", "R:adatum.com:80/"};
const std::vector<std::string> kSetD = {"*:80/", "*:80/11/", "*:80/2/", "*:80/2/3/", "*:80/11/2/"};
const std::vector<std::string> kSetE = {"*:80/1/", "*:80/2/", "*:80/12/"};
const std::vector<std::string> kSetF = {"+:80/a/", "app.test:80/a/b/c/", "127.0.0.2:80/",
                                        "*:80/a/"};
const std::vector<std::string> kSetG = {"[::1]:80/v6/", "127.0.0.1:80/v4/", "*:80/"};
const std::vector<std::string> kSetH = {"*.shop.test:80/", "eu.shop.test:80/", "*:80/"};
const std::vector<std::string> kSetI = {"*:80/base path/", "*:80/café/"};
const std::vector<std::string> kSetJ = {"adatum.com:80/vroot/", "R:+:80/vroot/subdir/",
                                        "adatum.com:80/vroot/subdir/"};

UrlPrefix Parse(const std::string& text) {
  UrlPrefix prefix;
  EXPECT_EQ(ParseUrlPrefix("http://" + text, &prefix), PrefixError::kNone) << text;
  return prefix;
}

UrlPrefixTable TableOf(const std::vector<std::string>& set) {
  UrlPrefixTable table;
  for (uint32_t i = 0; i < set.size(); i++) {
    const bool added = set[i].starts_with("R:") ? table.AddReservation(Parse(set[i].substr(2)))
                                                : table.Add(Parse(set[i]), i);
    EXPECT_TRUE(added) << set[i];
  }
  return table;
}

LocalAddress Local(const std::string& ip) {
  LocalAddress local;
  local.is_ip = !ip.empty();
  EXPECT_TRUE(!local.is_ip || ParseIpAddress(ip, &local.ip)) << ip;
  return local;
}

// The prefix that wins, or what is answered when none does.
std::string Winner(const std::vector<std::string>& set, const std::string& host,
                   const std::string& target, const std::string& local = "127.0.0.1") {
  http1::RequestHead head;
  head.target = target;
  head.host = host;
  head.has_host = true;
  const HostName read = http1::HostOf(head);
  if (!read.is_valid) return "400 invalid";
  const Route route = TableOf(set).Match(read.name, target, Local(local));
  switch (route.status) {
    case RouteStatus::kMatch:
      return set[route.id];
    case RouteStatus::kUnknownHost:
      return "400 Hostname";
    case RouteStatus::kNotFound:
      return "404";
    case RouteStatus::kReserved:
      return "503";
    default:
      return "?";
  }
}

TEST(UrlPrefixTable, SetATheLongestPathOfAHostWins) {
  EXPECT_EQ(Winner(kSetA, "www.adatum.com", "/default.htm"), kSetA[0]);
  EXPECT_EQ(Winner(kSetA, "www.adatum.com", "/dir/sna/snadefault.htm"), kSetA[1]);
  EXPECT_EQ(Winner(kSetA, "www.adatum.com", "/dir/app.htm"), kSetA[0]);
  EXPECT_EQ(Winner(kSetA, "www.adatum.com", "/dir/sna"), kSetA[1]);
  EXPECT_EQ(Winner(kSetA, "www.adatum.com", "/dir/snax"), kSetA[0]);
  EXPECT_EQ(Winner(kSetA, "www.adatum.com", "/DIR/SNA/x"), kSetA[1]);
  EXPECT_EQ(Winner(kSetA, "WWW.Adatum.COM", "/x"), kSetA[0]);
  EXPECT_EQ(Winner(kSetA, "www.adatum.com:80", "/x"), kSetA[0]);
  EXPECT_EQ(Winner(kSetA, "other.com", "/"), "400 Hostname");
}

TEST(UrlPrefixTable, SetBTheStrongWildcardIsSearchedFirst) {
  EXPECT_EQ(Winner(kSetB, "adatum.com", "/vroot/subdir/file.htm"), kSetB[0]);
  EXPECT_EQ(Winner(kSetB, "adatum.com", "/default.htm"), kSetB[1]);
  EXPECT_EQ(Winner(kSetB, "otheradatum.com", "/file.htm"), kSetB[2]);
  EXPECT_EQ(Winner(kSetB, "otheradatum.com", "/vroot/"), kSetB[0]);
  EXPECT_EQ(Winner(kSetB, "", "/vroot"), kSetB[0]);
  EXPECT_EQ(Winner(kSetB, "", "/x"), kSetB[2]);
}

TEST(UrlPrefixTable, SetCAReservationNobodyRegisteredRejects) {
  EXPECT_EQ(Winner(kSetC, "adatum.com", "/vroot/file.htm"), "503");
  EXPECT_EQ(Winner(kSetC, "other.com", "/vroot/file.htm"), kSetC[0]);
  EXPECT_EQ(Winner(kSetC, "other.com", "/x"), "404");
}

TEST(UrlPrefixTable, SetDPathsSplitAtSegments) {
  for (const char* path : {"/", "/random", "/111"}) EXPECT_EQ(Winner(kSetD, "h", path), kSetD[0]);
  for (const char* path : {"/11", "/11/", "/11/random"}) {
    EXPECT_EQ(Winner(kSetD, "h", path), kSetD[1]);
  }
  for (const char* path : {"/2", "/2/", "/2/random"}) EXPECT_EQ(Winner(kSetD, "h", path), kSetD[2]);
  for (const char* path : {"/2/3", "/2/3/", "/2/3/random"}) {
    EXPECT_EQ(Winner(kSetD, "h", path), kSetD[3]);
  }
  EXPECT_EQ(Winner(kSetD, "h", "/11/2"), kSetD[4]);
}

// Few prefixes are gone through, many are searched.
TEST(UrlPrefixTable, AHostWithFewPrefixesAnswersAsOneWithMany) {
  std::mt19937 random(20);
  const auto path_of = [&](size_t segments) {
    static constexpr const char* kSegments[] = {"a", "b", "ab", "a-", "B"};
    std::string path = "/";
    for (size_t i = 0; i < segments; ++i) path.append(kSegments[random() % 5]).append("/");
    return path;
  };
  size_t found = 0;
  for (int round = 0; round < 300; ++round) {
    UrlPrefixTable few;
    for (uint32_t id = 0; id < 1 + random() % 4; ++id) {
      (void)few.Add(Parse("*:80" + path_of(random() % 4)), id);
    }
    UrlPrefixTable many = few;
    for (uint32_t id = 100; id < 150; ++id) {
      EXPECT_TRUE(many.Add(Parse("*:80/z" + std::to_string(id) + "/"), id));
    }
    for (int i = 0; i < 50; ++i) {
      std::string path = path_of(random() % 5);
      if (random() % 2 == 0) path.append("x");
      const Route one = few.Match("h", path, Local("127.0.0.1"));
      const Route other = many.Match("h", path, Local("127.0.0.1"));
      EXPECT_EQ(one.status, other.status) << path;
      EXPECT_EQ(one.id, other.id) << path;
      if (one.status == RouteStatus::kMatch) ++found;
    }
  }
  EXPECT_GT(found, 1000u);
  EXPECT_LT(found, 14'000u);
}

TEST(UrlPrefixTable, SetETheQueryTakesNoPart) {
  for (const char* target : {"/1/room7", "/1", "/1?x=/2/", "/1#/2/"}) {
    EXPECT_EQ(Winner(kSetE, "megachat.com", target), kSetE[0]);
  }
  EXPECT_EQ(Winner(kSetE, "megachat.com", "/12/room7"), kSetE[2]);
  EXPECT_EQ(Winner(kSetE, "megachat.com", "/3/room"), "404");
}

TEST(UrlPrefixTable, SetFTheCategoryCountsBeforeTheLength) {
  EXPECT_EQ(Winner(kSetF, "app.test", "/a/b/c/d"), kSetF[0]);
  EXPECT_EQ(Winner(kSetF, "app.test", "/z", "127.0.0.2"), kSetF[2]);
  EXPECT_EQ(Winner(kSetF, "app.test", "/z"), "404");
  EXPECT_EQ(Winner(kSetF, "app.test", "/a/", "127.0.0.2"), kSetF[0]);
  EXPECT_EQ(Winner(kSetF, "x", "/b"), "404");
}

TEST(UrlPrefixTable, SetGIpPrefixesLookAtTheLocalAddressOnly) {
  EXPECT_EQ(Winner(kSetG, "x", "/v6/a", "::1"), kSetG[0]);
  EXPECT_EQ(Winner(kSetG, "x", "/v4/a"), kSetG[1]);
  EXPECT_EQ(Winner(kSetG, "x", "/v4/a", "::ffff:127.0.0.1"), kSetG[1]);
  EXPECT_EQ(Winner(kSetG, "127.0.0.1", "/v4/a", "127.0.0.2"), kSetG[2]);
  EXPECT_EQ(Winner(kSetG, "[::1]", "/v6/a"), kSetG[2]);
  EXPECT_EQ(Winner(kSetG, "127.0.0.1", "/v4/a", ""), kSetG[2]);
}

TEST(UrlPrefixTable, SetHSubdomainWildcardsYieldToExactNames) {
  EXPECT_EQ(Winner(kSetH, "eu.shop.test", "/"), kSetH[1]);
  EXPECT_EQ(Winner(kSetH, "us.shop.test", "/"), kSetH[0]);
  EXPECT_EQ(Winner(kSetH, "a.b.shop.test", "/"), kSetH[0]);
  EXPECT_EQ(Winner(kSetH, "shop.test", "/"), kSetH[2]);
  EXPECT_EQ(Winner(kSetH, "xshop.test", "/"), kSetH[2]);
  EXPECT_EQ(Winner(kSetH, ".shop.test", "/"), kSetH[2]);
  const std::vector<std::string> nested = {"*.shop.test:80/", "*.eu.shop.test:80/"};
  EXPECT_EQ(Winner(nested, "a.eu.shop.test", "/"), nested[1]);
  EXPECT_EQ(Winner(nested, "other.test", "/"), "400 Hostname");
}

TEST(UrlPrefixTable, SetIPathsAreComparedDecoded) {
  EXPECT_EQ(Winner(kSetI, "h", "/base%20path/sub%20path"), kSetI[0]);
  EXPECT_EQ(Winner(kSetI, "h", "/caf%C3%A9/x"), kSetI[1]);
  EXPECT_EQ(Winner(kSetI, "h", "/CAF%C3%89/x"), kSetI[1]);
  EXPECT_EQ(Winner(kSetI, "h", "/base%20path%2Fx"), "404");
  EXPECT_EQ(Winner(kSetI, "h", "/x/../base%20path/y"), kSetI[0]);
}

TEST(UrlPrefixTable, SetJReservationsAreSearchedTogetherWithRegistrations) {
  EXPECT_EQ(Winner(kSetJ, "adatum.com", "/vroot/file"), kSetJ[0]);
  EXPECT_EQ(Winner(kSetJ, "adatum.com", "/vroot/subdir/file.htm"), "503");
}

TEST(UrlPrefixTable, ARegisteredReservationMatches) {
  UrlPrefixTable table = TableOf({"R:+:80/a/"});
  ASSERT_TRUE(table.Add(Parse("+:80/a/"), 7));
  EXPECT_EQ(table.Match("h", "/a/b", Local("")).id, 7u);
  EXPECT_TRUE(table.Remove(Parse("+:80/a/")));
  EXPECT_EQ(table.Match("h", "/a/b", Local("")).status, RouteStatus::kReserved);
}

TEST(UrlPrefixTable, TheSamePrefixIsAddedOnce) {
  UrlPrefixTable table = TableOf({"App.Test:80/Caf%C3%A9/", "R:*:80/"});
  EXPECT_FALSE(table.Add(Parse("app.test:80/CAFÉ/"), 9));
  EXPECT_FALSE(table.AddReservation(Parse("*:80/")));
  EXPECT_TRUE(table.Add(Parse("+:80/café/"), 9));
  EXPECT_TRUE(table.Add(Parse("*.app.test:80/café/"), 9));
}

TEST(UrlPrefixTable, ARemovedPrefixIsGone) {
  UrlPrefixTable table = TableOf({"*:80/", "app.test:80/a/"});
  EXPECT_TRUE(table.Remove(Parse("APP.test:80/A/")));
  EXPECT_FALSE(table.Remove(Parse("app.test:80/a/")));
  EXPECT_FALSE(table.Remove(Parse("*:80/a/")));
  EXPECT_EQ(table.Match("app.test", "/a/", Local("")).id, 0u);
  EXPECT_TRUE(table.Remove(Parse("*:80/")));
  EXPECT_EQ(table.Match("app.test", "/a/", Local("")).status, RouteStatus::kUnknownHost);
}

TEST(UrlPrefixTable, KnowsWhenOnePrefixCatchesEverything) {
  uint32_t id = 99;
  EXPECT_TRUE(TableOf({"*:80/"}).MatchesEverything(&id));
  EXPECT_EQ(id, 0u);
  EXPECT_TRUE(TableOf({"*:80/x/", "+:80/", "a.test:80/"}).MatchesEverything(&id));
  EXPECT_EQ(id, 1u);
  for (const std::vector<std::string>& set :
       std::vector<std::vector<std::string>>{{},
                                             {"*:80/a/"},
                                             {"*:80/", "*:80/a/"},
                                             {"*:80/", "+:80/a/"},
                                             {"*:80/", "a.test:80/"},
                                             {"*:80/", "*.a.test:80/"},
                                             {"*:80/", "127.0.0.1:80/"},
                                             {"a.test:80/"},
                                             {"*:80/", "R:a.test:80/"},
                                             {"R:*:80/"}}) {
    EXPECT_FALSE(TableOf(set).MatchesEverything(&id));
  }
}

TEST(UrlPrefixTable, EveryFormOfTargetHasAPath) {
  const std::vector<std::string> set = {"*:80/", "*:80/a/", "b.test:80/"};
  EXPECT_EQ(Winner(set, "h", "*"), set[0]);
  EXPECT_EQ(Winner(set, "h", "h:443"), set[0]);
  EXPECT_EQ(Winner(set, "h", ""), set[0]);
  EXPECT_EQ(Winner(set, "h", "http://h/a/x?y"), set[1]);
  EXPECT_EQ(Winner(set, "h", "http://h?q=a/1/2"), set[0]);
  EXPECT_EQ(Winner(set, "h", "http://B.test:80"), set[2]);
  EXPECT_EQ(Winner(set, "b.test", "http://h/"), set[0]);
  EXPECT_EQ(Winner(set, "h", "http://user@b.test/"), "400 invalid");
  EXPECT_EQ(Winner(set, "h", "/?u=http://b.test/"), set[0]);
}

TEST(UrlPrefixTable, LongPathsAndHostsMatchTheirPrefix) {
  const std::vector<std::string> set = {"*:80/a/", "*:80/" + std::string(2046, 'b') + "/"};
  EXPECT_EQ(Winner(set, "h", "/a/" + std::string(100000, '/')), set[0]);
  EXPECT_EQ(Winner(set, "h", "/A" + std::string(5000, '/') + "%41"), set[0]);
  EXPECT_EQ(Winner(set, "h", "/" + std::string(2046, 'B')), set[1]);
  EXPECT_EQ(Winner(set, "h", "/" + std::string(2046, 'B') + "/x"), set[1]);
  EXPECT_EQ(Winner(set, "h", "/" + std::string(2047, 'B')), "404");
  EXPECT_EQ(Winner({"a.test:80/"}, std::string(5000, '.'), "/"), "400 Hostname");
}

TEST(UrlPrefixTable, OddHostsFindNoName) {
  const std::vector<std::string> set = {"a.test:80/"};
  for (const char* host : {"", ".", "..", "a.test..", ".a.test", "[::1]", "a%2Etest", "_"}) {
    EXPECT_EQ(Winner(set, host, "/"), "400 Hostname") << host;
  }
  for (const char* host : {"a.test:", "a.test.", "A.TEST.:80"}) {
    EXPECT_EQ(Winner(set, host, "/"), set[0]) << host;
  }
}

TEST(UrlPrefixTable, ALongNameHasNoPrefixByItsBeginning) {
  const std::string label(63, 'a');
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'a');
  const UrlPrefixTable table = TableOf({longest + ":80/", "*:80/"});
  const auto ids = [&](const std::string& name) {
    bool is_named = false;
    return table.IdsOf(name, Local(""), &is_named);
  };
  EXPECT_EQ(ids(longest), (std::vector<uint32_t>{0}));
  EXPECT_EQ(table.Match(longest, "/", Local("")).id, 0u);
  EXPECT_EQ(ids(longest + ".b.test"), (std::vector<uint32_t>{1})) << "the router finds no name";
  EXPECT_EQ(table.Match(longest + ".b.test", "/", Local("")).id, 1u);
}

}  // namespace
}  // namespace httpsys
