#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "win/kernel_queue.h"
#include "win/operation.h"

namespace httpsys::win {

// Takes the requests of one queue, with several calls for them outstanding. Thread: the lane.
class Receiver {
 public:
  // A request; its memory is used again when this returns. False: no more before Start().
  using OnRequest = std::function<bool(const Receiver& receiver, const HTTP_REQUEST& request)>;

  // `server_id`: whose requests these are; 0 = what their context says.
  Receiver(std::shared_ptr<KernelQueue> queue, uint32_t server_id, OnRequest on_request);
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  const std::shared_ptr<KernelQueue>& queue() const { return queue_; }
  uint32_t server_id() const { return server_id_; }

  // Has all calls outstanding, unless the kernel gives no requests or nobody wants more.
  void Start();
  // No further requests; those that are being received still come. It must stay until IsQuiet().
  void Stop();
  bool is_stopped() const { return is_stopped_; }
  bool IsQuiet() const { return outstanding_ == 0; }
  bool is_refused() const { return is_refused_; }

  // Of an operation whose kind is kReceive.
  static Receiver* Of(Operation* operation);
  void OnCompletion(Operation* operation, const CallResult& result);

 private:
  struct Call : Operation {
    explicit Call(Receiver* receiver) : Operation(OperationKind::kReceive), receiver(receiver) {}
    HTTP_REQUEST* memory() { return reinterpret_cast<HTTP_REQUEST*>(buffer.data()); }
    Receiver* const receiver;
    std::vector<uint64_t> buffer;  // Words, for alignment.
    HTTP_REQUEST_ID id = 0;        // Of one that did not fit.
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
  bool is_refused_ = false;  // The last call for a request failed: not at once again.
};

}  // namespace httpsys::win
