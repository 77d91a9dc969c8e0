#pragma once
// Reads the sockets of a lane and hands the bytes to the protocol of each connection.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/protocol.h"
#include "engine/connection/transport.h"

namespace httpsys::engine {

// Observer that is called whenever the bytes of one read have been handled.
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
  Input(Transport* transport, const Protocols* protocols, ReadObserver* observer);
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // Reads what the socket has, at most limits::kReadsPerEvent times, and delivers it.
  void OnReadable(Connection* connection);
  // Called when the client ended its direction while only kPausePipeline keeps the connection from
  // being read. Treats it as the end of the input if the socket holds no further request.
  void OnDisconnect(Connection* connection);
  // Delivers bytes that were read elsewhere: by another process, or from the frames of HTTP/2.
  void Receive(Connection* connection, std::string_view bytes);
  // Removes a reason to pause. If none is left, delivers the bytes that were kept back and reads
  // again.
  void Resume(Connection* connection, PauseReason reason);
  // Called when JavaScript has consumed `bytes` of body or tunnel: gives them back to the window.
  void OnWindow(Connection* connection, uint32_t bytes);

 private:
  bool ReadOnce(Connection* connection);
  void OnReadFailed(Connection* connection, int error);
  static void PauseForMemory(Connection* connection);
  void HandleKept(Connection* connection);
  size_t Handle(Connection* connection, std::string_view input);

  Transport* transport_;
  const Protocols* protocols_;
  ReadObserver* observer_;
  std::vector<char> buffer_;
};

}  // namespace httpsys::engine
