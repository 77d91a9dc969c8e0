// An arena between processes: what the seals refuse, writers that are killed, and one that writes
// anything. Systems other than Linux have no memory to share.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "base/seeded_hash.h"
#include "cache/arena_reader.h"
#include "cache/arena_writer.h"

namespace httpsys::cache {
namespace {

#ifdef __linux__

constexpr uint64_t kSeed = 99;
// Small, so that reader and writer meet often.
constexpr ArenaShape kShape{64 * 1024, 1, 16};
constexpr int kKeys = 4;

std::string KeyOf(uint64_t number) { return "https:443/articles/" + std::to_string(number); }

// -- Seals.

TEST(SharedMemoryTest, ItsLengthAndContentsAreItsWritersAlone) {
  const std::shared_ptr<SharedMemory> memory = SharedMemory::Create(64 * 1024);
  ASSERT_NE(memory, nullptr);
  const int fd = memory->fd();
  ASSERT_GE(fd, 0);
  EXPECT_NE(ftruncate(fd, 4096), 0);
  EXPECT_NE(ftruncate(fd, 128 * 1024), 0);
  EXPECT_LT(pwrite(fd, "x", 1, 0), 0);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  void* const read_only = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
  ASSERT_NE(read_only, MAP_FAILED);
  EXPECT_NE(mprotect(read_only, 4096, PROT_READ | PROT_WRITE), 0);
  munmap(read_only, 4096);
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const int again = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (again >= 0) {
    EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0), MAP_FAILED);
    close(again);
  }
  const std::shared_ptr<const SharedMemory> mapped = SharedMemory::Map(fd, 64 * 1024);
  ASSERT_NE(mapped, nullptr);
  EXPECT_EQ(mapped->fd(), -1);
  memory->words()[7] = 5;
  EXPECT_EQ(mapped->words()[7], 5u);
}

// Makes a memfd with some seals. Closes it at the end.
class Memfd {
 public:
  Memfd(size_t bytes, int seals)
      : fd_(static_cast<int>(syscall(SYS_memfd_create, "test", MFD_CLOEXEC | MFD_ALLOW_SEALING))) {
    EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(bytes)), 0);
    EXPECT_EQ(fcntl(fd_, F_ADD_SEALS, seals), 0);
  }
  ~Memfd() { close(fd_); }
  Memfd(const Memfd&) = delete;
  Memfd& operator=(const Memfd&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

TEST(SharedMemoryTest, OnlySealedMemoryOfOrdinaryLengthIsMapped) {
  constexpr int kAll = F_SEAL_SHRINK | F_SEAL_GROW | 0x10 | F_SEAL_SEAL;
  EXPECT_NE(SharedMemory::Map(Memfd(4096, kAll).fd(), 4096), nullptr);
  for (const int missing : {F_SEAL_SHRINK, F_SEAL_GROW, 0x10, F_SEAL_SEAL}) {
    EXPECT_EQ(SharedMemory::Map(Memfd(4096, kAll & ~missing).fd(), 4096), nullptr) << missing;
  }
  EXPECT_EQ(SharedMemory::Map(Memfd(4097, kAll).fd(), 8192), nullptr);
  EXPECT_EQ(SharedMemory::Map(Memfd(0, kAll).fd(), 8192), nullptr);
  EXPECT_EQ(SharedMemory::Map(Memfd(8192, kAll).fd(), 8184), nullptr);
  EXPECT_EQ(SharedMemory::Map(-1, 8192), nullptr);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_EQ(SharedMemory::Map(null, 8192), nullptr);
  close(null);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(SharedMemory::Map(ends[0], 8192), nullptr);
  close(ends[0]);
  close(ends[1]);
}

// -- Processes.

bool SendDescriptors(int socket, const std::array<int, 2>& fds) {
  char byte = 0;
  iovec vector{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)] = {};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(header), fds.data(), sizeof fds);
  return sendmsg(socket, &message, 0) == 1;
}

bool ReceiveDescriptors(int socket, std::array<int, 2>* fds) {
  char byte;
  iovec vector{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof *fds)] = {};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || CMSG_FIRSTHDR(&message) == nullptr) {
    return false;
  }
  std::memcpy(fds->data(), CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof *fds);
  return true;
}

// A process that writes its own arena until it is killed, and a reader of that arena.
class OtherProcess {
 public:
  explicit OtherProcess(const std::function<void(ArenaWriter*)>& work) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const std::unique_ptr<ArenaWriter> writer = ArenaWriter::Create(kShape, kSeed);
      if (writer == nullptr || !writer->AddChunk(0)) _exit(2);
      writer->OpenSegment(0);
      if (!SendDescriptors(ends[1], {writer->index()->fd(), writer->chunk(0)->fd()})) _exit(3);
      char byte;
      if (read(ends[1], &byte, 1) != 1) _exit(4);
      while (true) work(writer.get());
    }
    close(ends[1]);
    std::array<int, 2> fds{-1, -1};
    EXPECT_TRUE(ReceiveDescriptors(ends[0], &fds));
    reader_ = ArenaReader::Open(SharedMemory::Map(fds[0], kIndexBytesMax));
    EXPECT_NE(reader_, nullptr);
    EXPECT_TRUE(reader_->SetChunk(0, 1, SharedMemory::Map(fds[1], kShape.chunk_bytes())));
    for (const int fd : fds) close(fd);
    // The process begins to work when its arena is open here.
    EXPECT_EQ(write(ends[0], "", 1), 1);
    close(ends[0]);
  }
  ~OtherProcess() { Kill(); }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  // Kills the process wherever it is. Its memory stays mapped.
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    EXPECT_EQ(waitpid(pid_, nullptr, 0), pid_);
    pid_ = 0;
  }
  const ArenaReader& reader() const { return *reader_; }

 private:
  pid_t pid_ = 0;
  std::unique_ptr<ArenaReader> reader_;
};

// The body begins with its hash, with the key as seed, so that each entry shows whether it is
// whole.
std::string BodyOf(std::string_view key, uint64_t number, size_t bytes) {
  std::string body(bytes, '\0');
  for (size_t at = 8; at < bytes; ++at) body[at] = static_cast<char>(number + at * 31);
  const uint64_t hash = HashText(std::string_view(body).substr(8), HashText(key, 1));
  std::memcpy(body.data(), &hash, sizeof hash);
  return body;
}
bool IsWhole(std::string_view key, std::string_view body) {
  uint64_t hash = 0;
  if (body.size() < sizeof hash) return false;
  std::memcpy(&hash, body.data(), sizeof hash);
  return hash == HashText(body.substr(8), HashText(key, 1));
}

// Stores entries for ever, in both segments by turns.
class Storing {
 public:
  void operator()(ArenaWriter* writer) {
    const std::string key = KeyOf(random_() % kKeys);
    const std::string body = BodyOf(key, random_(), 200 + random_() % 8000);
    EntryParts parts;
    parts.key = key;
    parts.body = body;
    const uint64_t hash = HashText(key, kSeed);
    std::optional<uint64_t> offset = writer->Append(segment_, hash, parts);
    if (!offset.has_value()) {
      segment_ ^= 1;
      writer->RetireSegment(segment_);
      writer->OpenSegment(segment_);
      offset = writer->Append(segment_, hash, parts);
    }
    const ArenaWriter::Place old = writer->FindSlot(hash);
    writer->SetSlot(old.slot.is_empty() ? writer->SlotAt(hash, 0).slot_at : old.slot_at,
                    Slot::Of(hash, *offset));
  }

 private:
  uint32_t segment_ = 0;
  std::minstd_rand random_{static_cast<unsigned>(getpid())};
};

struct Counts {
  uint64_t hits = 0;
  uint64_t torn = 0;
  uint64_t refused = 0;
};

void Look(const ArenaReader& reader, int times, Counts* counts) {
  CopyBuffer buffer;
  FoundEntry found;
  for (int i = 0; i < times; ++i) {
    const std::string key = KeyOf(static_cast<uint64_t>(i % kKeys));
    const FindResult result = reader.Find(key, HashText(key, kSeed), &buffer, &found);
    if (result == FindResult::kRefused) ++counts->refused;
    if (result != FindResult::kHit) continue;
    ++counts->hits;
    if (!IsWhole(key, found.body)) ++counts->torn;
  }
}

TEST(ArenaProcessesTest, KilledWritersLeaveNothingHalfWritten) {
  Counts living;
  Counts dead;
  for (int round = 0; round < 20; ++round) {
    OtherProcess other{Storing()};
    const uint64_t hits = living.hits;
    // At least some hundred hits, so that the writer is in the middle of its work.
    while (living.hits < hits + 300) Look(other.reader(), 100, &living);
    other.Kill();
    Look(other.reader(), 100, &dead);
  }
  EXPECT_EQ(living.torn, 0u);
  EXPECT_EQ(dead.torn, 0u);
  EXPECT_EQ(living.refused + dead.refused, 0u);
  EXPECT_GT(dead.hits, 100u);
}

TEST(ArenaProcessesTest, AWriterThatScribblesHarmsNoReader) {
  std::mt19937_64 random(1);
  OtherProcess other([&](ArenaWriter* writer) {
    auto* const index = const_cast<SharedWord*>(writer->index()->words());
    auto* const chunk = const_cast<SharedWord*>(writer->chunk(0)->words());
    for (int i = 0; i < 64; ++i) {
      // Heads and slots are the most interesting targets: small numbers, and what is nearly right.
      const uint64_t word = random() >> random() % 64;
      chunk[random() % (kShape.chunk_bytes() / 8)] = word;
      const uint64_t hash = HashText(KeyOf(random() % kKeys), kSeed);
      const ArenaWriter::Place place = writer->SlotAt(hash, random() % kWays);
      const uint64_t offset = random() % (kShape.bytes() / 16 + 2) * 16;
      writer->SetSlot(place.slot_at, Slot::Of(hash, offset));
      EntryHead entry;
      entry.hash = hash;
      entry.key_bytes = static_cast<uint32_t>(KeyOf(0).size());
      entry.head_bytes = static_cast<uint32_t>(random() >> random() % 64);
      entry.body_bytes = static_cast<uint32_t>(random() >> random() % 64);
      if (offset + sizeof entry <= kShape.chunk_bytes()) {
        StoreBytes(&entry, sizeof entry, chunk + offset / 8);
      }
      index[random() % (kShape.index_bytes() / 8)] = word;
    }
    for (uint32_t i = 0; i < kShape.segments(); ++i) {
      index[kShape.generations_at() + i] = random() % 4 == 0;
    }
    index[ArenaShape::kSerialsAt] = random() % 4 != 0;
  });
  Counts counts;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < end) Look(other.reader(), 1'000, &counts);
  EXPECT_GT(counts.refused, 0u);
}

#else

TEST(SharedMemoryTest, MemoryIsNotSharedOnThisSystem) {
  const std::shared_ptr<SharedMemory> memory = SharedMemory::Create(64);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(memory->fd(), -1);
  EXPECT_EQ(SharedMemory::Map(0, 64), nullptr);
}

#endif

}  // namespace
}  // namespace httpsys::cache
