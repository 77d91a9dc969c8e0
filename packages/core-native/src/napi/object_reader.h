#pragma once
// Reads the structs of backend.h from JavaScript's objects, which types/binding.d.ts describes.

#include <napi.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "backend/backend.h"

namespace httpsys {

// The types of ids whose objects JavaScript has as externals.
template <typename T>
concept HandleId =
    std::same_as<T, TlsContextId> || std::same_as<T, TlsHostId> || std::same_as<T, TicketKeysId>;

// Returns the id in an external; kNone for any other value.
template <HandleId Id>
Id HandleOf(Napi::Value value) {
  return value.IsExternal() ? *value.As<Napi::External<Id>>().Data() : Id::kNone;
}

// Each ReadValue() returns false for a value of another type. JavaScript has checked the ranges.

inline bool ReadValue(Napi::Value from, bool* to) {
  if (!from.IsBoolean()) return false;
  *to = from.As<Napi::Boolean>();
  return true;
}

// Reads a number. Infinity, and every number that is too large, becomes the largest number (for 64
// bits, the largest up to which doubles are exact).
template <std::unsigned_integral Number>
bool ReadValue(Napi::Value from, Number* to) {
  if (!from.IsNumber()) return false;
  constexpr auto kMost = static_cast<double>(
      std::min<uint64_t>(std::numeric_limits<Number>::max(), uint64_t{1} << 53));
  const double number = from.As<Napi::Number>().DoubleValue();
  *to = number >= kMost ? static_cast<Number>(kMost) : number > 0 ? static_cast<Number>(number) : 0;
  return true;
}

template <typename Enum>
  requires std::is_enum_v<Enum>
bool ReadValue(Napi::Value from, Enum* to) {
  if constexpr (HandleId<Enum>) {
    *to = HandleOf<Enum>(from);
    return true;
  } else {
    std::underlying_type_t<Enum> number{};
    if (!ReadValue(from, &number)) return false;
    *to = static_cast<Enum>(number);
    return true;
  }
}

// Reads a text, or bytes.
inline bool ReadValue(Napi::Value from, std::string* to) {
  if (from.IsString()) {
    *to = from.As<Napi::String>();
    return true;
  }
  if (!from.IsTypedArray()) return false;
  const Napi::Uint8Array bytes = from.As<Napi::Uint8Array>();
  to->assign(reinterpret_cast<const char*>(bytes.Data()), bytes.ByteLength());
  return true;
}

// Reads an IP address from its text; empty = none.
inline bool ReadValue(Napi::Value from, LocalAddress* to) {
  std::string text;
  if (!ReadValue(from, &text)) return false;
  to->is_ip = ParseIpAddress(text, &to->ip);
  return text.empty() || to->is_ip;
}

template <typename Item>
bool ReadValue(Napi::Value from, std::vector<Item>* to);

// Reads all members of a struct, each from the property of its name. Returns false if one is
// missing.
template <typename Struct>
  requires requires { Struct::kFieldNames; }
bool ReadValue(Napi::Value from, Struct* to) {
  if (!from.IsObject()) return false;
  const Napi::Object object = from.As<Napi::Object>();
  std::string_view names = Struct::kFieldNames;
  // Converts the name of a member: max_frame_size in C++ is maxFrameSize in JavaScript.
  const auto next_name = [&names] {
    std::string name;
    bool is_upper = false;
    while (!names.empty() && names.front() != ',') {
      const char letter = names.front();
      if (letter != '_' && letter != ' ') {
        name += is_upper && letter >= 'a' ? static_cast<char>(letter - 'a' + 'A') : letter;
      }
      is_upper = letter == '_';
      names.remove_prefix(1);
    }
    if (!names.empty()) names.remove_prefix(1);
    return name;
  };
  bool is_read = true;
  const auto read = [&](auto&... members) {
    is_read = (ReadValue(object.Get(next_name()), &members) && ...);
  };
  to->Fields(read);
  return is_read;
}

template <typename Item>
bool ReadValue(Napi::Value from, std::vector<Item>* to) {
  if (!from.IsArray()) return false;
  const Napi::Array list = from.As<Napi::Array>();
  for (uint32_t i = 0; i < list.Length(); ++i) {
    if (!ReadValue(list.Get(i), &to->emplace_back())) return false;
  }
  return true;
}

}  // namespace httpsys
