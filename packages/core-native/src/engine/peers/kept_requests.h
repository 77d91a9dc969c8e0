#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"

namespace httpsys::engine {

// The bytes of the relayed requests of one connection that have no answer yet, so that they can go
// to another member if the first one returns them. Long requests are not kept: few requests without
// an answer are long.
class KeptRequests {
 public:
  // Must be called when a request begins; Append() adds its bytes.
  void Begin() { begins_.push_back(bytes_.size()); }
  // Adds bytes of the last request, unless it is answered already.
  void Append(std::string_view bytes) {
    if (begins_.empty()) return;
    if (bytes_.size() + bytes.size() <= limits::kRelayKeptBytesMax) {
      bytes_.append(bytes);
      return;
    }
    missing_ += begins_.size();
    begins_.clear();
    bytes_ = {};
  }
  // Must be called when the first request has its answer.
  void OnAnswered() {
    if (missing_ != 0) {
      --missing_;
    } else if (begins_.size() > 1) {
      const size_t answered = begins_[1];
      begins_.erase(begins_.begin());
      for (size_t& begin : begins_) begin -= answered;
      bytes_.erase(0, answered);
    } else {
      begins_.clear();
      bytes_ = {};
    }
  }
  // True if every request that has no answer is kept.
  bool has_all() const { return missing_ == 0; }
  // Returns and forgets the bytes of all unanswered requests; empty if the first is not kept.
  std::string Take() { return missing_ == 0 ? std::exchange(bytes_, {}) : std::string(); }

 private:
  std::string bytes_;
  std::vector<size_t> begins_;  // Where kept requests begin in bytes_.
  size_t missing_ = 0;          // The number of earlier requests that are not kept.
};

}  // namespace httpsys::engine
