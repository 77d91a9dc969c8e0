#include "http1/method_table.h"

#include <utility>

#include "base/seeded_hash.h"

namespace httpsys::http1 {

MethodTable::MethodTable(std::vector<std::string> methods) : methods_(std::move(methods)) {
  for (size_t i = 0; i < methods_.size(); i++) {
    const size_t length = methods_[i].size();
    if (by_length_.size() <= length) by_length_.resize(length + 1);
    by_length_[length].push_back({seeded_hash::LoadUpTo8(methods_[i]), static_cast<uint16_t>(i)});
  }
  connect_ = Find("CONNECT");
  get_ = Find("GET");
}

int MethodTable::Find(std::string_view method) const {
  if (method.empty() || method.size() >= by_length_.size()) return -1;
  const uint64_t number = seeded_hash::LoadUpTo8(method);
  for (const Named& named : by_length_[method.size()]) {
    const bool is_exact = method.size() <= 8 || methods_[named.index] == method;
    if (named.number == number && is_exact) return named.index;
  }
  return -1;
}

bool MethodTable::IsPrefix(std::string_view bytes) const {
  for (const std::string& method : methods_) {
    if (std::string_view(method).starts_with(bytes)) return true;
  }
  return false;
}

}  // namespace httpsys::http1
