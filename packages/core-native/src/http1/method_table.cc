#include "http1/method_table.h"

#include <cstring>
#include <utility>

namespace httpsys::http1 {

MethodTable::MethodTable(std::vector<std::string> methods) : methods_(std::move(methods)) {
  for (size_t i = 0; i < methods_.size(); i++) {
    const size_t length = methods_[i].size();
    if (by_length_.size() <= length) by_length_.resize(length + 1);
    by_length_[length].push_back(static_cast<uint16_t>(i));
  }
  connect_ = Find("CONNECT");
}

int MethodTable::Find(std::string_view method) const {
  if (method.empty() || method.size() >= by_length_.size()) return -1;
  for (const uint16_t index : by_length_[method.size()]) {
    if (std::memcmp(methods_[index].data(), method.data(), method.size()) == 0) return index;
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
