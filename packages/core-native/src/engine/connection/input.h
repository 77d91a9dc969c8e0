#pragma once
// Reads the connections of a lane and gives what comes to the protocol that each is in.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/protocol.h"
#include "engine/connection/transport.h"
#include "records/record_writer.h"
#include "records/request_queue.h"

namespace httpsys::engine {

// Hears when what was read of a connection has been handled.
class ReadObserver {
 public:
  virtual void OnRead(Connection* connection) = 0;

 protected:
  ~ReadObserver() = default;
};

// Owns the read buffer of its lane. Bytes that a protocol cannot handle yet stay with their
// connection. Thread: the lane.
class Input {
 public:
  Input(const RequestQueue* queue, Transport* transport, const Protocols* protocols,
        ReadObserver* observer);
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // Reads what is there, within limits, and delivers it.
  void OnReadable(Connection* connection);
  // The client has ended its direction while only kPausePipeline keeps the connection from being
  // read: requests behind the last one that was delivered are lost with their client.
  void OnDisconnect(Connection* connection);
  // Bytes that were read elsewhere: by another process, or as frames of HTTP/2.
  void Receive(Connection* connection, std::string_view bytes);
  // Goes on with bytes that were kept back; nothing when a reason to pause is left.
  void Resume(Connection* connection, PauseReason reason);
  // JavaScript has consumed so much of what it was given.
  void OnWindow(Connection* connection, uint32_t bytes);
  // True when a connection was paused for want of memory since the last call.
  bool TakeStalled() { return std::exchange(is_stalled_, false); }

 private:
  bool ReadOnce(Connection* connection);
  void OnReadFailed(Connection* connection, int error);
  void PauseForMemory(Connection* connection);
  void HandleKept(Connection* connection);
  size_t Handle(Connection* connection, std::string_view input);

  const RequestQueue* queue_;
  Transport* transport_;
  const Protocols* protocols_;
  ReadObserver* observer_;
  bool is_stalled_ = false;
  std::vector<char> buffer_;
};

}  // namespace httpsys::engine
