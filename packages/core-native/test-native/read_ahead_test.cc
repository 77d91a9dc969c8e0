// The threads that read files for lanes.

#include "files/read_ahead.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.h"

namespace httpsys::files {
namespace {

constexpr size_t kBytes = 600'000;

std::unique_ptr<OpenFile> MakeFile() {
  std::string name = testing::TempDir() + "/httpsys-XXXXXX";
  const int fd = mkstemp(name.data());
  unlink(name.c_str());
  std::string content(kBytes, '\0');
  for (size_t i = 0; i < kBytes; ++i) content[i] = static_cast<char>('a' + i % 23);
  EXPECT_EQ(write(fd, content.data(), kBytes), static_cast<ssize_t>(kBytes));
  return OpenFile::Take(fd);
}

std::unique_ptr<OpenFile> OpenUnsure() {
  return OpenFile::Take(open("/proc/version", O_RDONLY | O_CLOEXEC));
}

// Results, in the order in which they came.
class Results {
 public:
  ReadAhead::Done Done() {
    return [this](const ReadAhead::Result& result) {
      const std::lock_guard lock(mutex_);
      results_.push_back(result);
      changed_.notify_all();
    };
  }

  // Waits for the result with this index.
  ReadAhead::Result Get(size_t index) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return results_.size() > index; });
    return results_[index];
  }

  size_t count() {
    const std::lock_guard lock(mutex_);
    return results_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ReadAhead::Result> results_;
};

TEST(ReadAhead, GivesBlocksOnlyIfAskedForThem) {
  Results results;
  ReadAhead ahead;
  const std::shared_ptr<const OpenFile> file = ahead.Share(MakeFile());
  ahead.Read(file, 23, 1000, true, results.Done());
  const ReadAhead::Result kept = results.Get(0);
  ASSERT_NE(kept.block, nullptr);
  EXPECT_EQ(kept.bytes, 1000);
  EXPECT_EQ(kept.block->offset, 23u);
  EXPECT_EQ(kept.block->bytes, 1000u);
  EXPECT_EQ(std::memcmp(kept.block->memory.get(), "abcdefghijklmnopqrstuvwabc", 26), 0);
  ahead.Read(file, 0, kBytes, false, results.Done());
  EXPECT_EQ(results.Get(1).bytes, static_cast<ssize_t>(limits::kFileWindowBytes));
  EXPECT_EQ(results.Get(1).block, nullptr);
}

TEST(ReadAhead, TellsTheEndOfTheFileAndErrors) {
  Results results;
  ReadAhead ahead;
  ahead.Read(ahead.Share(MakeFile()), kBytes - 10, 1000, true, results.Done());
  EXPECT_EQ(results.Get(0).bytes, 10);
  ahead.Read(ahead.Share(MakeFile()), kBytes, 1000, true, results.Done());
  EXPECT_EQ(results.Get(1).bytes, 0);
  EXPECT_EQ(results.Get(1).block, nullptr);
  // Address 0 of a process is not mapped.
  ahead.Read(ahead.Share(OpenFile::Take(open("/proc/self/mem", O_RDONLY | O_CLOEXEC))), 0, 10, true,
             results.Done());
  EXPECT_EQ(results.Get(2).bytes, -EIO);
}

TEST(ReadAhead, ReadsTheFilesOfADeviceInOrder) {
  Results results;
  ReadAhead ahead;
  const std::shared_ptr<const OpenFile> file = ahead.Share(MakeFile());
  for (size_t i = 0; i < 100; ++i) ahead.Read(file, i * 100, i + 1, true, results.Done());
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(results.Get(i).bytes, static_cast<ssize_t>(i + 1));
    EXPECT_EQ(results.Get(i).block->offset, i * 100);
  }
}

// close(2) of such a file may wait for a server.
TEST(ReadAhead, ClosesFilesWhereThatMayWait) {
  Results results;
  ReadAhead ahead;
  std::shared_ptr<const OpenFile> file = ahead.Share(OpenUnsure());
  const int fd = file->Pin();
  // Opened before the close, which would free its descriptor's number for it.
  std::unique_ptr<OpenFile> other = OpenUnsure();
  file.reset();
  // The next task of the same device comes behind the close.
  ahead.Read(ahead.Share(std::move(other)), 0, 1, true, results.Done());
  EXPECT_EQ(results.Get(0).bytes, 1);
  EXPECT_LT(fcntl(fd, F_GETFD), 0);
}

TEST(ReadAhead, CallsNobodyAfterClose) {
  for (int round = 0; round < 50; ++round) {
    Results results;
    ReadAhead ahead;
    // The only owners of the files are the tasks: their last files come back while they are
    // dropped.
    for (int i = 0; i < 20; ++i) {
      ahead.Read(ahead.Share(OpenUnsure()), 0, 10, true, results.Done());
      ahead.Read(ahead.Share(MakeFile()), 0, 10, true, results.Done());
    }
    ahead.Close();
    const size_t count = results.count();
    EXPECT_LE(count, 40u);
    ahead.Read(ahead.Share(OpenUnsure()), 0, 10, true, results.Done());
    usleep(200);
    EXPECT_EQ(results.count(), count);
  }
}

// A site that is always asked for something has its files renewed all the time.
TEST(ReadAhead, SweepsAlthoughThereIsAlwaysSomethingToRead) {
  std::atomic<int> sweeps = 0;
  ReadAhead ahead([&] {
    ++sweeps;
    return true;
  });
  ahead.SweepLater();
  constexpr int kStepMs = 20;
  for (uint64_t passed = 0; passed < 5 * limits::kUnusedMs / 2; passed += kStepMs) {
    ahead.Run(1, [] {}, nullptr);
    usleep(kStepMs * 1000);
  }
  EXPECT_GE(sweeps, 2);
  EXPECT_LE(sweeps, 3);
}

}  // namespace
}  // namespace httpsys::files
