#pragma once
// An index of registrations by properties that they have in common.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sharing/state_entry.h"

namespace httpsys::sharing {

// Answers what is asked for each change of a port, which may have many thousands of registrations,
// without a look at each of them. Points to entries of PortEntries.
class EntryIndex {
 public:
  using ByOrder = std::map<uint64_t, const StateEntry*>;
  using ServerId = std::pair<uint64_t, uint32_t>;  // Member and server.

  // Entries of the same shape are in the way of the same registrations, but for those of their own
  // server and those with the same key.
  struct Shape {
    bool is_absent = false;
    bool is_https = false;
    bool is_bound = false;         // To the address `ip`.
    uint8_t flags = 0;             // peer::EntryFlags without kEntryOffline.
    std::array<uint8_t, 16> ip{};  // Last: shapes that differ in it alone are neighbours.

    auto operator<=>(const Shape&) const = default;
    // The last one that differs from this one in its address alone.
    Shape LastOfKind() const {
      Shape last = *this;
      last.ip.fill(0xff);
      return last;
    }
  };
  using Servers = std::map<ServerId, ByOrder>;
  using Shapes = std::map<Shape, Servers>;

  // The entries of one server, in one queue, that a ClientHello cannot tell apart.
  using Sharers = std::map<std::tuple<uint64_t, uint32_t, std::string>, ByOrder>;
  using ByTerms = std::map<std::string, Sharers>;

  void Add(const StateEntry& entry);
  // Must be called before the entry changes, with Add() behind the change.
  void Remove(const StateEntry& entry);
  void Clear() { *this = EntryIndex(); }

  const Shapes& shapes() const { return shapes_; }
  // The servers that have a prefix, absent ones not counted, in the order in which they got their
  // first one.
  std::vector<ServerId> ServersInOrder() const;
  size_t server_count() const { return servers_.size(); }
  // True if an entry has its server, and has this queue.
  bool HasQueue(const std::string& queue) const { return queues_.contains(queue); }
  // True if there are entries with TLS, or without; absent ones count, too.
  bool HasScheme(bool is_https) const;
  // Entries that are not absent, by the digest of their terms; nullptr = none.
  const ByTerms* FindHello(const std::string& hello_key) const;
  bool has_absent() const { return !expiries_.empty(); }
  // When the next absent entry is over.
  std::optional<uint64_t> NextExpiry() const;
  // The absent entries whose time is over, in the order in which they came.
  std::vector<const StateEntry*> DueAt(uint64_t now_ms) const;
  // Rises whenever a server or a shape comes or goes, or a server gets or loses its part in one.
  uint64_t structure() const { return structure_; }

 private:
  struct Server {
    size_t entries = 0;
    uint64_t since = 0;  // The order of the entry that was its first one.
  };

  static Shape ShapeOf(const StateEntry& entry);

  Shapes shapes_;
  std::map<ServerId, Server> servers_;
  std::map<std::string, size_t> queues_;
  std::map<std::string, ByTerms> hellos_;
  std::map<std::pair<uint64_t, uint64_t>, const StateEntry*> expiries_;  // By time and order.
  uint64_t structure_ = 0;
};

}  // namespace httpsys::sharing
