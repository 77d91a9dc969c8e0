#pragma once
// What a thread waits for when it works on files.

#include <compare>
#include <cstdint>

namespace httpsys::files {

// Calls of the system that may wait for the same disk or server. Thread: any.
struct WaitPlace {
  enum class Use : uint8_t {
    kBytes,  // Reading.
    // Opening, closing and looking what names mean. Most of that takes microseconds, so that it
    // does not wait behind reads.
    kNames,
    // Names on file systems that are mounted below a folder of the device. Which ones is not known
    // before they have answered.
    kNamesBeyond,
  };

  uint64_t device = 0;  // FileFacts::device. 0 = not known yet: all of these are one place.
  Use use = Use::kBytes;

  auto operator<=>(const WaitPlace&) const = default;
};

}  // namespace httpsys::files
