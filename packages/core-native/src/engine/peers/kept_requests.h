#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"

namespace httpsys::engine {

// The bytes of the relayed requests of one connection that have no answer yet, so that another
// member can get them if this one returns them. Long requests are not kept: they are rare at that
// moment.
class KeptRequests {
 public:
  // A request begins: its bytes follow.
  void Begin() { begins_.push_back(bytes_.size()); }
  // Adds bytes of the request that began last, unless it is answered already.
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
  // The first one has its answer.
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
  // Returns their bytes, as far as they are known from the first one on, and forgets them.
  std::string Take() { return missing_ == 0 ? std::exchange(bytes_, {}) : std::string(); }

 private:
  std::string bytes_;
  std::vector<size_t> begins_;  // Positions in bytes_ at which kept requests begin.
  size_t missing_ = 0;          // The number of requests before these that are not kept.
};

}  // namespace httpsys::engine
