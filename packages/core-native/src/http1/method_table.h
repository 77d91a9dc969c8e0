#pragma once
// The methods that a server accepts: http.METHODS of the running Node, in its order.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace httpsys::http1 {

// Immutable after construction. Thread: any.
class MethodTable {
 public:
  explicit MethodTable(std::vector<std::string> methods);

  // Returns the index of a method, or -1. Methods are case-sensitive (RFC 9110, section 9.1).
  int Find(std::string_view method) const;
  // Returns true if any method begins with these bytes: wrong methods are refused early.
  bool IsPrefix(std::string_view bytes) const;
  std::string_view Name(uint16_t index) const { return methods_[index]; }
  int connect() const { return connect_; }
  int get() const { return get_; }
  size_t longest_bytes() const { return by_length_.empty() ? 0 : by_length_.size() - 1; }

 private:
  struct Named {
    // The bytes of the method as a number, for a comparison with other methods of the same length.
    uint64_t number;
    uint16_t index;
  };

  std::vector<std::string> methods_;
  std::vector<std::vector<Named>> by_length_;
  int connect_ = -1;
  int get_ = -1;
};

}  // namespace httpsys::http1
