#pragma once
// The encoding of values in frames between members of a shared port: fixed-size integers in
// little-endian order, texts with a 16-bit length. Received bytes are untrusted: a Reader never
// reads beyond their end, and remembers the attempt.

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace httpsys::peer {

// Longest text in a frame, in bytes: the description of a client's TLS with its certificates
// (kRelayCertificateBytesMax).
inline constexpr size_t kTextBytesMax = 40 * 1024;
// Most items of a list in a frame. Longer lists are sent as several frames, unless their items have
// a limit of their own, kItemsMax.
inline constexpr size_t kListItemsMax = 1024;
template <typename Item>
inline constexpr size_t kItemsMaxOf = kListItemsMax;
template <typename Item>
  requires requires { Item::kItemsMax; }
inline constexpr size_t kItemsMaxOf<Item> = Item::kItemsMax;

// Length of a digest of the rules by which clients are asked for certificates.
inline constexpr size_t kTermsBytes = 32;

class Writer {
 public:
  template <typename... Values>
  void operator()(const Values&... values) {
    (Put(values), ...);
  }
  // Does nothing: only a Reader checks conditions.
  void Require(bool) {}
  std::string Take() { return std::move(bytes_); }

 private:
  template <std::unsigned_integral Number>
  void Put(Number number) {
    for (size_t i = 0; i < sizeof number; ++i) {
      bytes_.push_back(static_cast<char>(static_cast<uint64_t>(number) >> (8 * i)));
    }
  }
  void Put(const std::string& text) {
    const size_t bytes = text.size() < kTextBytesMax ? text.size() : kTextBytesMax;
    Put(static_cast<uint16_t>(bytes));
    bytes_.append(text, 0, bytes);
  }
  template <typename Item>
  void Put(const std::vector<Item>& list) {
    Put(static_cast<uint16_t>(list.size()));
    for (const Item& item : list) Put(item);
  }
  template <typename Value>
  void Put(const std::optional<Value>& value) {
    Put(value.has_value());
    if (value.has_value()) Put(*value);
  }
  template <typename Message>
    requires requires(Message message, Writer writer) { message.Fields(writer); }
  void Put(const Message& message) {
    const_cast<Message&>(message).Fields(*this);
  }

  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename... Values>
  void operator()(Values&... values) {
    (Get(values), ...);
  }
  void Require(bool is_sound) { is_good_ = is_good_ && is_sound; }
  // True if all values were read and no bytes are left.
  bool is_exact() const { return is_good_ && bytes_.empty(); }
  bool is_good() const { return is_good_; }
  std::string_view rest() const { return bytes_; }
  // Takes raw bytes; none if there are not enough.
  std::string_view Take(size_t bytes) {
    const std::string_view taken = bytes_.substr(0, Has(bytes) ? bytes : 0);
    bytes_.remove_prefix(taken.size());
    return taken;
  }

 private:
  template <std::unsigned_integral Number>
  void Get(Number& number) {
    uint64_t value = 0;
    if (Has(sizeof number)) {
      for (size_t i = 0; i < sizeof number; ++i) {
        value |= uint64_t{static_cast<uint8_t>(bytes_[i])} << (8 * i);
      }
      bytes_.remove_prefix(sizeof number);
    }
    if constexpr (std::same_as<Number, bool>) Require(value <= 1);
    number = static_cast<Number>(value);
  }
  void Get(std::string& text) {
    uint16_t bytes = 0;
    Get(bytes);
    if (bytes > kTextBytesMax || !Has(bytes)) {
      is_good_ = false;
      return;
    }
    text.assign(bytes_.substr(0, bytes));
    bytes_.remove_prefix(bytes);
  }
  template <typename Item>
  void Get(std::vector<Item>& list) {
    uint16_t count = 0;
    Get(count);
    if (count > kItemsMaxOf<Item>) is_good_ = false;
    list.clear();
    for (uint16_t i = 0; i < count && is_good_; ++i) Get(list.emplace_back());
  }
  template <typename Value>
  void Get(std::optional<Value>& value) {
    bool is_there = false;
    Get(is_there);
    value.reset();
    if (is_there) Get(value.emplace());
  }
  template <typename Message>
    requires requires(Message message, Reader reader) { message.Fields(reader); }
  void Get(Message& message) {
    message.Fields(*this);
  }
  bool Has(size_t bytes) {
    if (bytes > bytes_.size()) is_good_ = false;
    return is_good_;
  }

  std::string_view bytes_;
  bool is_good_ = true;
};

template <typename Message>
std::string Encode(const Message& message) {
  Writer writer;
  writer(message);
  return writer.Take();
}

// Decodes a message. Returns false if the bytes are not exactly one such message.
template <typename Message>
[[nodiscard]] bool Decode(std::string_view bytes, Message* message) {
  Reader reader(bytes);
  reader(*message);
  return reader.is_exact();
}

}  // namespace httpsys::peer
