#pragma once
// Tells the JavaScript thread that records wait, unless it is looking anyway.

#include <atomic>
#include <functional>
#include <utility>

namespace httpsys {

// No wake-up is lost: a producer publishes and then reads the flag, the consumer clears the flag
// and then looks once more, all sequentially consistent.
class ConsumerSignal {
 public:
  // `wake` must be callable on any thread.
  explicit ConsumerSignal(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Thread: any producer, after publishing.
  void Raise() {
    if (!is_draining()) wake_();
  }
  // Thread: any.
  bool is_draining() const { return is_draining_.load(std::memory_order_seq_cst); }

  // Thread: the consumer. Look for records once more after EndDrain().
  void BeginDrain() { is_draining_.store(true, std::memory_order_seq_cst); }
  void EndDrain() { is_draining_.store(false, std::memory_order_seq_cst); }

 private:
  std::function<void()> wake_;
  std::atomic<bool> is_draining_{false};
};

}  // namespace httpsys
