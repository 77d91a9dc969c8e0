#pragma once

#include <deque>
#include <string>
#include <vector>

#include "body_decoder.h"
#include "model.h"
#include "url_prefix.h"

namespace httpapi_double {

// A TCP connection: one request after the other, and their responses. Thread:
// with the kernel's lock.
class Connection {
 public:
  // What follows a piece of output.
  enum class Next : uint8_t { kMore, kNextRequest, kEnd };

  Connection(uint64_t id, SOCKET socket, uint16_t port, bool is_secure, bool is_control);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  uint64_t id() const { return id_; }
  SOCKET socket() const { return socket_; }
  bool is_secure() const { return is_secure_; }
  const sockaddr_storage& local() const { return local_; }
  const sockaddr_storage& remote() const { return remote_; }
  // "https://host:port/path?query" of its request.
  std::string FullUrl() const;

  bool wants_to_read() const;
  bool wants_to_write() const { return !output_.empty(); }
  void OnReadable();
  void OnWritable();

  // -- For calls of the API.

  // `call` (or nullptr) ends when the bytes are on their way.
  void Send(std::string bytes, CallRef call, Next next);
  void SendContinue();
  // There is room for more of the request's body, or it became opaque.
  void OnBodyRead();
  // All bytes from now on, in both directions, are the application's.
  void BecomeOpaque();
  void AddDisconnectCall(CallRef call) { disconnect_calls_.push_back(std::move(call)); }
  // Those of one handle, as cancelled.
  void EndDisconnectCalls(const QueueHandle& handle);
  // Cuts it.
  void Reset();

 private:
  enum class State : uint8_t { kHead, kBody, kOpaque, kLingering, kGone };
  struct Output {
    std::string bytes;
    size_t sent;
    CallRef call;
    Next next;
  };

  void Process();
  bool ReadHead();
  void StartRequest();
  void ReadBody();
  void Control(const std::string& target);
  bool ServeFromCache();
  // The kernel's own response, behind which the connection ends.
  void Refuse(int status, const std::string& reason);
  void Flush();
  void OnSent(Next next);
  void FinishRequest();
  void OnEnd();
  void Linger();
  void Leave();
  Arrival Describe() const;

  const uint64_t id_;
  const SOCKET socket_;
  const uint16_t port_;
  const bool is_secure_;
  const bool is_control_;
  sockaddr_storage local_{};
  sockaddr_storage remote_{};

  State state_ = State::kHead;
  std::string input_;
  std::deque<Output> output_;
  bool is_input_ended_ = false;
  bool is_output_ended_ = false;
  bool is_processing_ = false;
  BodyDecoder decoder_;
  RequestRef request_;
  std::vector<CallRef> disconnect_calls_;
};

}  // namespace httpapi_double
