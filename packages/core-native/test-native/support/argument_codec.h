#pragma once
// Encodes arguments of a backend as a message to another process would: bytes, and descriptors
// beside them.

#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "backend/backend.h"

namespace httpsys::test {

// What a Fields() function is called with.
struct AnyVisitor {
  template <typename... Values>
  void operator()(Values&...) {}
};

template <typename T>
concept HasFields = requires(T value, AnyVisitor visitor) { value.Fields(visitor); };

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

class Encoder {
 public:
  template <typename... Values>
  void operator()(const Values&... values) {
    (Put(values), ...);
  }

  std::string bytes;
  std::vector<int> descriptors;

 private:
  template <typename T>
  void Put(const T& value) {
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else if constexpr (std::same_as<T, Descriptor>) {
      Put(static_cast<uint32_t>(descriptors.size()));
      descriptors.push_back(value.number);
    } else if constexpr (std::same_as<T, std::string>) {
      Put(static_cast<uint32_t>(value.size()));
      bytes.append(value);
    } else if constexpr (IsVector<T>::value) {
      Put(static_cast<uint32_t>(value.size()));
      for (const auto& item : value) Put(item);
    } else if constexpr (std::same_as<T, LocalAddress>) {
      bytes.append(reinterpret_cast<const char*>(value.ip.data()), value.ip.size());
      Put(value.is_ip);
    } else {
      static_assert(HasFields<T>, "no value that could be sent");
      const_cast<T&>(value).Fields(*this);
    }
  }
};

class Decoder {
 public:
  explicit Decoder(const Encoder& from) : bytes_(from.bytes), descriptors_(from.descriptors) {}

  template <typename... Values>
  void operator()(Values&... values) {
    (Get(values), ...);
  }
  bool is_at_end() const { return at_ == bytes_.size(); }

 private:
  template <typename T>
  void Get(T& value) {
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      std::memcpy(&value, Take(sizeof value), sizeof value);
    } else if constexpr (std::same_as<T, Descriptor>) {
      value = Descriptor(descriptors_.at(Number()));
    } else if constexpr (std::same_as<T, std::string>) {
      const uint32_t size = Number();
      value.assign(Take(size), size);
    } else if constexpr (IsVector<T>::value) {
      value.resize(Number());
      for (auto& item : value) Get(item);
    } else if constexpr (std::same_as<T, LocalAddress>) {
      std::memcpy(value.ip.data(), Take(value.ip.size()), value.ip.size());
      Get(value.is_ip);
    } else {
      value.Fields(*this);
    }
  }
  uint32_t Number() {
    uint32_t number = 0;
    Get(number);
    return number;
  }
  const char* Take(size_t size) {
    const char* taken = &bytes_.at(at_);
    at_ += size;
    return taken;
  }

  const std::string bytes_ = {};
  const std::vector<int> descriptors_ = {};
  size_t at_ = 0;
};

}  // namespace httpsys::test
