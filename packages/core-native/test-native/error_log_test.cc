#include "engine/statistics/error_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/descriptors.h"
#include "base/limits.h"

namespace httpsys::engine {
namespace {

class ErrorLogTest : public testing::Test {
 protected:
  ErrorLogTest() {
    std::string name = testing::TempDir() + "/httpsys-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/error.log";
  }
  ~ErrorLogTest() override {
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }

  // Without those that begin a file.
  std::vector<std::string> Lines() const {
    std::ifstream file(path_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    EXPECT_GE(lines.size(), 3u);
    lines.erase(lines.begin(), lines.begin() + 3);
    return lines;
  }

  static LogRecord Entry() {
    LogRecord entry;
    entry.reason = "BadRequest";
    entry.status = 400;
    entry.server_id = 7;
    return entry;
  }

  // What fits into one second; the lines left out. It begins with that second, so that it does not
  // end within.
  static int Flood(ErrorLog* log, int count) {
    const std::time_t now = std::time(nullptr);
    while (std::time(nullptr) == now) usleep(1000);
    int left_out = 0;
    for (int i = 0; i < count; ++i) left_out += log->Write(Entry()) ? 0 : 1;
    return left_out;
  }

  static void AwaitNextSecond() {
    const std::time_t now = std::time(nullptr);
    while (std::time(nullptr) == now) usleep(1000);
  }

  std::string folder_;
  std::string path_;
};

TEST_F(ErrorLogTest, WithoutAPathThereIsNone) {
  ErrorLog log(nullptr);
  EXPECT_FALSE(log.is_on());
  EXPECT_EQ(log.TakeFailure(), 0);
  EXPECT_TRUE(log.Write(Entry()));
}

TEST_F(ErrorLogTest, AFileThatCannotBeOpenedIsToldOnce) {
  ErrorLog log((folder_ + "/no/error.log").c_str());
  EXPECT_FALSE(log.is_on());
  EXPECT_EQ(log.path(), folder_ + "/no/error.log");
  EXPECT_EQ(log.TakeFailure(), ENOENT);
  EXPECT_EQ(log.TakeFailure(), 0);
}

TEST_F(ErrorLogTest, APipeThatNobodyReadsDoesNotHoldTheProcessUp) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  ErrorLog log(path_.c_str());
  EXPECT_EQ(log.TakeFailure(), ENXIO);
}

TEST_F(ErrorLogTest, ADescriptorThatOtherCodeHasClosedIsNotWrittenTo) {
  ErrorLog log(path_.c_str());
  EXPECT_TRUE(log.Write(Entry()));
  const int number = kOwnDescriptorsFrom;
  ASSERT_EQ(close(number), 0);
  const std::string other_path = folder_ + "/other";
  const int other = open(other_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(dup3(other, number, O_CLOEXEC), number);
  EXPECT_TRUE(log.Write(Entry()));
  EXPECT_EQ(lseek(other, 0, SEEK_END), 0);
  EXPECT_EQ(Lines().size(), 2u);
  close(number);
  close(other);
  unlink(other_path.c_str());
}

TEST_F(ErrorLogTest, KnownAddressesAreTaken) {
  ErrorLog log(path_.c_str());
  EXPECT_EQ(log.TakeFailure(), 0);
  Addresses addresses;
  addresses.remote = "192.0.2.1";
  addresses.remote_port = 50312;
  addresses.local = "192.0.2.2";
  addresses.local_port = 443;
  LogRecord entry = Entry();
  entry.addresses = &addresses;
  entry.method = "GET";
  entry.target = "/a b";
  entry.version_major = 2;
  entry.version_minor = 0;
  EXPECT_TRUE(log.Write(entry));
  EXPECT_TRUE(log.Write(Entry()));
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), 2u);
  // Behind "2026-11-21 15:04:05 ".
  EXPECT_EQ(lines[0].substr(20),
            "192.0.2.1 50312 192.0.2.2 443 HTTP/2.0 GET /a+b 400 7 BadRequest");
  EXPECT_EQ(lines[1].substr(20), "- - - - - - - 400 7 BadRequest");
}

TEST_F(ErrorLogTest, LinesLeftOutAreCountedInTheNextSecondWithoutAFurtherOne) {
  ErrorLog log(path_.c_str());
  const int most = limits::kLogLinesPerSecond;
  ASSERT_EQ(Flood(&log, most + 5), 5);
  EXPECT_FALSE(log.WriteDropped(false));
  AwaitNextSecond();
  EXPECT_TRUE(log.WriteDropped(false));
  // Said once.
  EXPECT_TRUE(log.WriteDropped(false));
  EXPECT_TRUE(log.Write(Entry()));
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), static_cast<size_t>(most) + 2);
  EXPECT_EQ(lines[most], "#Dropped: 5 lines");
}

TEST_F(ErrorLogTest, TheLastOnesAreCountedAtOnce) {
  ErrorLog log(path_.c_str());
  const int most = limits::kLogLinesPerSecond;
  ASSERT_EQ(Flood(&log, most + 1), 1);
  EXPECT_TRUE(log.WriteDropped(true));
  EXPECT_EQ(Lines().back(), "#Dropped: 1 lines");
}

TEST_F(ErrorLogTest, AFurtherLineCountsThoseBeforeIt) {
  ErrorLog log(path_.c_str());
  const int most = limits::kLogLinesPerSecond;
  ASSERT_EQ(Flood(&log, most + 2), 2);
  AwaitNextSecond();
  EXPECT_TRUE(log.Write(Entry()));
  EXPECT_TRUE(log.WriteDropped(false));
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), static_cast<size_t>(most) + 2);
  EXPECT_EQ(lines[most], "#Dropped: 2 lines");
}

}  // namespace
}  // namespace httpsys::engine
