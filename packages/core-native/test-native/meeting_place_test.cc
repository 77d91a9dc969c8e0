// Names of members, who has them, and what is known of the other end; sockets that members share.

#include "sharing/meeting_place.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "peer/frame_reader.h"
#include "peer/messages.h"
#include "sharing/listening_socket.h"
#include "sharing/member_names.h"
#include "sharing/name_place.h"
#include "sharing/named_files.h"
#include "sharing/unix_diag.h"
#include "support/descriptors.h"
#include "support/own_links.h"

namespace httpsys::sharing {
namespace {

std::string OwnName() { return MemberName(RandomId()); }

TEST(MeetingPlaceTest, NamesSayTheUserAndThePort) {
  EXPECT_NE(PortName(8080).find(std::to_string(geteuid()) + "/8080"), std::string::npos);
  EXPECT_NE(PortName(8080), PortName(8081));
  EXPECT_NE(MemberName(0x1f).find("000000000000001f"), std::string::npos);
}

TEST(MeetingPlaceTest, MembersHaveDifferentIds) {
  std::set<uint64_t> ids;
  for (int i = 0; i < 100; ++i) ids.insert(RandomId());
  EXPECT_EQ(ids.size(), 100u);
  EXPECT_FALSE(ids.contains(0));
}

TEST(MeetingPlaceTest, ANameHasOneOwnerUntilThatCloses) {
  const int before = test::OpenDescriptors();
  const std::string name = OwnName();
  EXPECT_EQ(ConnectTo(name), -ECONNREFUSED);
  NamedSocket first;
  ASSERT_EQ(ListenUnder(name, &first), 0);
  NamedSocket second;
  EXPECT_EQ(ListenUnder(name, &second), -EADDRINUSE);
  EXPECT_EQ(second.fd, -1);
  const int visitor = ConnectTo(name);
  ASSERT_GE(visitor, 0);
  close(visitor);
  close(first.fd);
  EXPECT_EQ(ConnectTo(name), -ECONNREFUSED);
  ASSERT_EQ(ListenUnder(name, &second), 0);
  close(second.fd);
  EXPECT_EQ(test::OpenDescriptors(), before);
}

TEST(MeetingPlaceTest, ANameThatIsTooLongIsRefused) {
  const int before = test::OpenDescriptors();
  NamedSocket socket;
  EXPECT_EQ(ListenUnder(std::string(200, 'x'), &socket), -ENAMETOOLONG);
  EXPECT_EQ(ConnectTo(std::string(200, 'x')), -ENAMETOOLONG);
  EXPECT_EQ(test::OpenDescriptors(), before);
}

TEST(MeetingPlaceTest, BothEndsKnowWhoTheOtherIs) {
  NamedSocket socket;
  const std::string name = OwnName();
  ASSERT_EQ(ListenUnder(name, &socket), 0);
  const int visitor = ConnectTo(name);
  ASSERT_GE(visitor, 0);
  const int accepted = test::AcceptOwnLink(socket.fd);
  ASSERT_GE(accepted, 0);
  for (const int fd : {visitor, accepted}) {
    Credentials credentials;
    ASSERT_TRUE(ReadCredentials(fd, &credentials));
    EXPECT_EQ(credentials.uid, geteuid());
    EXPECT_EQ(credentials.pid, static_cast<uint32_t>(getpid()));
  }
  for (const int fd : {visitor, accepted, socket.fd}) close(fd);
  Credentials credentials;
  EXPECT_FALSE(ReadCredentials(-1, &credentials));
}

// -- Ranks of a meeting place.

// A port of this test alone, which needs no listening socket.
uint16_t OwnPort() { return static_cast<uint16_t>(RandomId() % 60000 + 1); }

TEST(MeetingPlaceTest, EachRankHasANameOfItsOwn) {
  std::set<std::string> names;
  for (uint32_t rank = 0; rank < limits::kRanksMax; ++rank) names.insert(PortName(8080, rank));
  EXPECT_EQ(names.size(), limits::kRanksMax);
  EXPECT_TRUE(names.contains(PortName(8080)));
}

TEST(MeetingPlaceTest, TheCoordinatorListensAtTheHighestRank) {
  const int before = test::OpenDescriptors();
  const uint16_t port = OwnPort();
  uint32_t rank = 7;
  EXPECT_EQ(ConnectToCoordinator(port, &rank), -ECONNREFUSED);
  NamedSocket first;
  NamedSocket third;
  ASSERT_EQ(ListenUnder(PortName(port), &first), 0);
  ASSERT_EQ(ListenUnder(PortName(port, 2), &third), 0);
  int fd = ConnectToCoordinator(port, &rank);
  ASSERT_GE(fd, 0);
  close(fd);
  EXPECT_EQ(rank, 2u);
  EXPECT_TRUE(IsRankPassed(port, 0));
  EXPECT_TRUE(IsRankPassed(port, 1));
  EXPECT_FALSE(IsRankPassed(port, 2));
  CloseNamed(&third);
  fd = ConnectToCoordinator(port, &rank);
  ASSERT_GE(fd, 0);
  close(fd);
  EXPECT_EQ(rank, 0u);
  EXPECT_FALSE(IsRankPassed(port, 0));
  CloseNamed(&first);
  EXPECT_EQ(test::OpenDescriptors(), before);
}

TEST(MeetingPlaceTest, ARankAtWhichTooManyWaitIsTakenAllTheSame) {
  const uint16_t port = OwnPort();
  NamedSocket own;
  NamedSocket full;
  ASSERT_EQ(ListenUnder(PortName(port), &own), 0);
  ASSERT_EQ(ListenUnder(PortName(port, 1), &full), 0);
  // Linux says that nobody can wait there; other systems refuse as if nobody listened.
  ASSERT_EQ(listen(full.fd, 0), 0);
  std::vector<int> waiting;
  int fd = ConnectToRank(port, 1);
  for (; fd >= 0; fd = ConnectToRank(port, 1)) waiting.push_back(fd);
#ifdef __linux__
  EXPECT_EQ(fd, -EAGAIN);
  EXPECT_TRUE(IsRankPassed(port, 0));
  uint32_t rank = 7;
  EXPECT_EQ(ConnectToCoordinator(port, &rank), -EAGAIN) << "rank 0 is nobody's coordinator";
#endif
  for (const int each : waiting) close(each);
  CloseNamed(&full);
  CloseNamed(&own);
}

TEST(MeetingPlaceTest, MembersAreFoundByTheirNames) {
  const uint64_t ids[] = {RandomId(), RandomId()};
  NamedSocket sockets[2];
  for (const int i : {0, 1}) ASSERT_EQ(ListenUnder(MemberName(ids[i]), &sockets[i]), 0);
  // A connection that was accepted has the name, too.
  const int visitor = ConnectTo(MemberName(ids[0]));
  const std::vector<uint64_t> found = FindMembers();
  for (const uint64_t id : ids) EXPECT_EQ(std::count(found.begin(), found.end(), id), 1);
#ifdef __linux__
  // What a kernel without unix_diag is asked for.
  std::vector<std::string> listed;
  ListProcNames(MemberName(ids[0]), 10, &listed);
  EXPECT_EQ(listed, std::vector<std::string>{MemberName(ids[0])});
#endif
  close(visitor);
  for (NamedSocket& socket : sockets) CloseNamed(&socket);
  const std::vector<uint64_t> later = FindMembers();
  for (const uint64_t id : ids) EXPECT_EQ(std::count(later.begin(), later.end(), id), 0);
}

TEST(MeetingPlaceTest, ADoubtIsReadByTheMemberThatItIsSentTo) {
  const int before = test::OpenDescriptors();
  const uint64_t id = RandomId();
  SendDoubt(id, 80);
  NamedSocket member;
  ASSERT_EQ(ListenUnder(MemberName(id), &member), 0);
  SendDoubt(id, 8080);
  const int accepted = test::AcceptOwnLink(member.fd);
  ASSERT_GE(accepted, 0);
  char buffer[256];
  const ssize_t got = recv(accepted, buffer, sizeof buffer, 0);
  ASSERT_GT(got, 0);
  peer::FrameReader reader;
  reader.Append({buffer, static_cast<size_t>(got)});
  peer::Frame frame;
  ASSERT_EQ(reader.Next(&frame), peer::FrameReader::Result::kFrame);
  EXPECT_EQ(frame.type, peer::FrameType::kLink);
  ASSERT_EQ(reader.Next(&frame), peer::FrameReader::Result::kFrame);
  EXPECT_EQ(frame.type, peer::FrameType::kDoubt);
  peer::Doubt doubt;
  ASSERT_TRUE(peer::Decode(frame.payload, &doubt));
  EXPECT_EQ(doubt.port, 8080);
  close(accepted);
  CloseNamed(&member);
  EXPECT_EQ(test::OpenDescriptors(), before);
}

// -- Other users.

// Somebody with another uid who does something with a name, until the object ends. Only root can
// become somebody else.
class Stranger {
 public:
  enum class Does : uint8_t { kListens, kBinds };

  Stranger(const std::string& name, Does does) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      // Only calls that are safe between fork() and the end.
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::memcpy(address.sun_path + 1, name.data(), name.size());
      const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
      const bool is_other = setuid(kUid) == 0;
      const int own = socket(AF_UNIX, SOCK_STREAM, 0);
      const bool is_bound = bind(own, reinterpret_cast<sockaddr*>(&address), size) == 0;
      const bool is_done = is_other && is_bound && (does == Does::kBinds || listen(own, 8) == 0);
      const char answer = is_done ? '1' : '0';
      if (write(ends[1], &answer, 1) == 1) pause();
      _exit(0);
    }
    close(ends[1]);
    char answer = '0';
    EXPECT_EQ(read(ends[0], &answer, 1), 1);
    EXPECT_EQ(answer, '1');
    close(ends[0]);
  }
  ~Stranger() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  uint32_t pid() const { return static_cast<uint32_t>(pid_); }

  static constexpr uid_t kUid = 65534;

 private:
  pid_t pid_ = -1;
};

TEST(StrangerTest, WhoListensUnderANameIsKnownByUidAndPid) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const std::string name = OwnName();
  const Stranger stranger(name, Stranger::Does::kListens);
  Credentials found;
  ASSERT_TRUE(IsStrangers(name, &found));
  EXPECT_EQ(found.uid, Stranger::kUid);
  EXPECT_EQ(found.pid, stranger.pid());
}

TEST(StrangerTest, WhoHasBoundANameAndDoesNotListenIsKnownByUid) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const std::string name = OwnName();
  const Stranger stranger(name, Stranger::Does::kBinds);
  EXPECT_EQ(ConnectTo(name), -ECONNREFUSED);
  Credentials found;
  ASSERT_TRUE(IsStrangers(name, &found));
  EXPECT_EQ(found.uid, Stranger::kUid);
  EXPECT_EQ(found.pid, 0u);
}

TEST(StrangerTest, AProcessOfThisUserIsNoneNeitherIsNobody) {
  const int before = test::OpenDescriptors();
  const std::string name = OwnName();
  Credentials found;
  EXPECT_FALSE(IsStrangers(name, &found)) << "nobody has it";
  NamedSocket own;
  ASSERT_EQ(ListenUnder(name, &own), 0);
  EXPECT_FALSE(IsStrangers(name, &found));
  CloseNamed(&own);
  EXPECT_EQ(test::OpenDescriptors(), before);
}

TEST(StrangerTest, AMemberWhoseNameAnotherUserHasTakenIsGone) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const uint64_t id = RandomId();
  NamedSocket own;
  ASSERT_EQ(ListenUnder(MemberName(id), &own), 0);
  EXPECT_FALSE(IsGone(id));
  CloseNamed(&own);
  EXPECT_TRUE(IsGone(id));
  const Stranger stranger(MemberName(id), Stranger::Does::kListens);
  EXPECT_TRUE(IsGone(id)) << "whoever answers there";
}

TEST(StrangerTest, AnotherUserAtAHigherRankIsNobodysSuccessor) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const uint16_t port = OwnPort();
  NamedSocket own;
  ASSERT_EQ(ListenUnder(PortName(port), &own), 0);
  const Stranger stranger(PortName(port, 1), Stranger::Does::kListens);
  EXPECT_FALSE(IsRankPassed(port, 0));
  EXPECT_EQ(ConnectToRank(port, 1), -EACCES);
  uint32_t rank = 7;
  const int fd = ConnectToCoordinator(port, &rank);
  EXPECT_GE(fd, 0);
  EXPECT_EQ(rank, 0u);
  close(fd);
  CloseNamed(&own);
}

// -- The place of systems without abstract names, which is a directory that we make.

class DirectoryPlaceTest : public testing::Test {
 protected:
  DirectoryPlaceTest() { UseNamePlace(DirectoryPlace()); }
  ~DirectoryPlaceTest() override { UseNamePlace(SystemPlace()); }
};

TEST_F(DirectoryPlaceTest, NamesAreFilesInADirectoryOfTheUser) {
  const std::string start = "/tmp/httpsys-1-" + std::to_string(geteuid()) + "/";
  EXPECT_EQ(PortName(8080), start + "8080");
  EXPECT_EQ(PortName(8080, 2), start + "8080-2");
  EXPECT_EQ(MemberName(0x1f), start + "m-000000000000001f");
}

TEST_F(DirectoryPlaceTest, TheFirstOwnerOfANameMakesThePrivateDirectory) {
  const std::string name = PortName(OwnPort());
  NamedSocket first;
  ASSERT_EQ(ListenUnder(name, &first), 0);
  struct stat found {};
  ASSERT_EQ(stat(DirectoryPlace().DefaultStart().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0700u);
  EXPECT_EQ(found.st_uid, geteuid());
  NamedSocket second;
  EXPECT_EQ(ListenUnder(name, &second), -EADDRINUSE);
  Credentials stranger;
  EXPECT_FALSE(IsStrangers(name, &stranger));
  const int visitor = ConnectTo(name);
  EXPECT_GE(visitor, 0);
  close(visitor);
  CloseNamed(&first);
  EXPECT_EQ(ConnectTo(name), -ENOENT);
}

TEST_F(DirectoryPlaceTest, MembersAreFoundAndTheirEndIsSeen) {
  const uint64_t id = RandomId();
  NamedSocket own;
  ASSERT_EQ(ListenUnder(MemberName(id), &own), 0);
  std::vector<uint64_t> found = FindMembers();
  EXPECT_EQ(std::count(found.begin(), found.end(), id), 1);
  EXPECT_FALSE(IsGone(id));
  CloseNamed(&own);
  EXPECT_TRUE(IsGone(id));
  found = FindMembers();
  EXPECT_EQ(std::count(found.begin(), found.end(), id), 0);
}

TEST_F(DirectoryPlaceTest, TheCoordinatorListensAtTheHighestRank) {
  const uint16_t port = OwnPort();
  NamedSocket first;
  NamedSocket third;
  ASSERT_EQ(ListenUnder(PortName(port), &first), 0);
  ASSERT_EQ(ListenUnder(PortName(port, 2), &third), 0);
  uint32_t rank = 7;
  const int fd = ConnectToCoordinator(port, &rank);
  ASSERT_GE(fd, 0);
  close(fd);
  EXPECT_EQ(rank, 2u);
  EXPECT_TRUE(IsRankPassed(port, 0));
  CloseNamed(&third);
  EXPECT_FALSE(IsRankPassed(port, 0));
  CloseNamed(&first);
}

TEST_F(DirectoryPlaceTest, ANameThatIsTooLongIsRefused) {
  NamedSocket socket;
  EXPECT_EQ(ListenUnder('/' + std::string(200, 'x'), &socket), -ENAMETOOLONG);
}

// -- Names that are files.

class NamedFilesTest : public testing::Test {
 protected:
  NamedFilesTest() {
    std::string pattern = testing::TempDir() + "httpsys-names-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~NamedFilesTest() override { std::filesystem::remove_all(folder_); }
  std::string Name(const std::string& last) const { return folder_ + '/' + last; }
  int Count() const {
    int count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(folder_)) ++count;
    return count;
  }
  // As a process leaves it that is killed: the kernel closes its descriptors.
  static void Abandon(NamedSocket* socket) {
    close(std::exchange(socket->fd, -1));
    close(std::exchange(socket->lock_fd, -1));
  }
  void MakeOld(const std::string& last) const {
    const timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    EXPECT_EQ(utimensat(AT_FDCWD, Name(last + ".lock").c_str(), times, 0), 0);
  }

  std::string folder_;
};

TEST_F(NamedFilesTest, ANameHasOneOwnerAndLeavesNothingBehind) {
  const int before = test::OpenDescriptors();
  NamedSocket first;
  ASSERT_EQ(ListenUnder(Name("4-80"), &first), 0);
  NamedSocket second;
  EXPECT_EQ(ListenUnder(Name("4-80"), &second), -EADDRINUSE);
  const int visitor = ConnectTo(Name("4-80"));
  EXPECT_GE(visitor, 0);
  close(visitor);
  CloseNamed(&first);
  EXPECT_EQ(Count(), 0);
  EXPECT_EQ(ConnectTo(Name("4-80")), -ENOENT);
  EXPECT_EQ(test::OpenDescriptors(), before);
}

TEST_F(NamedFilesTest, TheNextOwnerTakesOverWhatAKilledOneHasLeft) {
  NamedSocket first;
  ASSERT_EQ(ListenUnder(Name("4-80"), &first), 0);
  Abandon(&first);
  EXPECT_EQ(ConnectTo(Name("4-80")), -ECONNREFUSED);
  NamedSocket second;
  ASSERT_EQ(ListenUnder(Name("4-80"), &second), 0);
  const int visitor = ConnectTo(Name("4-80"));
  EXPECT_GE(visitor, 0);
  close(visitor);
  CloseNamed(&second);
}

// Owners come and go at once; at any time one at most has the name, and everybody can have it.
TEST_F(NamedFilesTest, ManyWhoWantANameHaveItOneAfterTheOther) {
  std::atomic<int> owners = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int turns = 0; turns < 50;) {
        NamedSocket socket;
        const int status = ListenUnder(Name("4-80"), &socket);
        if (status != 0) {
          EXPECT_EQ(status, -EADDRINUSE);
          std::this_thread::yield();
          continue;
        }
        const int now = ++owners;
        int before = most;
        while (now > before && !most.compare_exchange_weak(before, now)) {
        }
        const int visitor = ConnectTo(Name("4-80"));
        EXPECT_GE(visitor, 0) << "the socket is the owner's";
        close(visitor);
        --owners;
        if ((turns + i) % 3 == 0) {
          Abandon(&socket);
        } else {
          CloseNamed(&socket);
        }
        ++turns;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
}

TEST_F(NamedFilesTest, SweepingRemovesTheNamesOfKilledProcessesAlone) {
  NamedSocket dead;
  NamedSocket young;
  NamedSocket living;
  ASSERT_EQ(ListenUnder(Name("4-m-0123456789abcdef"), &dead), 0);
  ASSERT_EQ(ListenUnder(Name("4-m-0000000000000001"), &young), 0);
  ASSERT_EQ(ListenUnder(Name("4-80"), &living), 0);
  std::ofstream(Name("mine.lock")) << "x";
  Abandon(&dead);
  Abandon(&young);
  MakeOld("4-m-0123456789abcdef");
  MakeOld("4-80");
  MakeOld("mine");
  EXPECT_EQ(SweepFolder(living.name), 1);
  EXPECT_EQ(Count(), 5) << "the young one, the living one, and a file of somebody else";
  EXPECT_EQ(SweepFolder(living.name), 0);
  CloseNamed(&living);
}

TEST_F(NamedFilesTest, NamesAreListedByWhatTheyBeginWith) {
  NamedSocket sockets[3];
  ASSERT_EQ(ListenUnder(Name("4-m-0123456789abcdef"), &sockets[0]), 0);
  ASSERT_EQ(ListenUnder(Name("4-m-0000000000000001"), &sockets[1]), 0);
  ASSERT_EQ(ListenUnder(Name("4-80-1"), &sockets[2]), 0);
  std::vector<std::string> found = ListNames(Name("4-m-"), 10);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<std::string>{sockets[1].name, sockets[0].name}));
  EXPECT_EQ(ListNames(Name("4-m-"), 1).size(), 1u);
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  EXPECT_TRUE(ListNames(Name("4-m-"), 10).empty()) << "anybody may have made them";
  for (NamedSocket& socket : sockets) CloseNamed(&socket);
}

TEST_F(NamedFilesTest, AFolderThatOthersMayUseIsRefused) {
  NamedSocket socket;
  for (const mode_t mode : {0750U, 0701U, 0777U}) {
    ASSERT_EQ(chmod(folder_.c_str(), mode), 0);
    EXPECT_EQ(ListenUnder(Name("4-80"), &socket), -EACCES);
  }
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
  ASSERT_EQ(mkdir(Name("real").c_str(), 0700), 0);
  ASSERT_EQ(symlink("real", Name("link").c_str()), 0);
  EXPECT_EQ(ListenUnder(Name("link/4-80"), &socket), -EACCES);
  EXPECT_EQ(ListenUnder(Name("missing/4-80"), &socket), -ENOENT);
  // A link in place of a lock is not followed.
  ASSERT_EQ(symlink("/dev/null", Name("4-80.lock").c_str()), 0);
  EXPECT_EQ(ListenUnder(Name("4-80"), &socket), -ELOOP);
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(Name("real").c_str(), Stranger::kUid, Stranger::kUid), 0);
  EXPECT_EQ(ListenUnder(Name("real/4-80"), &socket), -EACCES);
  Credentials found;
  EXPECT_TRUE(IsStrangers(Name("real/4-80"), &found));
  EXPECT_EQ(found.uid, Stranger::kUid);
}

// -- Listening sockets.

struct Bound {
  int fd = -1;
  uint16_t port = 0;
};

Bound Bind(bool listens) {
  Bound bound;
  bound.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(bound.fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  socklen_t size = sizeof address;
  getsockname(bound.fd, reinterpret_cast<sockaddr*>(&address), &size);
  bound.port = ntohs(address.sin_port);
  if (listens) {
    EXPECT_EQ(listen(bound.fd, 8), 0);
  }
  return bound;
}

TEST(ListeningSocketTest, OnlyASocketThatListensOnThePortIsOne) {
  const Bound listening = Bind(true);
  const Bound silent = Bind(false);
  EXPECT_TRUE(IsListeningOn(listening.fd, listening.port));
  EXPECT_FALSE(IsListeningOn(listening.fd, static_cast<uint16_t>(listening.port + 1)));
  EXPECT_FALSE(IsListeningOn(silent.fd, silent.port));
  EXPECT_FALSE(IsListeningOn(0, 80));
  EXPECT_FALSE(IsListeningOn(-1, 80));
  NamedSocket named;
  ASSERT_EQ(ListenUnder(OwnName(), &named), 0);
  EXPECT_FALSE(IsListeningOn(named.fd, 80));
  EXPECT_EQ(BoundAddress(listening.fd), "127.0.0.1");
  EXPECT_EQ(BoundAddress(named.fd), "");
  for (const int fd : {listening.fd, silent.fd, named.fd}) close(fd);
}

TEST(ListeningSocketTest, AWildcardListensBesideANarrowerAddressAndNobodyElseDoes) {
  const Bound narrow = Bind(true);
  const int wide = ListenBeside(narrow.port, 8, {narrow.fd});
  ASSERT_GE(wide, 0);
  EXPECT_EQ(BoundAddress(wide), "[::]");
  // Another program, as it is written usually.
  const int other = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(narrow.port);
  EXPECT_EQ(bind(other, reinterpret_cast<sockaddr*>(&address), sizeof address), -1);
  EXPECT_EQ(errno, EADDRINUSE);
  close(other);
  close(wide);
  close(narrow.fd);
}

}  // namespace
}  // namespace httpsys::sharing
