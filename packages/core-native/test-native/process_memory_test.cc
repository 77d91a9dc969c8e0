#include "base/process_memory.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace httpsys {
namespace {

#ifdef __GLIBC__
constexpr size_t kMiB = 1024 * 1024;

// A sanitizer's malloc() counts nothing here.
TEST(KeepFreedTest, LargePiecesBecomeAPartOfTheHeap) {
  KeepFreed(8 * kMiB);
  const size_t mapped = mallinfo2().hblks;
  void* volatile piece = std::malloc(6 * kMiB);
  EXPECT_EQ(mallinfo2().hblks, mapped);
  std::free(piece);
}
#endif

}  // namespace
}  // namespace httpsys
