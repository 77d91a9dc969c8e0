#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "win/kernel_queue.h"
#include "win/operation.h"

namespace httpsys::win {

// Receives the requests of one queue, with several outstanding calls. Thread: the lane.
class Receiver {
 public:
  // Handles a request, whose memory is then reused. Returns false to stop receiving until Start().
  using OnRequest = std::function<bool(const Receiver& receiver, const HTTP_REQUEST& request)>;

  // `server_id` is the server of all requests; 0 = each request's context names its server.
  Receiver(std::shared_ptr<KernelQueue> queue, uint32_t server_id, OnRequest on_request);
  Receiver& operator=(Receiver&&) = delete;

  const std::shared_ptr<KernelQueue>& queue() const { return queue_; }
  uint32_t server_id() const { return server_id_; }

  // Starts all calls that are not outstanding, until the kernel or OnRequest refuses.
  void Start();
  // Stops receiving requests; requests of outstanding calls may still arrive. The object must stay
  // alive until IsQuiet() is true.
  void Stop();
  bool is_stopped() const { return is_stopped_; }
  bool IsQuiet() const { return outstanding_ == 0; }
  bool is_refused() const { return is_refused_; }

  // Returns the receiver of an operation whose kind is kReceive.
  static Receiver* Of(Operation* operation);
  void OnCompletion(Operation* operation, const CallResult& result);

 private:
  struct Call : Operation {
    explicit Call(Receiver* receiver) : Operation(OperationKind::kReceive), receiver(receiver) {}
    HTTP_REQUEST* memory() { return reinterpret_cast<HTTP_REQUEST*>(buffer.data()); }
    Receiver* const receiver;
    std::vector<uint64_t> buffer;  // Words, for alignment.
    HTTP_REQUEST_ID id = 0;        // The id of a request that did not fit; 0 = none.
    bool is_outstanding = false;
  };

  bool Receive(Call* call);
  bool OnReceived(Call* call, const CallResult& result);

  const std::shared_ptr<KernelQueue> queue_;
  const uint32_t server_id_;
  const OnRequest on_request_;
  std::vector<std::unique_ptr<Call>> calls_;
  size_t outstanding_ = 0;
  bool is_stopped_ = false;
  bool is_full_ = false;
  bool is_refused_ = false;  // The last call failed and must not be repeated at once.
};

}  // namespace httpsys::win
