#pragma once
// Identifies the disk or server for which work on files may wait.

#include <compare>
#include <cstdint>

namespace httpsys::files {

// Identifies the system calls that may wait for the same disk or server. Thread: any.
struct WaitPlace {
  enum class Use : uint8_t {
    kBytes,  // Reading bytes.
    // Opening, closing and looking up names. Takes microseconds, so it does not queue behind reads.
    kNames,
    // Names on file systems that are mounted below a folder of the device. All of them share a
    // place, because they are unknown until they have answered.
    kNamesBeyond,
  };

  uint64_t device = 0;  // FileFacts::device; 0 = not known yet (one place for all).
  Use use = Use::kBytes;

  auto operator<=>(const WaitPlace&) const = default;
};

}  // namespace httpsys::files
