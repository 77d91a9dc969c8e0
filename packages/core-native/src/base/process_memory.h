#pragma once
// Gives memory back to the system.

#include <cstddef>
#include <cstdint>
#include <span>

namespace httpsys {

// Thread: any.

// Gives the whole pages of memory whose bytes are not needed any more to the system. Reading them
// afterwards is allowed.
void ReleasePages(std::span<const uint8_t> memory);

// -- What each system does by itself.

// The bytes of a page; 0 = pages cannot be given back.
size_t PageBytes();
// Like ReleasePages(), for memory that begins and ends with a page.
void ReleaseWholePages(std::span<const uint8_t> pages);
// Gives the system what malloc() keeps of freed memory, where malloc() can be told to.
void TrimHeap();

}  // namespace httpsys
