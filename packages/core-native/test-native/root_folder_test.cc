// Both ways to open files below a folder, which must not differ.

#include "files/root_folder.h"

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptors.h"
#include "support/temporary_folder.h"

namespace httpsys::files {
namespace {

class RootFolderTest : public testing::TestWithParam<OpenWay> {
 protected:
  RootFolderTest() {
    folder_.MakeFolder("site/sub/deep");
    folder_.MakeFolder("site-other");
    folder_.Write("site/a.txt", "a");
    folder_.Write("site/sub/b.txt", "bb");
    folder_.Write("site/sub/deep/c.txt", "ccc");
    folder_.Write("site/empty", "");
    folder_.Write("secret", "secret");
    folder_.Write("site-other/d.txt", "secret");
  }

  std::unique_ptr<RootFolder> Open(LinkPolicy links = LinkPolicy::kRefuse) const {
    int error = 0;
    auto root = RootFolder::Open(folder_.PathOf("site"), links, GetParam(), &error);
    EXPECT_EQ(error, 0);
    return root;
  }

  // The text of a file, "folder", "other", or the name of an errno.
  static std::string Read(const RootFolder& root, const std::string& relative) {
    const OpenedFile opened = root.OpenFile(relative);
    if (opened.error != 0) {
      EXPECT_EQ(opened.fd, -1);
      return strerrorname_np(opened.error);
    }
    if (opened.facts.kind != FileKind::kFile) {
      EXPECT_EQ(opened.fd, -1);
      return opened.facts.kind == FileKind::kFolder ? "folder" : "other";
    }
    std::string text = test::ReadStart(opened.fd);
    EXPECT_EQ(opened.facts.size, text.size());
    EXPECT_NE(fcntl(opened.fd, F_GETFD) & FD_CLOEXEC, 0);
    close(opened.fd);
    return text;
  }

  const test::TemporaryFolder folder_;
};

TEST_P(RootFolderTest, FilesAndFoldersOfTheRoot) {
  const auto root = Open();
  EXPECT_EQ(root->walks(), GetParam() == OpenWay::kWalk) << "Linux has openat2 since 5.6";
  EXPECT_EQ(Read(*root, "a.txt"), "a");
  EXPECT_EQ(Read(*root, "sub/b.txt"), "bb");
  EXPECT_EQ(Read(*root, "sub/deep/c.txt"), "ccc");
  EXPECT_EQ(Read(*root, "empty"), "");
  EXPECT_EQ(Read(*root, "sub"), "folder");
  EXPECT_EQ(Read(*root, ""), "folder");
  EXPECT_EQ(Read(*root, "b.txt"), "ENOENT");
  EXPECT_EQ(Read(*root, "none/b.txt"), "ENOENT");
  EXPECT_EQ(Read(*root, "a.txt/b"), "ENOTDIR");
  EXPECT_EQ(Read(*root, std::string(256, 'x')), "ENAMETOOLONG");
}

TEST_P(RootFolderTest, AFolderThatOtherCodeHasClosedOpensNothingAndIsNotClosedAgain) {
  folder_.Write("site-other/a.txt", "secret");
  auto root = Open();
  EXPECT_TRUE(root->IsOpen());
  // Its number is above those that programs have, and the only one of the process there.
  const int number = kOwnDescriptorsFrom;
  ASSERT_EQ(close(number), 0);
  EXPECT_FALSE(root->IsOpen());
  EXPECT_FALSE(root->IsCurrent());
  EXPECT_EQ(Read(*root, "a.txt"), "EBADF");
  const int other = open(folder_.PathOf("site-other").c_str(), O_PATH | O_CLOEXEC);
  ASSERT_EQ(dup3(other, number, O_CLOEXEC), number);
  EXPECT_EQ(Read(*root, "a.txt"), "EBADF");
  EXPECT_EQ(Read(*root, "none"), "EBADF");
  root.reset();
  EXPECT_EQ(fcntl(number, F_GETFD), FD_CLOEXEC);
  close(number);
  close(other);
}

TEST_P(RootFolderTest, PathsThatLeaveTheRootOpenNothing) {
  for (const LinkPolicy links : {LinkPolicy::kRefuse, LinkPolicy::kFollowBeneath}) {
    const auto root = Open(links);
    EXPECT_EQ(Read(*root, "../secret"), "EXDEV");
    EXPECT_EQ(Read(*root, ".."), "EXDEV");
    EXPECT_EQ(Read(*root, "sub/../../secret"), "EXDEV");
    EXPECT_EQ(Read(*root, "../site-other/d.txt"), "EXDEV");
    EXPECT_EQ(Read(*root, "sub/../a.txt"), "a");
  }
}

TEST_P(RootFolderTest, LinksAreRefusedUnlessTheyAreAllowed) {
  folder_.Link("site/link.txt", "a.txt");
  folder_.Link("site/link", "sub");
  const auto root = Open();
  EXPECT_EQ(Read(*root, "link.txt"), "ELOOP");
  EXPECT_EQ(Read(*root, "link/b.txt"), "ELOOP");
  EXPECT_EQ(Read(*root, "link"), "ELOOP");
}

TEST_P(RootFolderTest, LinksThatStayInTheRootAreFollowed) {
  folder_.Link("site/link.txt", "a.txt");
  folder_.Link("site/link", "sub/deep");
  folder_.Link("site/chain", "./link//");
  folder_.Link("site/sub/deep/up", "../../sub/b.txt");
  folder_.Link("site/here", ".");
  folder_.Link("site/sub/parent", "..");
  const auto root = Open(LinkPolicy::kFollowBeneath);
  EXPECT_EQ(Read(*root, "link.txt"), "a");
  EXPECT_EQ(Read(*root, "link/c.txt"), "ccc");
  EXPECT_EQ(Read(*root, "chain/c.txt"), "ccc");
  EXPECT_EQ(Read(*root, "chain"), "folder");
  EXPECT_EQ(Read(*root, "link/up"), "bb");
  EXPECT_EQ(Read(*root, "here/here/a.txt"), "a");
  EXPECT_EQ(Read(*root, "here"), "folder");
  EXPECT_EQ(Read(*root, "sub/parent/a.txt"), "a");
  EXPECT_EQ(Read(*root, "sub/parent"), "folder");
}

TEST_P(RootFolderTest, LinksThatLeaveTheRootAreNeverFollowed) {
  folder_.Link("site/out", "../secret");
  folder_.Link("site/absolute", folder_.PathOf("secret"));
  folder_.Link("site/inside", folder_.PathOf("site/a.txt"));
  folder_.Link("site/folder", "../site-other");
  folder_.Link("site/sub/deep/far", "../../../secret");
  folder_.Link("site/back", "../site/a.txt");
  folder_.Link("site/slash", "/");
  const auto root = Open(LinkPolicy::kFollowBeneath);
  EXPECT_EQ(Read(*root, "out"), "EXDEV");
  EXPECT_EQ(Read(*root, "absolute"), "EXDEV");
  EXPECT_EQ(Read(*root, "inside"), "EXDEV") << "absolute, although it names a file of the root";
  EXPECT_EQ(Read(*root, "folder/d.txt"), "EXDEV");
  EXPECT_EQ(Read(*root, "sub/deep/far"), "EXDEV");
  EXPECT_EQ(Read(*root, "back"), "EXDEV") << "leaves the root on its way";
  EXPECT_EQ(Read(*root, "slash"), "EXDEV");
}

TEST_P(RootFolderTest, ALoopOfLinksEnds) {
  folder_.Link("site/self", "self");
  folder_.Link("site/x", "y");
  folder_.Link("site/y", "x");
  const auto root = Open(LinkPolicy::kFollowBeneath);
  EXPECT_EQ(Read(*root, "self"), "ELOOP");
  EXPECT_EQ(Read(*root, "x/a"), "ELOOP");
}

TEST_P(RootFolderTest, ALinkToNothingIsNotFound) {
  folder_.Link("site/dangling", "nothing");
  EXPECT_EQ(Read(*Open(LinkPolicy::kFollowBeneath), "dangling"), "ENOENT");
  EXPECT_EQ(Read(*Open(LinkPolicy::kFollowBeneath), "dangling/a"), "ENOENT");
}

// Opening a FIFO would let a program go on that waits to write to it.
TEST_P(RootFolderTest, AFifoIsNotOpened) {
  const std::string path = folder_.PathOf("site/fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0644), 0);
  const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  ASSERT_NE(inotify_add_watch(watch, path.c_str(), IN_OPEN), -1);
  const auto root = Open(LinkPolicy::kFollowBeneath);
  folder_.Link("site/link", "fifo");
  EXPECT_EQ(Read(*root, "fifo"), "ENXIO");
  EXPECT_EQ(Read(*root, "link"), "ENXIO");
  std::array<char, 4096> events;
  EXPECT_EQ(read(watch, events.data(), events.size()), -1);
  EXPECT_EQ(errno, EAGAIN);
  close(watch);
}

TEST_P(RootFolderTest, TheFactsAreThoseOfStat) {
  const auto root = Open();
  struct stat found {};
  ASSERT_EQ(stat(folder_.PathOf("site/sub/b.txt").c_str(), &found), 0);
  const OpenedFile opened = root->OpenFile("sub/b.txt");
  ASSERT_EQ(opened.error, 0);
  close(opened.fd);
  EXPECT_EQ(opened.facts.device, found.st_dev);
  EXPECT_EQ(opened.facts.inode, found.st_ino);
  EXPECT_EQ(opened.facts.size, 2u);
  EXPECT_EQ(opened.facts.modified_ns, found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec);
  EXPECT_EQ(opened.facts.changed_ns, found.st_ctim.tv_sec * 1'000'000'000 + found.st_ctim.tv_nsec);
}

TEST_P(RootFolderTest, AnotherFolderWithTheNameIsNotCurrent) {
  const auto root = Open();
  EXPECT_TRUE(root->IsCurrent());
  folder_.Rename("site", "old");
  EXPECT_FALSE(root->IsCurrent());
  folder_.Rename("site-other", "site");
  EXPECT_FALSE(root->IsCurrent());
  EXPECT_EQ(Read(*root, "a.txt"), "a") << "the folder that was opened";
  folder_.Rename("site", "site-other");
  folder_.Rename("old", "site");
  EXPECT_TRUE(root->IsCurrent());
}

TEST_P(RootFolderTest, ALinkThatIsSwitchedIsNotCurrent) {
  folder_.Link("current", "site");
  int error = 0;
  const auto root =
      RootFolder::Open(folder_.PathOf("current"), LinkPolicy::kRefuse, GetParam(), &error);
  ASSERT_NE(root, nullptr);
  EXPECT_TRUE(root->IsCurrent());
  folder_.Link("next", "site-other");
  folder_.Rename("next", "current");
  EXPECT_FALSE(root->IsCurrent());
}

TEST_P(RootFolderTest, WhatIsNoFolderIsNoRoot) {
  int error = 0;
  EXPECT_EQ(RootFolder::Open(folder_.PathOf("none"), LinkPolicy::kRefuse, GetParam(), &error),
            nullptr);
  EXPECT_EQ(error, ENOENT);
  EXPECT_EQ(RootFolder::Open(folder_.PathOf("secret"), LinkPolicy::kRefuse, GetParam(), &error),
            nullptr);
  EXPECT_EQ(error, ENOTDIR);
}

TEST_P(RootFolderTest, NoDescriptorIsLeftOpen) {
  folder_.Link("site/link", "sub/deep/../../sub");
  folder_.Link("site/out", "sub/deep/../../../secret");
  const auto root = Open(LinkPolicy::kFollowBeneath);
  const auto next_descriptor = [] {
    const int fd = dup(0);
    close(fd);
    return fd;
  };
  const int before = next_descriptor();
  for (const char* path : {"", "a.txt", "sub/deep/c.txt", "sub/deep/none", "link/b.txt", "link",
                           "out", "a.txt/x", "../x", "sub/deep/../../.."}) {
    Read(*root, path);
    EXPECT_EQ(next_descriptor(), before) << path;
  }
}

TEST_P(RootFolderTest, DescriptorZeroIsADescriptor) {
  const auto root = Open();
  const int kept = dup(0);
  close(0);
  EXPECT_EQ(Read(*root, "sub/deep/c.txt"), "ccc");
  const OpenedFile opened = root->OpenFile("a.txt");
  EXPECT_EQ(opened.error, 0);
  EXPECT_EQ(test::ReadStart(opened.fd), "a");
  close(opened.fd);
  if (kept != -1) {
    dup2(kept, 0);
    close(kept);
  }
}

TEST_P(RootFolderTest, AWalkHasALimitOfDepth) {
  std::string path = "site";
  std::string relative;
  for (size_t i = 0; i <= kWalkDepthMax; ++i) {
    path += "/d";
    relative += "d/";
    ASSERT_EQ(mkdir(folder_.PathOf(path).c_str(), 0755), 0);
  }
  folder_.Write(path.substr(0, path.size() - 2) + "/f", "near");
  folder_.Write(path + "/f", "far");
  const auto root = Open();
  EXPECT_EQ(Read(*root, relative.substr(2) + "f"), "near");
  EXPECT_EQ(Read(*root, relative + "f"), root->walks() ? "ENAMETOOLONG" : "far");
}

// A folder is swapped with a link out of the root, as fast as possible.
TEST_P(RootFolderTest, ARaceOfRenamesOpensNothingOutside) {
  folder_.MakeFolder("site/swap");
  folder_.Write("site/swap/d.txt", "inside");
  folder_.Link("site/link", "../site-other");
  std::atomic<bool> stop = false;
  std::atomic<int> rounds = 0;
  std::thread renamer([&] {
    while (!stop) {
      folder_.Rename("site/swap", "site/away");
      folder_.Rename("site/link", "site/swap");
      folder_.Rename("site/swap", "site/link");
      folder_.Rename("site/away", "site/swap");
      ++rounds;
    }
  });
  // Each thread may run for a long time before the other one does: only rounds count.
  constexpr int kRounds = 2000;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (const LinkPolicy links : {LinkPolicy::kRefuse, LinkPolicy::kFollowBeneath}) {
    const auto root = Open(links);
    const int begun = rounds;
    int found = 0;
    for (int i = 0; found == 0 || rounds - begun < kRounds; ++i) {
      const std::string text = Read(*root, i % 2 == 0 ? "swap/d.txt" : "sub/../swap/d.txt");
      EXPECT_NE(text, "secret");
      if (text == "inside") ++found;
      if (HasFailure() || std::chrono::steady_clock::now() > deadline) break;
    }
    EXPECT_GT(found, 0);
    EXPECT_GE(rounds - begun, kRounds);
  }
  stop = true;
  renamer.join();
}

#ifdef __linux__

// From now on this thread gets an error for openat2(2), as in a container with an old filter.
bool RefuseOpenat2(int error) {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof rules / sizeof rules[0], rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_P(RootFolderTest, AFilterThatRefusesTheCallMakesItWalk) {
  for (const int error : {ENOSYS, EPERM}) {
    std::thread filtered([&] {
      ASSERT_TRUE(RefuseOpenat2(error));
      const auto root = Open();
      ASSERT_NE(root, nullptr);
      EXPECT_TRUE(root->walks());
      EXPECT_EQ(Read(*root, "sub/b.txt"), "bb");
      EXPECT_EQ(Read(*root, "../secret"), "EXDEV");
    });
    filtered.join();
  }
}

#endif

INSTANTIATE_TEST_SUITE_P(Ways, RootFolderTest, testing::Values(OpenWay::kBest, OpenWay::kWalk),
                         [](const testing::TestParamInfo<OpenWay>& way) {
                           return way.param == OpenWay::kBest ? "Best" : "Walk";
                         });

}  // namespace
}  // namespace httpsys::files
