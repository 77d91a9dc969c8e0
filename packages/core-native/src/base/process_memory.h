#pragma once
// Memory that a process does not need: some of it stays with malloc(), the rest goes back to the
// system.

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
// Makes malloc() keep up to twice `bytes`, at most 32 MiB, that are free at the end of its heap:
// for pieces that come and go by so many bytes. Without it, glibc gives all but 128 KiB back and
// asks for them again, page by page.
void KeepFreed(size_t bytes);

}  // namespace httpsys
