// Several processes on one listening socket: who accepts, and when.

#include "engine/accept/acceptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/descriptors.h"
#include "support/member.h"

namespace httpsys::engine {
namespace {

using std::chrono::milliseconds;

// A process that is on duty at a socket, or next in line, and accepts nothing.
class Holder {
 public:
  Holder(int fd, int first, int count) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      struct flock lock {};
      lock.l_type = F_WRLCK;
      lock.l_whence = SEEK_SET;
      lock.l_start = first;
      lock.l_len = count;
      const char byte = fcntl(fd, F_SETLK, &lock) == 0 ? 'y' : 'n';
      if (write(ends[1], &byte, 1) != 1) _exit(1);
      for (;;) pause();
    }
    char byte = 0;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
    close(ends[0]);
    close(ends[1]);
  }
  ~Holder() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

 private:
  pid_t pid_ = 0;
};

class AcceptorTest : public testing::Test {
 protected:
  explicit AcceptorTest(std::unique_ptr<ListenerPoll> poll = MakeListenerPoll())
      : acceptor_(std::move(poll)) {}
  ~AcceptorTest() override {
    acceptor_.Stop();
    for (const int fd : fds_) close(fd);
    for (const int fd : clients_) close(fd);
  }
  void Start() {
    ASSERT_EQ(acceptor_.Start(), 0);
    acceptor_.SetShared(port_.port(), true);
    Add(false);
  }
  void Add(bool is_lendable) {
    const int copy = fcntl(port_.fd(), F_DUPFD_CLOEXEC, 0);
    fcntl(copy, F_SETFL, O_NONBLOCK);
    ASSERT_GT(acceptor_.Add(
                  1, copy,
                  [this](const std::vector<int>& fds) {
                    const std::lock_guard lock(mutex_);
                    fds_.insert(fds_.end(), fds.begin(), fds.end());
                    changed_.notify_all();
                  },
                  is_lendable),
              0);
  }
  int ConnectTo(int fd) const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
  }
  void Connect() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(ConnectTo(fd), 0);
    clients_.push_back(fd);
  }
  bool AreAccepted() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, milliseconds(5000),
                             [this] { return fds_.size() == clients_.size(); });
  }
  // Who asks is another process: one does not see one's own locks.
  bool IsOnDuty() const {
    const pid_t child = fork();
    if (child == 0) {
      struct flock lock {};
      lock.l_type = F_WRLCK;
      lock.l_whence = SEEK_SET;
      lock.l_len = 1;
      _exit(fcntl(port_.fd(), F_SETLK, &lock) == 0 ? 1 : 0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status == 0;
  }
  // How often the acceptor's thread has slept so far.
  static uint64_t Sleeps() {
    uint64_t result = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream status(task.path() / "status");
      bool is_acceptor = false;
      for (std::string line; std::getline(status, line);) {
        is_acceptor |= line.starts_with("Name:") && line.ends_with("httpsys-accept");
        const std::string name = "voluntary_ctxt_switches:";
        if (is_acceptor && line.starts_with(name)) result += std::stoull(line.substr(name.size()));
      }
    }
    return result;
  }
  // Until it sleeps without a time to wake.
  static bool ComesToRest() {
    for (int i = 0; i < 20; ++i) {
      const uint64_t before = Sleeps();
      std::this_thread::sleep_for(milliseconds(250));
      if (Sleeps() == before) return true;
    }
    return false;
  }

  void ExpectWhatNobodyTakesWaits() {
    Connect();
    ASSERT_TRUE(AreAccepted());
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    {
      const test::DescriptorLimit limit(0);
      ConnectTo(client);
      pollfd watched{client, POLLIN, 0};
      EXPECT_EQ(poll(&watched, 1, 100), 0) << "it is not closed";
    }
    clients_.push_back(client);
    EXPECT_TRUE(AreAccepted());
  }

  test::PortHolder port_;
  Acceptor acceptor_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> fds_;
  std::vector<int> clients_;
};

TEST_F(AcceptorTest, AloneOnASharedPortItIsOnDuty) {
  Start();
  for (int i = 0; i < 20; ++i) {
    Connect();
    ASSERT_TRUE(AreAccepted());
  }
}

// As when that process is stopped.
TEST_F(AcceptorTest, WhatTheProcessOnDutyDoesNotAcceptIsAccepted) {
  const Holder on_duty(port_.fd(), 0, 1);
  Start();
  for (int i = 0; i < 20; ++i) {
    Connect();
    ASSERT_TRUE(AreAccepted());
  }
}

TEST_F(AcceptorTest, NeitherDoesItDependOnTheOneWhoIsNextInLine) {
  const Holder both(port_.fd(), 0, 2);
  Start();
  for (int i = 0; i < 5; ++i) {
    Connect();
    ASSERT_TRUE(AreAccepted());
  }
}

TEST_F(AcceptorTest, WhenNobodyConnectsNobodyLooks) {
  const Holder on_duty(port_.fd(), 0, 1);
  Start();
  Connect();
  ASSERT_TRUE(AreAccepted());
  EXPECT_TRUE(ComesToRest());
  Connect();
  ASSERT_TRUE(AreAccepted());
  EXPECT_TRUE(ComesToRest());
}

TEST_F(AcceptorTest, TheDutyOfAProcessThatDiesIsTakenOver) {
  {
    const Holder on_duty(port_.fd(), 0, 1);
    Start();
    Connect();
    ASSERT_TRUE(AreAccepted());
  }
  Connect();
  ASSERT_TRUE(AreAccepted());
  EXPECT_TRUE(ComesToRest());
  EXPECT_TRUE(IsOnDuty());
}

TEST_F(AcceptorTest, OutOfDescriptorsItLeavesWhatWaitsToOthersFirst) {
  Start();
  Connect();
  ASSERT_TRUE(AreAccepted());
  Connect();
  ASSERT_TRUE(AreAccepted());
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int accepted = -1;
  {
    const test::DescriptorLimit limit(0);
    ConnectTo(client);
    for (int i = 0; i < 100 && IsOnDuty(); ++i) std::this_thread::sleep_for(milliseconds(2));
    EXPECT_FALSE(IsOnDuty());
  }
  // It has not closed the connection.
  for (int i = 0; i < 2500 && accepted == -1; ++i) {
    std::this_thread::sleep_for(milliseconds(2));
    const std::lock_guard lock(mutex_);
    accepted = fds_.size() == 3 ? 1 : -1;
  }
  clients_.push_back(client);
  EXPECT_EQ(accepted, 1);
}

TEST_F(AcceptorTest, OutOfDescriptorsItLeavesWhatWaitsInTheBacklog) {
  Start();
  ExpectWhatNobodyTakesWaits();
}

TEST_F(AcceptorTest, AListenerThatRestsMayBeRemoved) {
  const Holder on_duty(port_.fd(), 0, 1);
  Start();
  Connect();
  ASSERT_TRUE(AreAccepted());
  Connect();
  acceptor_.Remove(1);
  EXPECT_TRUE(AreAccepted()) << "what waits is taken first";
  EXPECT_TRUE(ComesToRest());
}

// What systems without a file of their own have.
class PortableAcceptorTest : public AcceptorTest {
 protected:
  PortableAcceptorTest() : AcceptorTest(MakePortableListenerPoll()) {}
};

TEST_F(PortableAcceptorTest, EveryConnectionIsAcceptedAndNothingWakesItOtherwise) {
  Start();
  for (int i = 0; i < 20; ++i) {
    Connect();
    ASSERT_TRUE(AreAccepted());
  }
  EXPECT_TRUE(ComesToRest());
}

TEST_F(PortableAcceptorTest, AListenerMayBeAddedAndRemovedWhileItWaits) {
  ASSERT_EQ(acceptor_.Start(), 0);
  ASSERT_TRUE(ComesToRest());
  Add(false);
  Connect();
  ASSERT_TRUE(AreAccepted());
  Connect();
  acceptor_.Remove(1);
  EXPECT_TRUE(AreAccepted()) << "what waits is taken first";
  EXPECT_TRUE(ComesToRest());
  Add(false);
  Connect();
  EXPECT_TRUE(AreAccepted());
}

TEST_F(PortableAcceptorTest, OutOfDescriptorsItLeavesWhatWaitsInTheBacklog) {
  Start();
  ExpectWhatNobodyTakesWaits();
}

TEST_F(PortableAcceptorTest, NoLaneCanWatchItsListeners) {
  EXPECT_EQ(acceptor_.OpenSet(), -1);
  ASSERT_EQ(acceptor_.Start(), 0);
  Add(true);
  Connect();
  EXPECT_TRUE(AreAccepted());
}

// A listener that a lane watches.
class LentListenerTest : public AcceptorTest {
 protected:
  ~LentListenerTest() override {
    acceptor_.Stop();
    close(epoll_fd_);
  }
  void Lend(bool is_lendable) {
    ASSERT_EQ(acceptor_.Start(), 0);
    acceptor_.LendTo(epoll_fd_);
    Add(is_lendable);
  }
  bool IsReady(int timeout_ms) const {
    pollfd watched{epoll_fd_, POLLIN, 0};
    return poll(&watched, 1, timeout_ms) == 1;
  }
  size_t AcceptLent() {
    size_t count = 0;
    const bool has_accepted =
        acceptor_.AcceptLent([&](uint32_t server_id, const std::vector<int>& fds) {
          EXPECT_EQ(server_id, 1U);
          count += fds.size();
          const std::lock_guard lock(mutex_);
          fds_.insert(fds_.end(), fds.begin(), fds.end());
        });
    EXPECT_EQ(has_accepted, count != 0);
    return count;
  }

  void ExpectItIsTheLanes() {
    Connect();
    ASSERT_TRUE(IsReady(5000));
    EXPECT_EQ(AcceptLent(), 1U);
  }

  const int epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
};

TEST_F(LentListenerTest, ItsConnectionsAreTheLanesAlone) {
  Lend(true);
  EXPECT_FALSE(IsReady(0));
  ASSERT_TRUE(ComesToRest());
  const uint64_t before = Sleeps();
  for (size_t i = 0; i < 20; ++i) {
    Connect();
    Connect();
    ASSERT_TRUE(IsReady(5000));
    EXPECT_EQ(AcceptLent(), 2U);
  }
  EXPECT_EQ(Sleeps(), before) << "the acceptor's thread was not woken";
}

TEST_F(LentListenerTest, OthersAreTheThreads) {
  Lend(false);
  Connect();
  EXPECT_TRUE(AreAccepted());
  EXPECT_FALSE(IsReady(0));
}

TEST_F(LentListenerTest, ItIsTheThreadsWhileThePortIsShared) {
  Lend(true);
  acceptor_.SetShared(port_.port(), true);
  Connect();
  EXPECT_TRUE(AreAccepted());
  EXPECT_FALSE(IsReady(0));
  // It takes the duty when it has given away what it accepted.
  EXPECT_TRUE(ComesToRest());
  EXPECT_TRUE(IsOnDuty());
  acceptor_.SetShared(port_.port(), false);
  ExpectItIsTheLanes();
}

TEST_F(LentListenerTest, ItIsTheLanesAgainAfterARest) {
  const Holder on_duty(port_.fd(), 0, 1);
  Lend(true);
  acceptor_.SetShared(port_.port(), true);
  Connect();
  ASSERT_TRUE(AreAccepted());
  acceptor_.SetShared(port_.port(), false);
  ExpectItIsTheLanes();
}

TEST_F(LentListenerTest, WhatWaitsIsAcceptedBeforeItIsRemoved) {
  Lend(true);
  Connect();
  acceptor_.Remove(1);
  EXPECT_TRUE(AreAccepted());
  EXPECT_FALSE(IsReady(0));
}

// What the lane is told then must not overtake what it is given.
TEST_F(LentListenerTest, ItIsNotRemovedWhileTheLaneIsGivenItsConnections) {
  Lend(true);
  Connect();
  ASSERT_TRUE(IsReady(5000));
  std::future<void> removed;
  acceptor_.AcceptLent([&](uint32_t, const std::vector<int>& fds) {
    removed = std::async(std::launch::async, [this] { acceptor_.Remove(1); });
    EXPECT_EQ(removed.wait_for(milliseconds(50)), std::future_status::timeout);
    const std::lock_guard lock(mutex_);
    fds_.insert(fds_.end(), fds.begin(), fds.end());
  });
  ASSERT_TRUE(removed.valid());
  EXPECT_EQ(removed.wait_for(milliseconds(5000)), std::future_status::ready);
}

TEST_F(LentListenerTest, WhenTheLaneCannotWatchItTheThreadKeepsIt) {
  ASSERT_EQ(acceptor_.Start(), 0);
  acceptor_.SetShared(port_.port(), true);
  const int nothing = fcntl(epoll_fd_, F_DUPFD_CLOEXEC, 0);
  close(nothing);
  acceptor_.LendTo(nothing);
  Add(true);
  acceptor_.SetShared(port_.port(), false);
  Connect();
  EXPECT_TRUE(AreAccepted());
}

TEST_F(LentListenerTest, OutOfDescriptorsTheThreadTakesItBack) {
  Lend(true);
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  {
    const test::DescriptorLimit limit(0);
    ConnectTo(client);
    ASSERT_TRUE(IsReady(5000));
    EXPECT_EQ(AcceptLent(), 0U);
  }
  clients_.push_back(client);
  EXPECT_TRUE(AreAccepted());
  Connect();
  // Not a second time to a lane that may be out of them again.
  EXPECT_TRUE(AreAccepted());
}

}  // namespace
}  // namespace httpsys::engine
