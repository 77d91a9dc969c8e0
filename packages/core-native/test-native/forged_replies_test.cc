// Replies that JavaScript would not write, on connections in every state. Whatever they say, the
// lane stays, and serves who writes sound ones.

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "engine/lane.h"
#include "support/application.h"
#include "support/fake_javascript.h"

namespace httpsys::engine {
namespace {

using records::ReplyType;
using records::RequestType;
using test::Application;
using test::Peer;

constexpr uint32_t kForging = 1;
constexpr uint32_t kSound = 2;
constexpr uint32_t kTypesMax = 25;  // Some are no types.
constexpr uint32_t kSlotsMax = 8;   // Some are no slots.

constexpr ReplyType kFrequent[] = {
    ReplyType::kResponse,       ReplyType::kData,
    ReplyType::kTrailers,       ReplyType::kEnd,
    ReplyType::kWindow,         ReplyType::kUpgradeAccept,
    ReplyType::kUpgradeDecline, ReplyType::kShutdown,
    ReplyType::kSocketOption,   ReplyType::kIdleTimeout,
    ReplyType::kAskCertificate, ReplyType::kDestroy,
    ReplyType::kRefuseBody,     ReplyType::kAskSilence,
};

// What clients have sent when the replies come.
constexpr std::string_view kInputs[] = {
    "",
    "GET / HT",
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nabc",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
};

class Round {
 public:
  explicit Round(uint64_t seed) : random_(seed) {
    forging_.attachment()->replies().set_outlives_mistakes();
    EXPECT_EQ(lane_.Start(nullptr), 0);
    ServerSettings settings;
    settings.http2.is_plain = true;
    for (const uint32_t server : {kForging, kSound}) {
      lane_.commands().SetConfig(server == kForging ? forging_.attachment() : sound_.attachment(),
                                 server, ServerConfig::Create(settings));
    }
  }
  ~Round() { lane_.Stop(); }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  void Run() {
    std::vector<Peer> peers;
    for (const std::string_view input : kInputs) {
      peers.push_back(Connect(kForging));
      peers.back().Send(input);
    }
    const Peer sound = Connect(kSound);
    EXPECT_EQ(sound_.Expect(RequestType::kOpen), 0u);
    sound.Send(kInputs[2]);
    EXPECT_EQ(sound_.Expect(RequestType::kRequest), 0u);
    for (int i = 0; i < 60; ++i) {
      Forge();
      if (Pick(4) == 0) (void)forging_.Next(0);
    }
    sound_.Answer(0, "sound");
    EXPECT_EQ(sound.Read(5), "sound");
  }

 private:
  uint32_t Pick(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  Peer Connect(uint32_t server_id) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    lane_.commands().Adopt(server_id, {ends[0]});
    return Peer(ends[1]);
  }

  void Forge() {
    // Most often a type that may come at any time: others end the attachment at once.
    const ReplyType type = Pick(4) != 0 ? kFrequent[Pick(std::size(kFrequent))]
                                        : static_cast<ReplyType>(Pick(kTypesMax));
    // Most often enough words for the type, and lengths that fit.
    std::vector<uint32_t> words(Pick(16) != 0 ? 12 : Pick(12));
    for (uint32_t& word : words) {
      word = Pick(32) == 0 ? static_cast<uint32_t>(random_()) : Pick(8);
    }
    const uint32_t flags = Pick(2) == 0 ? 0 : static_cast<uint32_t>(random_()) & 0xffff;
    forging_.Reply(type, Pick(kSlotsMax), flags, words);
  }

  std::mt19937_64 random_;
  http1::MethodTable methods_{{"GET", "HEAD", "POST"}};
  PortStatistics statistics_;
  files::ReadAhead ahead_;
  ForeignArenas arenas_;
  Lane lane_{0, &methods_, 1, &statistics_, [](uint16_t) {}, &ahead_, &arenas_};
  Application forging_{&lane_};
  Application sound_{&lane_};
};

TEST(ForgedRepliesTest, TheLaneServesOthersWhateverTheRepliesSay) {
  for (uint64_t seed = 1; seed <= 400 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Round(seed).Run();
  }
}

}  // namespace
}  // namespace httpsys::engine
