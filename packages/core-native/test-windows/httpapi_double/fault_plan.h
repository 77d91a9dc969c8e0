#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace httpapi_double {

// Which calls of the API fail, by plan. Thread: with the kernel's lock.
class FaultPlan {
 public:
  struct Fault {
    uint32_t code = 0;  // 0 = none.
    // The call says ERROR_IO_PENDING, and its completion the code.
    bool is_late = false;
  };

  // `Function:first:code[:count][:late]`, several with commas: the first-th
  // call from now on fails, and those behind it, count (1) in all. "" ends all
  // plans. False when it cannot be read.
  bool Set(std::string_view text);
  // To be asked once for each call.
  Fault Take(std::string_view function);
  // Faults that are planned and have not happened.
  size_t left() const;

 private:
  struct Plan {
    std::string function;
    uint32_t first = 1;
    uint32_t count = 1;
    Fault fault;
    uint32_t calls = 0;
  };

  std::vector<Plan> plans_;
};

}  // namespace httpapi_double
