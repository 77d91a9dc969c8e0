#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace httpapi_double {

// What was done with the API, for reports. Thread: with the kernel's lock.
class Ledger {
 public:
  void Count(std::string_view function) { ++calls_[std::string(function)]; }
  // `json` is an object.
  void Note(std::string json);
  // JSON members, without braces.
  std::string Json() const;
  void Clear();

 private:
  std::map<std::string, uint64_t> calls_;
  std::vector<std::string> notes_;
};

}  // namespace httpapi_double
