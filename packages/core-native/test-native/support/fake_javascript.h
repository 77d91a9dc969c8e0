#pragma once
// JavaScript's end of an engine, played by the test: reads request records, writes reply records.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/limits.h"
#include "records/records.h"

namespace httpsys::test {

using records::ErrorKind;
using records::ReplyType;
using records::RequestType;

struct Event {
  RequestType type = RequestType::kPad;
  size_t lane = 0;
  uint32_t flags = 0;
  uint32_t slot = 0;
  uint32_t number = 0;  // Word 4: errno, bytes, error kind, block id.
  std::string method;
  std::string target;
  std::vector<std::pair<std::string, std::string>> lines;  // Or trailers.
  std::string body;                                        // Or raw bytes, a message.
  uint32_t prefix_id = 0;
  int minor = 0;
};

// Thread: the test's; only wake-ups come from elsewhere.
class FakeJavaScript {
 public:
  struct Options {
    size_t lanes = 1;
    size_t segments = 4;
    size_t segment_bytes = 64 * 1024;
    uint64_t queue_bytes_max = limits::kQueueBytesMax;
  };

  FakeJavaScript();
  explicit FakeJavaScript(Options options);
  ~FakeJavaScript();

  SocketBackend& backend() { return *backend_; }
  // Configures server 1 and gives it one end of a new socket pair; returns the other end.
  int Connect(ServerSettings settings = {});
  // The same with no change to the settings.
  int ConnectAgain();

  // The next record, waiting for up to `timeout_ms`; kIntern is applied, blocks are taken.
  std::optional<Event> Next(int timeout_ms = 5000);
  // The next record, which must be of this type.
  Event Expect(RequestType type);
  // Nothing comes for a while.
  bool IsQuiet(int ms = 50) { return !Next(ms).has_value(); }

  // The result of a registration that others have a say in. Records that come meanwhile stay.
  RegistrationResult ExpectResult();

  // Lends a block to receive into.
  void LendBlock(uint32_t id);

  // -- Replies. Published at once; the lane is woken unless told otherwise.

  void Command(ReplyType type, uint32_t slot, uint32_t flags = 0, uint32_t a = 0, uint32_t b = 0,
               uint32_t c = 0);
  void Respond(uint32_t slot, uint32_t flags, std::string_view head, std::string_view body,
               uint32_t idle_ms = 0);
  void Data(ReplyType type, uint32_t slot, uint32_t flags, std::string_view bytes,
            uint32_t idle_ms = 0);
  // Any record: words from the fifth on, and from the next multiple of 8 bytes.
  void Record(ReplyType type, uint32_t slot, uint32_t flags, const std::vector<uint32_t>& fields,
              std::string_view bytes);
  // A whole answer with Content-Length.
  void Answer(uint32_t slot, std::string_view body, uint32_t flags = 0, uint32_t idle_ms = 0);
  void set_lane(size_t lane) { lane_ = lane; }
  void set_wakes(bool wakes) { wakes_ = wakes; }

 private:
  std::map<uint32_t, std::vector<char>> loans_;

  struct Lane {
    std::vector<uint64_t> control;
    std::vector<std::vector<uint64_t>> segments;
    std::vector<std::unique_ptr<std::vector<uint64_t>>> replies;
    size_t reply_segment = 0;
    size_t reply_offset = 0;
    uint32_t published = 0;
    std::map<uint32_t, std::pair<std::string, std::string>> interned;
  };

  bool ReadRegions();
  void Decode(size_t lane, const uint8_t* record);
  size_t ReadLines(Lane& lane, const uint8_t* words, size_t count, const char* text, Event* event);
  uint8_t* Reserve(size_t bytes);
  void Publish(size_t bytes);
  int32_t* Control(size_t lane) { return reinterpret_cast<int32_t*>(lanes_[lane].control.data()); }

  std::vector<Lane> lanes_;
  std::unique_ptr<SocketBackend> backend_;
  std::deque<Event> events_;
  size_t lane_ = 0;
  bool wakes_ = true;

  std::mutex mutex_;
  std::condition_variable woken_;
  bool is_woken_ = false;
};

// The client's end of a connection.
class Peer {
 public:
  explicit Peer(int fd) : fd_(fd) {}
  Peer(Peer&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Peer& operator=(Peer&&) = delete;
  ~Peer() { Close(); }

  int fd() const { return fd_; }
  void Send(std::string_view bytes) const;
  // Sends what the kernel takes at once; returns how much.
  size_t TrySend(std::string_view bytes) const;
  void Finish() const;  // FIN.
  void Close();
  // Exactly that many bytes, or fewer when the connection ends or 5 s pass.
  std::string Read(size_t bytes) const;
  // Everything until the connection ends; "[timeout]" is appended when it does not within 5 s.
  std::string ReadAll() const;
  bool IsQuiet(int ms = 50) const;

 private:
  int fd_;
};

}  // namespace httpsys::test
