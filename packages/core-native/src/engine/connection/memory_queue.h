#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "url/url_prefix_table.h"

namespace httpsys::engine {

struct Connection;

// The connections and streams that are not read because JavaScript is behind (kPauseMemory), from
// the oldest to the newest. There are two kinds:
// - A connection whose next bytes only JavaScript can take waits for a free request segment.
// - A parked request waits until JavaScript has begun so many others that it may have this one
//   (Attachment::IsFull()). Its head stays with its connection and is parsed again.
// RecordPublisher resumes them in their order. Thread: the lane.
class MemoryQueue {
 public:
  // What is known of a parked request.
  struct Parked {
    std::atomic<uint64_t>* counter = nullptr;  // Of its server's unbegun requests.
    uint64_t now_ms = 0;
    uint32_t timeout_ms = 0;  // How long JavaScript may take to begin it; 0 = without limit.
    uint32_t target_id = 0;   // The id of the target in the port's routes.
    bool has_others = false;  // Another member owns the target, too.
  };
  // A request that was parked and is handled again just now.
  struct Resumed {
    const Connection* connection = nullptr;
    uint64_t since_ms = 0;
    // Why it is refused if nobody but JavaScript answers it; kMatch = it is not.
    RouteStatus refusal = RouteStatus::kMatch;
  };

  MemoryQueue() = default;
  MemoryQueue(const MemoryQueue&) = delete;
  MemoryQueue& operator=(const MemoryQueue&) = delete;

  bool empty() const { return waiting_.empty(); }
  size_t size() const { return waiting_.size(); }
  // True if the oldest one is a parked request. The queue must not be empty.
  bool is_next_parked() const { return waiting_.front().parked.counter != nullptr; }
  // Adds a connection of the first kind behind the others. A connection that waits already keeps
  // its place.
  void Add(Connection* connection);
  // Adds a parked request behind the others, or back to its place if it is the resumed one.
  void Park(Connection* connection, const Parked& parked);
  // Takes the oldest one out; nullptr = none waits. If it is a parked request, that is the resumed
  // one from here on, until EndResume().
  Connection* Next() { return empty() ? nullptr : Take(waiting_.begin(), RouteStatus::kMatch); }
  // The same for a parked request whose time is over; nullptr = there is none.
  Connection* NextOverdue(uint64_t now_ms);
  // The same for the oldest of the parked requests that `accepts` chooses. It is refused for the
  // reason `refusal`, or kMatch.
  template <typename Accepts>
  Connection* NextParked(RouteStatus refusal, Accepts accepts) {
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
      if (at->parked.counter != nullptr && accepts(*at->connection, at->parked))
        return Take(at, refusal);
    }
    return nullptr;
  }
  // True if one of the parked requests has_others.
  bool has_movable() const { return movable_ != 0; }
  // Returns the resumed request if it is one of this connection; nullptr = it is not.
  const Resumed* ResumedOf(const Connection* connection) const {
    return resumed_.connection == connection ? &resumed_ : nullptr;
  }
  void EndResume() { resumed_ = {}; }
  // Takes a connection out that ends or gets another server. It need not be here.
  void Remove(Connection* connection);

 private:
  struct Waiting {
    Connection* connection = nullptr;
    uint64_t since_ms = 0;  // Of a parked request.
    Parked parked;          // `counter` nullptr = the connection is of the first kind.

    uint64_t deadline_ms() const {
      return parked.timeout_ms == 0 ? UINT64_MAX : since_ms + parked.timeout_ms;
    }
  };

  using Place = std::list<Waiting>::iterator;

  void Insert(Place before, const Waiting& waiting);
  Connection* Take(Place at, RouteStatus refusal);
  void Leave(Place at);

  std::list<Waiting> waiting_;
  // All clients may leave while JavaScript is busy, so a place is found without a search.
  std::unordered_map<const Connection*, Place> places_;
  Resumed resumed_;
  size_t movable_ = 0;                      // Parked requests that another member could get.
  uint64_t next_deadline_ms_ = UINT64_MAX;  // The earliest deadline, or a time before it.
};

}  // namespace httpsys::engine
