#pragma once
// Returns unneeded memory of the process to the system, or makes malloc() keep some of it.

#include <cstddef>
#include <cstdint>
#include <span>

namespace httpsys {

// Thread: any.

// Returns the whole pages within `memory` to the system. Their content is lost; they stay readable.
void ReleasePages(std::span<const uint8_t> memory);

// -- Implemented for each system.

// Size of a page in bytes; 0 = the system does not take back pages.
size_t PageBytes();
// Like ReleasePages(), for memory that begins and ends at page boundaries.
void ReleaseWholePages(std::span<const uint8_t> pages);
// Makes malloc() return freed memory to the system, if it has a function for that.
void TrimHeap();
// Makes malloc() keep up to twice `bytes`, at most 32 MiB, at the end of its heap after they are
// freed; for blocks of `bytes` that come and go. By default glibc keeps only 128 KiB, and requests
// the rest again, page by page.
void KeepFreed(size_t bytes);

}  // namespace httpsys
