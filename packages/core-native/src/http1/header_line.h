#pragma once

#include <string_view>

namespace httpsys::http1 {

// A line of a head or trailer section. The function that returns it says how long it is valid.
struct HeaderLine {
  std::string_view name;
  std::string_view value;  // Without the white space around it.
};

}  // namespace httpsys::http1
