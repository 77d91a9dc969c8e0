#pragma once
// What the binding talks to: an HTTP stack that turns connections into request records and reply
// records into bytes. The engine implements it with I/O threads of its own (Linux, macOS), HTTP.SYS
// will with completion threads (Windows).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/block_store.h"
#include "common/consumer_signal.h"
#include "common/request_queue.h"

namespace httpsys {

// Settings of one listening server; types/binding.d.ts says what each means.
struct ServerSettings {
  size_t header_bytes_max = 16 * 1024;
  uint64_t body_bytes_max = 0;  // 0 = no limit.
  uint32_t pipelined_requests_max = 16;
  // The peer's end of its direction does not end the connection.
  bool allow_half_open = false;
  bool wants_errors = false;
  bool no_delay = true;
  bool keep_alive = false;
  uint32_t keep_alive_delay_s = 0;
  std::vector<std::string> prefixes;  // Canonical, by id, unused ids empty; none = everything.
};

enum class DrainGoal : uint8_t {
  kHandled,  // Done, though not all bytes may have been sent: what was to be closed is closed.
  kSent,
};

struct LaneMemory {
  int32_t* control = nullptr;  // records::kControlWords words.
  std::vector<std::span<uint8_t>> segments;
};

struct BackendOptions {
  std::vector<LaneMemory> lanes;  // All memory must stay until Close() has returned.
  std::vector<std::string> methods;
  std::function<void()> wake_consumer;  // Thread: any.
};

// Thread: the JavaScript thread that made it, for every method.
// Statuses are 0 or a negative errno. Lane numbers are below lane_count().
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  virtual size_t lane_count() const = 0;
  // The request records of a lane. The reader calls WakeLane() when Consume() says so.
  virtual RequestQueue& requests(size_t lane) = 0;
  virtual ConsumerSignal& signal() = 0;

  // Reply memory. It must stay until Close() has returned.
  virtual uint32_t AddReplySegment(size_t lane, std::span<const uint8_t> memory) = 0;
  // Blocks sent by reference.
  virtual LentMemory& lent(size_t lane) = 0;
  // Unconditionally, as against Wake(), which looks whether the lane sleeps.
  virtual void WakeLane(size_t lane) = 0;
  virtual void Wake(size_t lane) = 0;

  // Creates or changes a server. -EINVAL when a prefix is not canonical.
  virtual int Configure(uint32_t server_id, ServerSettings settings) = 0;
  // Listens on a duplicate of a bound descriptor. A key above 0, or a negative errno.
  virtual int Listen(uint32_t server_id, int fd, int backlog) = 0;
  // When it returns the duplicate is closed; the server stays.
  virtual void StopListening(int key) = 0;
  // The same for all of a server, which is forgotten when its last connection ends.
  virtual void Unlisten(uint32_t server_id) = 0;
  // Serves a duplicate of a connected descriptor.
  virtual int Adopt(uint32_t server_id, int fd) = 0;
  virtual void CheckConnections(uint32_t server_id, uint64_t headers_timeout_ms,
                                uint64_t request_timeout_ms) = 0;

  // Blocks until everything published is that far, or for that long. True when it is.
  virtual bool Drain(uint64_t timeout_ms, DrainGoal goal) = 0;
  // Ends the threads and closes every connection. Idempotent.
  virtual void Close() = 0;
};

}  // namespace httpsys
