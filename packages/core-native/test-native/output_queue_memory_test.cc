// Tests of the memory that an OutputQueue keeps when pieces have left. The program counts all
// memory that `new` gives out.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "engine/connection/output_queue.h"

namespace {

constexpr size_t kHeaderBytes = alignof(std::max_align_t);

size_t live_bytes = 0;

}  // namespace

void* operator new(size_t bytes) {
  auto* memory = static_cast<char*>(std::malloc(kHeaderBytes + bytes));
  if (memory == nullptr) std::abort();
  *reinterpret_cast<size_t*>(memory) = bytes;
  live_bytes += bytes;
  return memory + kHeaderBytes;
}

void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  char* begin = static_cast<char*>(memory) - kHeaderBytes;
  live_bytes -= *reinterpret_cast<size_t*>(begin);
  std::free(begin);
}

void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

namespace httpsys::engine {
namespace {

TEST(OutputQueueMemoryTest, AHeadThatHasLeftKeepsNoMemoryWhileItsBodyWaits) {
  const std::string head(300, 'h');
  const std::string body(1000, 'b');
  std::vector<uint32_t> done;
  done.reserve(4);
  OutputQueue queue;
  queue.Append(head);
  queue.AppendBlock(7, body);
  const size_t before = live_bytes;
  queue.Remove(head.size(), &done);
  EXPECT_LE(live_bytes + head.size(), before);
  queue.Remove(1, &done);
  EXPECT_LE(live_bytes + head.size(), before);
  EXPECT_EQ(queue.bytes(), body.size() - 1);
}

}  // namespace
}  // namespace httpsys::engine
