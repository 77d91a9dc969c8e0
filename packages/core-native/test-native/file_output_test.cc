// How the bytes of files come to sockets: what is in memory, what is read first, and what that
// costs. Files of procfs say nothing about their bytes: the memory of the test itself is one.

#include "engine/connection/file_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "engine/connection/transport.h"
#include "support/own_attachment.h"

namespace httpsys::engine {
namespace {

using files::FilePart;
using files::OpenFile;

constexpr size_t kBytes = 600'000;
constexpr size_t kFrameBytes = 16 * 1024;

// Functions that other threads give to the thread of the test.
class Posted {
 public:
  FileOutput::Post Post() {
    return [this](std::function<void()> run) {
      const std::lock_guard lock(mutex_);
      functions_.push_back(std::move(run));
      changed_.notify_all();
    };
  }

  // Runs so many of them.
  void Run(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !functions_.empty(); });
      const std::function<void()> run = std::move(functions_.front());
      functions_.erase(functions_.begin());
      lock.unlock();
      run();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> functions_;
};

class FileOutputTest : public testing::Test {
 protected:
  FileOutputTest() {
    uv_loop_init(&loop_);
    name_ = testing::TempDir() + "/httpsys-XXXXXX";
    const int fd = mkstemp(name_.data());
    const std::string content(kBytes, 'x');
    EXPECT_EQ(write(fd, content.data(), kBytes), static_cast<ssize_t>(kBytes));
    named_ = ahead_.Share(OpenFile::Take(fd, name_));
    memory_file_ = ahead_.Share(OpenFile::Take(open("/proc/self/mem", O_RDONLY | O_CLOEXEC)));
  }

  ~FileOutputTest() override {
    ahead_.Close();
    EXPECT_EQ(uv_loop_close(&loop_), 0);
    unlink(name_.c_str());
  }

  FilePart MemoryPart() const {
    return {memory_file_, reinterpret_cast<uintptr_t>(memory_.data()), memory_.size()};
  }

  uv_loop_t loop_;
  Posted posted_;
  files::ReadAhead ahead_;
  std::vector<char> memory_ = std::vector<char>(kBytes, 'm');
  std::string name_;
  std::shared_ptr<const OpenFile> named_;
  std::shared_ptr<const OpenFile> memory_file_;
  size_t ready_ = 0;
  FileOutput output_{&loop_, &ahead_, posted_.Post(), [this](Connection*) { ++ready_; }};
};

// The kernel has the bytes, and nobody has a descriptor to send them with: sending would fail with
// EAGAIN for ever.
TEST_F(FileOutputTest, WaitsForAFileThatIsGivenUpAgain) {
  Connection connection(-1, Addresses{});
  const FilePart part{named_, 0, kBytes};
  ASSERT_TRUE(named_->GiveUp());
  EXPECT_EQ(output_.Ready(&connection, part, 0, kBytes), 0);
  posted_.Run(1);
  EXPECT_EQ(ready_, 1u);
  if (named_->way() == files::ReadWay::kUnsure) GTEST_SKIP() << "the lane has a block";
  EXPECT_GT(output_.Ready(&connection, part, 0, kBytes), 0);
  ASSERT_TRUE(named_->GiveUp());
  ASSERT_EQ(output_.Ready(&connection, part, 0, kBytes), 0);
  EXPECT_TRUE(connection.is_held());
  posted_.Run(1);
  EXPECT_GT(output_.Ready(&connection, part, 0, kBytes), 0);
  EXPECT_TRUE(named_->has_descriptor());
}

TEST_F(FileOutputTest, TakesNothingForGrantedOfAFileThatIsForgotten) {
  Connection connection(-1, Addresses{});
  const FilePart part{named_, 0, kBytes};
  if (named_->way() == files::ReadWay::kUnsure) GTEST_SKIP() << "nothing is ever found in memory";
  EXPECT_GT(output_.Ready(&connection, part, 0, kFrameBytes), 0);
  output_.Forget(&connection);
  ASSERT_TRUE(named_->GiveUp());
  EXPECT_EQ(output_.Ready(&connection, part, 0, kFrameBytes), 0);
  output_.Forget(&connection);
}

// Clients may open thousands of streams, and windows of one byte.
TEST_F(FileOutputTest, ReadsAheadForAsManyStreamsAsItKeepsBlocks) {
  constexpr size_t kStreams = 300;
  std::vector<std::unique_ptr<Connection>> streams;
  for (size_t i = 0; i < kStreams; ++i) {
    streams.push_back(std::make_unique<Connection>(-1, Addresses{}));
    EXPECT_EQ(output_.Ready(streams.back().get(), MemoryPart(), MemoryPart().start, kFrameBytes),
              0);
  }
  posted_.Run(kStreams);
  size_t kept = 0;
  for (const auto& stream : streams) {
    EXPECT_EQ(output_.Ready(stream.get(), MemoryPart(), MemoryPart().start, kFrameBytes),
              static_cast<ssize_t>(kFrameBytes));
    kept += stream->file_block()->bytes;
  }
  EXPECT_LE(kept, limits::kFileBlocksKeptMax * limits::kFileWindowBytes + kStreams * kFrameBytes);
  for (const auto& stream : streams) output_.OnFull(stream.get());
  kept = 0;
  for (const auto& stream : streams) {
    if (stream->file_block() != nullptr) kept += stream->file_block()->bytes;
    output_.Forget(stream.get());
  }
  EXPECT_LE(kept, limits::kFileBlocksKeptMax * limits::kFileWindowBytes);
}

// A transport over a socket pair, on the thread of the test.
class FileBehindBytesTest : public FileOutputTest, public InputHandler {
 protected:
  FileBehindBytesTest() {
    transport_ = std::make_unique<Transport>(&loop_, &load_, &ahead_, posted_.Post());
    transport_->set_input_handler(this);
    server_.attachment = own_attachment_.get();
    server_.config = ServerConfig::Create({});
    std::array<int, 2> ends;
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    peer_ = ends[1];
    transport_->CountLoad();
    connection_ = transport_->Open(ends[0], &server_);
    transport_->Watch(connection_);
  }

  ~FileBehindBytesTest() override {
    ahead_.Close();
    transport_->Shutdown();
    uv_run(&loop_, UV_RUN_DEFAULT);
    close(peer_);
  }

  void OnReadable(Connection*) override {}
  void OnDisconnect(Connection*) override {}
  void OnTimeout(Connection*) override {}
  void OnTooSlow(Connection*) override {}
  void OnOutputEnding(Connection*) override {}
  void OnAnnounced(Connection*) override {}
  void OnDetached(Connection*) override {}

  // Reads until nothing more comes.
  size_t ReadAll() {
    std::vector<char> bytes(64 * 1024);
    size_t all = 0;
    for (int quiet = 0; quiet < 20;) {
      const ssize_t got = recv(peer_, bytes.data(), bytes.size(), 0);
      if (got > 0) all += static_cast<size_t>(got);
      quiet = got > 0 ? 0 : quiet + 1;
      uv_run(&loop_, UV_RUN_NOWAIT);
    }
    return all;
  }

  test::OwnAttachment own_attachment_;
  std::atomic<uint32_t> load_{0};
  LaneServer server_;
  std::unique_ptr<Transport> transport_;
  Connection* connection_ = nullptr;
  int peer_ = -1;
};

TEST_F(FileBehindBytesTest, BytesBeforeAFileDoNotWaitForIt) {
  std::mutex busy;
  busy.lock();
  ahead_.Run(
      files::ReadAhead::PlaceOf(*memory_file_), [&busy] { const std::lock_guard lock(busy); },
      nullptr);
  const std::string before(4'000'000, 'b');
  transport_->output()->Send(connection_, before, 0);
  transport_->output()->SendFile(connection_, OutputQueue::kNoBlock,
                                 std::make_shared<const FilePart>(MemoryPart()));
  std::vector<Connection*> touched;
  transport_->output()->FlushTouched(&touched);
  EXPECT_TRUE(connection_->is_held());
  EXPECT_EQ(ReadAll(), before.size());
  busy.unlock();
  posted_.Run(1);
  size_t bytes = ReadAll();
  while (bytes < kBytes) {
    posted_.Run(1);
    bytes += ReadAll();
  }
  EXPECT_EQ(bytes, kBytes);
}

}  // namespace
}  // namespace httpsys::engine
