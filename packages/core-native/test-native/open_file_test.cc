// What is known of a file's bytes before they are read, on file systems of the machine.

#include "files/open_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "files/file_calls.h"

namespace httpsys::files {
namespace {

constexpr size_t kBytes = 300'000;

std::string Content() {
  std::string content(kBytes, '\0');
  for (size_t i = 0; i < kBytes; ++i) content[i] = static_cast<char>('a' + i % 23);
  return content;
}

// A file without a name, in a folder.
int MakeFile(const std::string& folder) {
  std::string name = folder + "/httpsys-XXXXXX";
  const int fd = mkstemp(name.data());
  EXPECT_GE(fd, 0);
  unlink(name.c_str());
  const std::string content = Content();
  EXPECT_EQ(pwrite(fd, content.data(), kBytes, 0), static_cast<ssize_t>(kBytes));
  EXPECT_EQ(fsync(fd), 0);
  return fd;
}

bool HasFile(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(OpenFile, ReadsWithoutMovingThePosition) {
  const std::unique_ptr<OpenFile> file = OpenFile::Take(MakeFile(testing::TempDir()));
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(lseek(file->Pin(), 7, SEEK_SET), 7);
  std::array<char, 10> bytes{};
  EXPECT_EQ(file->Read(bytes.data(), bytes.size(), 100), 10);
  EXPECT_EQ(std::string(bytes.data(), 10), Content().substr(100, 10));
  EXPECT_EQ(file->Read(bytes.data(), bytes.size(), kBytes - 3), 3);
  EXPECT_EQ(file->Read(bytes.data(), bytes.size(), kBytes + 3), 0);
  EXPECT_EQ(lseek(file->Pin(), 0, SEEK_CUR), 7);
}

TEST(OpenFile, TakesRegularFilesOnly) {
  for (const char* name : {"/", "/dev/zero"}) {
    const int fd = open(name, O_RDONLY | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(OpenFile::Take(fd), nullptr) << name;
    EXPECT_EQ(errno, EINVAL) << name;
    EXPECT_FALSE(HasFile(fd)) << name;
  }
  EXPECT_EQ(OpenFile::Duplicate(-1), nullptr);
  EXPECT_EQ(errno, EBADF);
}

TEST(OpenFile, DuplicateLeavesTheDescriptorOpen) {
  const int fd = MakeFile(testing::TempDir());
  std::unique_ptr<OpenFile> file = OpenFile::Duplicate(fd);
  ASSERT_NE(file, nullptr);
  const int copy = file->Pin();
  EXPECT_NE(copy, fd);
  EXPECT_NE(fcntl(copy, F_GETFD) & FD_CLOEXEC, 0);
  file.reset();
  EXPECT_FALSE(HasFile(copy));
  EXPECT_TRUE(HasFile(fd));
  close(fd);
}

#ifdef __linux__

// tmpfs has no probes, and needs none.
TEST(OpenFile, KnowsFilesThatAreAlwaysInMemory) {
  const std::unique_ptr<OpenFile> file = OpenFile::Take(MakeFile("/dev/shm"));
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->way(), ReadWay::kMemory);
  EXPECT_TRUE(file->IsInMemory(0, kBytes));
  std::vector<char> bytes(kBytes);
  EXPECT_EQ(file->ReadNow(bytes.data(), kBytes, 0), static_cast<ssize_t>(kBytes));
}

// Files of /proc are regular, and their reads are answered by functions, which nothing can probe.
TEST(OpenFile, KnowsFilesOfWhichNothingIsKnown) {
  const std::unique_ptr<OpenFile> file =
      OpenFile::Take(open("/proc/version", O_RDONLY | O_CLOEXEC));
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->way(), ReadWay::kUnsure);
  EXPECT_FALSE(file->IsInMemory(0, 1));
  char byte = 0;
  EXPECT_EQ(file->ReadNow(&byte, 1, 0), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(file->Read(&byte, 1, 0), 1);
  EXPECT_EQ(byte, 'L');
}

// Needs a file system with probes: containers have overlayfs, which has none.
TEST(OpenFile, SaysWhatTheKernelWouldHaveToReadFromDisk) {
  const std::unique_ptr<OpenFile> file = OpenFile::Take(MakeFile(testing::TempDir()));
  ASSERT_NE(file, nullptr);
  if (file->way() != ReadWay::kProbed) GTEST_SKIP() << "this file system takes no probes";
  EXPECT_TRUE(file->IsInMemory(0, kBytes));
  ASSERT_EQ(posix_fadvise(file->Pin(), 0, 0, POSIX_FADV_DONTNEED), 0);
  EXPECT_FALSE(file->IsInMemory(0, kBytes));
  EXPECT_FALSE(file->IsInMemory(kBytes - 1, 1));
  char byte = 0;
  EXPECT_EQ(file->ReadNow(&byte, 1, 0), -1);
  EXPECT_EQ(errno, EAGAIN);
  std::vector<char> bytes(kBytes);
  EXPECT_EQ(file->Read(bytes.data(), kBytes, 0), static_cast<ssize_t>(kBytes));
  EXPECT_TRUE(file->IsInMemory(0, kBytes));
  EXPECT_EQ(file->way(), ReadWay::kProbed);
}

#endif

TEST(SendFileBytes, SendsUpToTheEndOfTheFile) {
  const std::unique_ptr<OpenFile> file = OpenFile::Take(MakeFile(testing::TempDir()));
  ASSERT_NE(file, nullptr);
  std::array<int, 2> pair{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
  EXPECT_EQ(SendFileBytes(pair[0], file->Pin(), kBytes - 5, 100), 5);
  EXPECT_EQ(SendFileBytes(pair[0], file->Pin(), kBytes, 100), 0);
  std::array<char, 10> bytes{};
  EXPECT_EQ(read(pair[1], bytes.data(), bytes.size()), 5);
  EXPECT_EQ(std::string(bytes.data(), 5), Content().substr(kBytes - 5));
  close(pair[0]);
  close(pair[1]);
}

}  // namespace
}  // namespace httpsys::files
