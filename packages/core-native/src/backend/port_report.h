#pragma once
// The state of a shared port, which its members report to a program that asks (docs/cli.md). A
// report comes from other processes: Fields() checks what the types of its fields do not bound.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/counters.h"

namespace httpsys {

// Longest texts of a report, which other processes send and a terminal shows. Prefixes and URLs of
// cached entries have at most 8 KiB and a host.
inline constexpr size_t kReportedUrlBytesMax = 16 * 1024;
inline constexpr size_t kReportedNameBytesMax = 1024;

// A prefix of a server of a member. The counters of its queue count for all prefixes of the server.
struct RegistrationReport {
  static constexpr std::array kNames{"prefix", "queue"};
  static constexpr size_t kItemsMax = 0xffff;

  std::string prefix;
  std::string queue;  // Empty = a queue of its own, without a name.
  PrefixCounters<uint64_t> prefix_counters;
  QueueCounters<uint64_t> queue_counters;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(prefix, queue, prefix_counters, queue_counters);
    archive.Require(prefix.size() <= kReportedUrlBytesMax && queue.size() <= kReportedNameBytesMax);
  }
};

// A question to the output caches of a port.
struct CacheQuestion {
  enum Wants : uint8_t { kNothing, kEntries, kFlush, kFlushBelow };

  uint8_t wants = kNothing;
  uint32_t limit = 0;  // With kEntries: the most entries that each member sends.
  // The URL to list or forget; kEntries also lists all URLs below it. Empty = all URLs.
  std::string url;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(wants, limit, url);
  }
};

// The answer of output caches to a CacheQuestion.
struct CacheReport {
  static constexpr std::array kNames{"flushed", "entries"};

  uint64_t flushed = 0;  // The number of entries that were removed.
  std::vector<CacheEntry> entries;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(flushed, entries);
    for (const CacheEntry& entry : entries) {
      archive.Require(entry.status <= 999 && entry.policy <= 2);
    }
  }
};

// A member of the port: one JavaScript environment.
struct MemberReport {
  static constexpr std::array kNames{"pid",           "id",   "thread", "program", "protocol",
                                     "registrations", "cache"};

  uint32_t pid = 0;
  std::string id;
  uint32_t thread = 0;  // 0 = the main thread.
  std::string program;
  uint16_t protocol = 0;
  std::vector<RegistrationReport> registrations;
  MemberCounters<uint64_t> counters;
  std::optional<CacheReport> cache;  // None: nothing was asked about caches, or there is none.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(pid, id, thread, program, protocol, registrations, counters, cache);
    archive.Require(pid != 0 && pid <= 0x7fffffff && id.size() <= kReportedNameBytesMax &&
                    program.size() <= kReportedNameBytesMax);
  }
};

struct PortReport {
  static constexpr std::array kNames{"port", "protocol", "coordinator", "members", "sockets"};

  uint16_t port = 0;
  uint16_t protocol = 0;
  uint32_t coordinator = 0;  // The coordinator's process.
  std::vector<MemberReport> members;
  std::vector<std::string> sockets;  // Listening addresses.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(port, protocol, coordinator, members, sockets);
    archive.Require(coordinator != 0 && coordinator <= 0x7fffffff);
    for (const std::string& socket : sockets) {
      archive.Require(socket.size() <= kReportedNameBytesMax);
    }
  }
};

}  // namespace httpsys
