#pragma once
// Makes JavaScript objects of structs whose kNames has a name for each value of their Fields().

#include <napi.h>

#include <concepts>
#include <cstddef>
#include <string>

#include "base/check.h"

namespace httpsys {

template <typename Struct>
Napi::Object ObjectOf(Napi::Env env, Struct& value);

// A visitor of Fields() that sets them as properties of an object. A struct among the fields has no
// name: its own fields are set on the same object.
class ObjectVisitor {
 public:
  template <typename Struct>
  static void SetFields(Napi::Object object, Struct& value) {
    ObjectVisitor visitor(object, Struct::kNames.data());
    value.Fields(visitor);
    HTTPSYS_CHECK(visitor.name_ == Struct::kNames.data() + Struct::kNames.size());
  }

  template <typename... Values>
  void operator()(Values&... values) {
    (Set(values), ...);
  }
  void Require(bool) {}  // The struct was checked when it was read.

 private:
  ObjectVisitor(Napi::Object object, const char* const* name) : object_(object), name_(name) {}

  template <typename Value>
  void Set(Value& value) {
    if constexpr (requires { Value::kNames; }) {
      SetFields(object_, value);
    } else {
      const char* const name = *name_++;
      const Napi::Value set = ValueOf(value);
      if (!set.IsEmpty()) object_.Set(name, set);
    }
  }
  // Converts the value of a field. Returns an empty value for an optional field that is not set.
  template <typename Value>
  Napi::Value ValueOf(Value& value) {
    const Napi::Env env = object_.Env();
    if constexpr (std::same_as<Value, bool>) {
      return Napi::Boolean::New(env, value);
    } else if constexpr (std::integral<Value>) {
      return Napi::Number::New(env, static_cast<double>(value));
    } else if constexpr (std::same_as<Value, std::string>) {
      return Napi::String::New(env, value);
    } else if constexpr (requires { value.has_value(); }) {
      return value.has_value() ? ValueOf(*value) : Napi::Value();
    } else if constexpr (requires { value.push_back(value[0]); }) {
      const Napi::Array list = Napi::Array::New(env, value.size());
      uint32_t count = 0;
      for (auto& item : value) list.Set(count++, ValueOf(item));
      return list;
    } else {
      return ObjectOf(env, value);
    }
  }

  Napi::Object object_;
  const char* const* name_;
};

template <typename Struct>
Napi::Object ObjectOf(Napi::Env env, Struct& value) {
  Napi::Object object = Napi::Object::New(env);
  ObjectVisitor::SetFields(object, value);
  return object;
}

}  // namespace httpsys
