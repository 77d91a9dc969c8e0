// The threads that read files for lanes.

#include "files/read_ahead.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
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
  // The next task at the same place comes behind the close.
  const WaitPlace place{other->facts().device, WaitPlace::Use::kNames};
  ahead.Run(place, [] {}, [done = results.Done()] { done({1, nullptr}); });
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

// Two calls at one place, of which the first does not end.
TEST(ReadAhead, WaitsForOnePlaceAtATime) {
  std::mutex gate;
  gate.lock();
  Results results;
  ReadAhead ahead;
  const auto tell = [&](ssize_t number) {
    return [&, number, done = results.Done()] { done({number, nullptr}); };
  };
  std::atomic<int> behind = 0;
  using Use = WaitPlace::Use;
  for (int i = 0; i < 2 * limits::kFileThreadsMax; ++i) {
    ahead.Run(
        {1, Use::kNames},
        [&] {
          ++behind;
          const std::lock_guard wait(gate);
        },
        nullptr);
  }
  ahead.Run({1, Use::kBytes}, [] {}, tell(1));
  EXPECT_EQ(results.Get(0).bytes, 1);
  ahead.Run({2, Use::kNames}, [] {}, tell(2));
  EXPECT_EQ(results.Get(1).bytes, 2);
  EXPECT_LE(behind, 1);
  gate.unlock();
  ahead.Run({1, Use::kNames}, [] {}, tell(3));
  EXPECT_EQ(results.Get(2).bytes, 3);
  EXPECT_EQ(behind, 2 * limits::kFileThreadsMax);
}

// Nobody wants the result any more: the task goes with all that it has.
TEST(ReadAhead, ForgetsTasksThatHaveNotBegun) {
  std::mutex gate;
  gate.lock();
  Results results;
  ReadAhead ahead;
  const WaitPlace place{1, WaitPlace::Use::kNames};
  std::atomic<bool> has_begun = false;
  const ReadAhead::Ticket first = ahead.Run(
      place,
      [&] {
        has_begun = true;
        const std::lock_guard wait(gate);
      },
      [done = results.Done()] { done({1, nullptr}); });
  auto content = std::make_shared<int>();
  const std::weak_ptr<int> rest = content;
  const ReadAhead::Ticket second = ahead.Run(
      place, [content = std::move(content)] {}, [done = results.Done()] { done({2, nullptr}); });
  ahead.Run(place, [] {}, [done = results.Done()] { done({3, nullptr}); });
  while (!has_begun) usleep(1000);
  EXPECT_FALSE(rest.expired());
  ahead.Cancel(place, second);
  EXPECT_TRUE(rest.expired());
  // These change nothing: it has begun, it is gone, and no task has the number.
  ahead.Cancel(place, first);
  ahead.Cancel(place, second);
  ahead.Cancel({2, WaitPlace::Use::kNames}, 1000);
  gate.unlock();
  EXPECT_EQ(results.Get(0).bytes, 1);
  EXPECT_EQ(results.Get(1).bytes, 3);
}

// The search of a served folder has the last reference to a file if nobody wants its result any
// more.
TEST(ReadAhead, TakesFilesBackThatItsOwnTasksLetGo) {
  // The object is leaked if one of its threads has stopped for ever: its destructor would wait.
  auto* ahead = new ReadAhead;
  auto found = std::make_shared<std::shared_ptr<const OpenFile>>();
  std::atomic<bool> is_done = false;
  ahead->Run(
      {1, WaitPlace::Use::kNames}, [found, ahead] { *found = ahead->Share(OpenUnsure()); },
      [found, &is_done] { is_done = true; });
  found.reset();
  while (!is_done) usleep(1000);
  std::promise<void> answers;
  std::thread([&] {
    ahead->Cancel({1, WaitPlace::Use::kNames}, 1);
    answers.set_value();
  }).detach();
  if (answers.get_future().wait_for(std::chrono::seconds(10)) != std::future_status::ready) {
    std::fputs("A thread waits for itself.\n", stderr);
    std::abort();
  }
  delete ahead;
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
    ahead.Run({1, WaitPlace::Use::kNames}, [] {}, nullptr);
    usleep(kStepMs * 1000);
  }
  EXPECT_GE(sweeps, 2);
  EXPECT_LE(sweeps, 3);
}

}  // namespace
}  // namespace httpsys::files
