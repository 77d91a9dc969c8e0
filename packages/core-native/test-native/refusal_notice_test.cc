#include "engine/statistics/refusal_notice.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace httpsys::engine {
namespace {

Refusals Some(RouteStatus status, uint64_t count) {
  Refusals refusals{};
  refusals[static_cast<size_t>(status)] = count;
  return refusals;
}

// What the other end of a stderr has got. Both ends block, as those of a terminal or a shell do.
class RefusalNoticeTest : public testing::TestWithParam<bool> {
 protected:
  RefusalNoticeTest() {
    if (GetParam()) {
      EXPECT_EQ(pipe(ends_.data()), 0);
    } else {
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0);
    }
  }
  ~RefusalNoticeTest() override {
    for (const int end : ends_) close(end);
  }

  int stderr_end() const { return ends_[1]; }
  void SetBlocking(bool blocks) {
    for (const int end : ends_) EXPECT_EQ(fcntl(end, F_SETFL, blocks ? 0 : O_NONBLOCK), 0);
  }
  // Writes until no byte fits.
  void Fill() {
    SetBlocking(false);
    const std::string much(4096, 'x');
    while (write(ends_[1], much.data(), much.size()) > 0) continue;
    while (write(ends_[1], "x", 1) > 0) continue;
    SetBlocking(true);
  }
  std::string Read() {
    SetBlocking(false);
    std::string text;
    char piece[4096];
    for (ssize_t got = 0; (got = read(ends_[0], piece, sizeof piece)) > 0;) {
      text.append(piece, static_cast<size_t>(got));
    }
    SetBlocking(true);
    return text;
  }

  std::array<int, 2> ends_{};
  RefusalNotice notice_;
};

INSTANTIATE_TEST_SUITE_P(PipesAndSockets, RefusalNoticeTest, testing::Bool());

TEST_P(RefusalNoticeTest, BeforeItStartsThereIsNothingToTell) {
  EXPECT_FALSE(notice_.Add(Some(RouteStatus::kNotFound, 1)));
  EXPECT_TRUE(notice_.Tell(true));
}

TEST_P(RefusalNoticeTest, ReasonsAreCountedTheMostFrequentOneFirst) {
  notice_.Start(stderr_end(), "page");
  EXPECT_TRUE(notice_.Add(Some(RouteStatus::kNotFound, 19)));
  EXPECT_TRUE(notice_.Add(Some(RouteStatus::kQueueFull, 480)));
  EXPECT_TRUE(notice_.Add(Some(RouteStatus::kUnknownHost, 7)));
  EXPECT_TRUE(notice_.Add(Some(RouteStatus::kMisdirected, 8)));
  EXPECT_TRUE(notice_.Tell(false));
  EXPECT_EQ(
      Read(),
      "httpsys: refused 514 requests in 1 s: QueueFull 480, NotFound 19, Hostname 15 (page)\n");
  EXPECT_TRUE(notice_.Tell(true));
  EXPECT_EQ(Read(), "");
}

TEST_P(RefusalNoticeTest, ASecondLineWaitsForTheNextSecondOrTheEnd) {
  notice_.Start(stderr_end(), "page");
  notice_.Add(Some(RouteStatus::kOffline, 1));
  EXPECT_TRUE(notice_.Tell(false));
  EXPECT_EQ(Read(), "httpsys: refused 1 request in 1 s: AppOffline 1 (page)\n");
  notice_.Add(Some(RouteStatus::kOffline, 2));
  EXPECT_FALSE(notice_.Tell(false));
  EXPECT_EQ(Read(), "");
  EXPECT_TRUE(notice_.Tell(true));
  EXPECT_EQ(Read(), "httpsys: refused 2 requests in 1 s: AppOffline 2 (page)\n");
}

TEST_P(RefusalNoticeTest, AReaderThatStandsStillHoldsNobodyUpAndGetsTheCountLater) {
  notice_.Start(stderr_end(), "page");
  Fill();
  notice_.Add(Some(RouteStatus::kQueueTimeout, 2));
  EXPECT_TRUE(notice_.Tell(true));
  EXPECT_EQ(Read().find('h'), std::string::npos);
  notice_.Add(Some(RouteStatus::kQueueTimeout, 1));
  EXPECT_TRUE(notice_.Tell(true));
  EXPECT_EQ(Read(), "httpsys: refused 3 requests in 1 s: Timer_AppPool 3 (page)\n");
}

TEST_P(RefusalNoticeTest, TheModeThatOtherProcessesShareIsLeftAlone) {
  notice_.Start(stderr_end(), "page");
  const int before = fcntl(stderr_end(), F_GETFL);
  notice_.Add(Some(RouteStatus::kNotFound, 1));
  EXPECT_TRUE(notice_.Tell(true));
  EXPECT_EQ(fcntl(stderr_end(), F_GETFL), before);
}

TEST_P(RefusalNoticeTest, ANumberThatIsSomebodyElsesIsNotWrittenTo) {
  notice_.Start(stderr_end(), "page");
  std::array<int, 2> others{};
  ASSERT_EQ(pipe2(others.data(), O_NONBLOCK), 0);
  ASSERT_EQ(dup2(others[1], stderr_end()), stderr_end());
  notice_.Add(Some(RouteStatus::kNotFound, 1));
  EXPECT_TRUE(notice_.Tell(true));
  char byte = 0;
  EXPECT_EQ(read(others[0], &byte, 1), -1);
  for (const int end : others) close(end);
}

TEST(RefusalNoticeFileTest, AFileGetsTheLineBehindWhatIsThere) {
  std::string path = testing::TempDir() + "/httpsys-XXXXXX";
  const int fd = mkstemp(path.data());
  ASSERT_EQ(write(fd, "before\n", 7), 7);
  RefusalNotice notice;
  notice.Start(fd, "page");
  notice.Add(Some(RouteStatus::kNoRelay, 1));
  EXPECT_TRUE(notice.Tell(true));
  ASSERT_EQ(write(fd, "behind\n", 7), 7);
  char text[256] = "";
  EXPECT_GT(pread(fd, text, sizeof text - 1, 0), 0);
  EXPECT_STREQ(text, "before\nhttpsys: refused 1 request in 1 s: ConnLimit 1 (page)\nbehind\n");
  close(fd);
  unlink(path.c_str());
}

TEST(RefusalNoticeStatusTest, WhatIsTheClientsFaultAloneIsNotNoticed) {
  for (const RouteStatus status : {RouteStatus::kBadHost, RouteStatus::kBadUrl}) {
    EXPECT_FALSE(IsNoticed(status));
  }
  for (const RouteStatus status :
       {RouteStatus::kUnknownHost, RouteStatus::kNotFound, RouteStatus::kReserved,
        RouteStatus::kQueueTimeout, RouteStatus::kMisdirected, RouteStatus::kTooManyConnections}) {
    EXPECT_TRUE(IsNoticed(status));
  }
}

}  // namespace
}  // namespace httpsys::engine
