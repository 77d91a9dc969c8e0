// The buckets that prefixes with maxBandwidth get, and their parts of the rate.

#include "engine/config/bandwidths.h"

#include <gtest/gtest.h>
#include <uv.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/whole_prefixes.h"

namespace httpsys::engine {
namespace {

constexpr uint32_t kServer = 7;
constexpr uint32_t kRate = 1'000'000;

std::shared_ptr<const ServerConfig> Config(const std::vector<std::string>& prefixes) {
  ServerSettings settings;
  settings.prefixes = test::WholePrefixes(prefixes);
  settings.max_bandwidth = kRate;
  return ServerConfig::Create(std::move(settings));
}

class BandwidthsTest : public testing::Test {
 protected:
  // The bytes that are granted at once tell the part: the burst is divided as the rate is.
  uint64_t OwnersOf(const std::shared_ptr<RateBucket>& bucket) {
    const uint64_t whole = RateBucket(kRate, 0).Take(kRate, 0).bytes;
    // Each time so much later that the bucket is full again.
    const uint64_t now_ns = uv_hrtime() + ++seconds_ * 1'000'000'000;
    return whole / bucket->Take(kRate, now_ns).bytes;
  }

  Bandwidths bandwidths_;
  uint64_t seconds_ = 0;
};

TEST_F(BandwidthsTest, EachPrefixHasOneBucket) {
  const auto config = Config({"http://*:80/a/", "http://*:80/b/"});
  const auto first = bandwidths_.Of(kServer, *config, 0, 80);
  EXPECT_EQ(bandwidths_.Of(kServer, *config, 0, 80), first);
  EXPECT_NE(bandwidths_.Of(kServer, *config, 1, 80), first);
  EXPECT_NE(bandwidths_.Of(kServer + 1, *config, 0, 80), first);
  EXPECT_EQ(OwnersOf(first), 1u);
}

TEST_F(BandwidthsTest, AServerOfAWholePortHasOneBucketForAllIds) {
  const auto config = Config({});
  EXPECT_EQ(bandwidths_.Of(kServer, *config, 0, 80), bandwidths_.Of(kServer, *config, 5, 80));
}

TEST_F(BandwidthsTest, ABucketHasTheOwnersOfItsPrefixWheneverItIsMade) {
  const auto config = Config({"http://*:80/a/", "http://*:80/b/", "http://*:81/a/"});
  const auto before = bandwidths_.Of(kServer, *config, 0, 80);
  std::map<std::string, size_t> owners{{"http://*:80/a/", 2}, {"http://*:80/b/", 4}};
  bandwidths_.SetOwners(80, [=](const Bandwidths::Place& place) { return owners.at(place.text); });
  EXPECT_EQ(OwnersOf(before), 2u);
  const auto after = bandwidths_.Of(kServer, *config, 1, 80);
  EXPECT_EQ(OwnersOf(after), 4u);
  EXPECT_EQ(OwnersOf(bandwidths_.Of(kServer, *config, 2, 80)), 1u) << "another port";
  bandwidths_.SetOwners(80, [](const Bandwidths::Place&) { return 5; });
  EXPECT_EQ(OwnersOf(before), 5u);
  EXPECT_EQ(OwnersOf(after), 5u);
  bandwidths_.SetOwners(80, nullptr);
  EXPECT_EQ(OwnersOf(before), 1u);
}

TEST_F(BandwidthsTest, AServerOfAWholePortIsAskedAboutByItsNumber) {
  bandwidths_.SetOwners(80, [](const Bandwidths::Place& place) {
    return place.text.empty() && place.server_id == kServer ? 3 : 1;
  });
  EXPECT_EQ(OwnersOf(bandwidths_.Of(kServer, *Config({}), 0, 80)), 3u);
}

TEST_F(BandwidthsTest, AnIdThatIsUsedAgainHasABucketOfItsOwn) {
  const auto first = bandwidths_.Of(kServer, *Config({"http://*:80/a/"}), 0, 80);
  EXPECT_NE(bandwidths_.Of(kServer, *Config({"http://*:80/b/"}), 0, 80), first);
}

TEST_F(BandwidthsTest, TheBucketsOfAClosedServerLiveAsLongAsTheyAreUsed) {
  const auto config = Config({"http://*:80/a/", "http://*:80/b/"});
  auto used = bandwidths_.Of(kServer, *config, 0, 80);
  std::weak_ptr<RateBucket> unused = bandwidths_.Of(kServer, *config, 1, 80);
  bandwidths_.Forget(kServer);
  EXPECT_TRUE(unused.expired());
  EXPECT_EQ(bandwidths_.Of(kServer, *config, 0, 80), used);
  const std::weak_ptr<RateBucket> left = used;
  bandwidths_.Forget(kServer);
  used.reset();
  EXPECT_FALSE(left.expired());
  bandwidths_.Forget(kServer + 1);
  EXPECT_TRUE(left.expired());
}

}  // namespace
}  // namespace httpsys::engine
