#pragma once
// Generated from schema/counters.js by npm run generate.
// clang-format off

#include <array>
#include <cstdint>

namespace httpsys {

// Events that a lane counts. An answer without JavaScript counts in exactly one of the first five,
// and also in kReset if only a reset was sent. Only tests read these counters so far.
enum class LaneCounter : uint8_t {
  kFiles,  // A folder of a server gave a file, or an error such as 404.
  kCached,  // The output cache answered, by an entry or by 504.
  kUnrouted,  // No prefix owns the request: 400, 404, 421.
  kUnavailable,  // The owner is away or does not keep up: 503.
  kRefused,  // The message is malformed, too large or too slow: 400, 408, 413, 431.
  kReset,  // The request ended with a reset instead of an answer.
  kSlowReaders,  // A connection ended because the client read more slowly than minSendRate.
  kTooManyConnections,  // A connection was closed at once, because its client has too many.
  kCount,
};

// Events that the output cache counts for each server.
enum class CacheCounter : uint8_t {
  kHits,  // Fresh entries that answered.
  kMisses,  // Requests for JavaScript that an entry could have answered.
  kStale,  // Stale entries that answered.
  kRevalidated,  // Entries that the application has called still good, by a 304.
  kCoalesced,  // Requests that waited for the answer to another one.
  kReleased,  // Requests that had waited and then went to JavaScript.
  kStored,  // Responses that were stored.
  kInvalidated,  // Entries that a request of an unsafe method has made obsolete.
  kCompressed,  // Compressed variants that answered: a part of `hits` and `stale`.
  kChangedWhileRead,  // Entries that went away while they were read.
  kCount,
};
inline constexpr std::array kCacheCounterNames{
    "hits", "misses", "stale", "revalidated", "coalesced", "released", "stored", "invalidated",
    "compressed", "changedWhileRead"};

// Counters of a URL prefix of a server. `Number` is atomic where lanes count.
template <typename Number>
struct PrefixCounters {
  static constexpr std::array kNames{"requests"};
  Number requests{0};  // Requests given to JavaScript since the registration of the prefix.
  PrefixCounters<uint64_t> Read() const { return {requests}; }
  template <typename Archive> void Fields(Archive& archive) { archive(requests); }
};

// Counters of the request queue of a server. `Number` is atomic where lanes count.
template <typename Number>
struct QueueCounters {
  static constexpr std::array kNames{"queued", "queueLimit", "refused"};
  Number queued{0};  // Requests that wait for JavaScript now.
  Number queue_limit{0};  // How many may wait.
  // Requests answered with 503 because the queue was full or `queueTimeout` was over.
  Number refused{0};
  QueueCounters<uint64_t> Read() const { return {queued, queue_limit, refused}; }
  template <typename Archive> void Fields(Archive& archive) { archive(queued, queue_limit, refused); }
};

// Counters of a member of a port. `Number` is atomic where lanes count.
template <typename Number>
struct MemberCounters {
  static constexpr std::array kNames{"connections", "handedOver", "received", "cacheAnswers"};
  Number connections{0};  // Connections that are open and known to JavaScript.
  Number handed_over{0};  // Connections given to other members.
  Number received{0};  // Connections got from other members.
  // Answers given from the output caches of other members, whose servers do not count them.
  Number cache_answers{0};
  MemberCounters<uint64_t> Read() const { return {connections, handed_over, received, cache_answers}; }
  template <typename Archive> void Fields(Archive& archive) { archive(connections, handed_over, received, cache_answers); }
};

}  // namespace httpsys
