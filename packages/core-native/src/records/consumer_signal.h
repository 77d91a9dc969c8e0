#pragma once
// Wakes the JavaScript thread for new records, unless it is already reading records.

#include <atomic>
#include <functional>
#include <utility>

namespace httpsys {

// No wake-up is lost: the producer publishes records and then reads the flag; the consumer clears
// the flag and then looks for records once more. All accesses are sequentially consistent.
class ConsumerSignal {
 public:
  // `wake` must be callable on any thread.
  explicit ConsumerSignal(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Must be called after records were published. Thread: any.
  void Raise() {
    if (!is_draining()) wake_();
  }
  // True while the consumer reads records. Thread: any.
  bool is_draining() const { return is_draining_.load(std::memory_order_seq_cst); }

  // Mark the beginning and the end of reading records. After EndDrain() the consumer must look for
  // records once more. Thread: the consumer.
  void BeginDrain() { is_draining_.store(true, std::memory_order_seq_cst); }
  void EndDrain() { is_draining_.store(false, std::memory_order_seq_cst); }

 private:
  std::function<void()> wake_;
  std::atomic<bool> is_draining_{false};
};

}  // namespace httpsys
