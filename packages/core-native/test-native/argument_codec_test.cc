// The arguments of a backend are values: each can be encoded and decoded, and no field is left out.

#include "support/argument_codec.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/tls_contexts.h"

namespace httpsys::test {
namespace {

// -- The methods.

template <typename T>
constexpr bool IsValue() {
  if constexpr (IsVector<T>::value) {
    return IsValue<typename T::value_type>();
  } else {
    return std::is_void_v<T> || std::is_integral_v<T> || std::is_enum_v<T> ||
           std::is_same_v<T, std::string> || std::is_same_v<T, Descriptor> || HasFields<T>;
  }
}

// A pointer is to a result.
template <typename T>
constexpr bool IsArgument() {
  using Plain = std::remove_cvref_t<T>;
  if constexpr (std::is_pointer_v<Plain>) {
    return HasFields<std::remove_pointer_t<Plain>>;
  } else {
    return IsValue<Plain>();
  }
}

template <typename Class, typename Result, typename... Arguments>
constexpr bool TakesValues(Result (Class::*)(Arguments...)) {
  return IsValue<Result>() && (IsArgument<Arguments>() && ...);
}

template <typename Class, typename Result, typename... Arguments>
constexpr bool TakesValues(Result (Class::*)(Arguments...) const) {
  return IsValue<Result>() && (IsArgument<Arguments>() && ...);
}

static_assert(!IsArgument<std::shared_ptr<int>>() && !IsArgument<std::function<void()>>() &&
              !IsArgument<const char*>() && !IsArgument<int*>());

// All but those for the memory that both ends share: requests, signal, AddReplySegment, lent; and
// files, which names another interface.
static_assert(TakesValues(&Backend::lane_count));
static_assert(TakesValues(&Backend::WakeLane));
static_assert(TakesValues(&Backend::Wake));
static_assert(TakesValues(&Backend::Configure));
static_assert(TakesValues(&Backend::SendFile));
static_assert(TakesValues(&Backend::Unlisten));
static_assert(TakesValues(&Backend::CheckConnections));
static_assert(TakesValues(&Backend::Drain));
static_assert(TakesValues(&Backend::Close));
static_assert(TakesValues(&SocketBackend::Listen));
static_assert(TakesValues(&SocketBackend::StopListening));
static_assert(TakesValues(&SocketBackend::Adopt));
static_assert(TakesValues(&SocketBackend::Introduce));
static_assert(TakesValues(&SocketBackend::Meet));
static_assert(TakesValues(&SocketBackend::TakeAlone));
static_assert(TakesValues(&SocketBackend::Contribute));
static_assert(TakesValues(&SocketBackend::Withdraw));
static_assert(TakesValues(&SocketBackend::Sockets));
static_assert(TakesValues(&SocketBackend::ListenBeside));
static_assert(TakesValues(&SocketBackend::Register));
static_assert(TakesValues(&SocketBackend::TakeResult));
static_assert(TakesValues(&SocketBackend::ChangeTerms));
static_assert(TakesValues(&SocketBackend::Unregister));
static_assert(TakesValues(&SocketBackend::Reserve));
static_assert(TakesValues(&SocketBackend::Leave));
static_assert(TakesValues(&SocketBackend::RefuseAbandoned));
static_assert(TakesValues(&SocketBackend::TakeClaim));
static_assert(TakesValues(&SocketBackend::AnswerHello));
static_assert(TakesValues(&SocketBackend::AskTls));
static_assert(TakesValues(&FileBackend::Find));
static_assert(TakesValues(&FileBackend::Keep));
static_assert(TakesValues(&FileBackend::Pin));
static_assert(TakesValues(&FileBackend::ReadNow));
static_assert(TakesValues(&FileBackend::Release));
static_assert(TakesValues(&CacheBackend::SetBytes));
static_assert(TakesValues(&CacheBackend::Flush));
static_assert(TakesValues(&CacheBackend::Entries));
static_assert(TakesValues(&CacheBackend::Statistics));
static_assert(TakesValues(&UrlBackend::OpenQueue));
static_assert(TakesValues(&UrlBackend::AddUrl));
static_assert(TakesValues(&UrlBackend::RemoveUrl));
static_assert(TakesValues(&UrlBackend::FlushCache));

// -- The structs.

struct AnyValue {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

template <size_t>
using AnyValueOf = AnyValue;

template <typename T, size_t... kIndexes>
constexpr bool TakesInitializers(std::index_sequence<kIndexes...>) {
  return requires { T{AnyValueOf<kIndexes>()...}; };
}

// The number of an aggregate's members.
template <typename T, size_t kCount = 40>
constexpr size_t MembersOf() {
  if constexpr (kCount == 0 || TakesInitializers<T>(std::make_index_sequence<kCount>())) {
    return kCount;
  } else {
    return MembersOf<T, kCount - 1>();
  }
}

struct Counter {
  template <typename... Values>
  void operator()(Values&...) {
    count += sizeof...(Values);
  }

  size_t count = 0;
};

// Gives each field a value that no other field has.
class Filler {
 public:
  template <typename... Values>
  void operator()(Values&... values) {
    (Fill(values), ...);
  }

 private:
  template <typename T>
  void Fill(T& value) {
    ++next_;
    if constexpr (std::is_same_v<T, bool>) {
      value = !value;
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      value = static_cast<T>(next_);
    } else if constexpr (std::is_same_v<T, Descriptor>) {
      value = Descriptor(static_cast<int>(next_));
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = "text " + std::to_string(next_);
    } else if constexpr (IsVector<T>::value) {
      value.resize(2);
      for (auto& item : value) Fill(item);
    } else if constexpr (std::is_same_v<T, LocalAddress>) {
      value.ip.fill(static_cast<uint8_t>(next_));
      value.is_ip = true;
    } else {
      value.Fields(*this);
    }
  }

  uint32_t next_ = 0;
};

template <typename T>
class ArgumentCodecTest : public testing::Test {};

using Arguments =
    testing::Types<Http2Settings, KernelSettings, SpokenPlace, ServerSettings, RegistrationFlags,
                   Registration, NumberedPrefix, ServerPrefixes, StaticMount, CacheSettings,
                   CacheEntry, CacheFigure, CacheStatistics, RegistrationResult, PortSockets,
                   KeptFile, Stranger, HelloReply, UrlResult, TlsSettings, TlsSettings::Host,
                   tls::ContextOptions>;
TYPED_TEST_SUITE(ArgumentCodecTest, Arguments);

TYPED_TEST(ArgumentCodecTest, ListsAllItsFields) {
  Counter counter;
  TypeParam{}.Fields(counter);
  EXPECT_EQ(counter.count, MembersOf<TypeParam>());
}

TYPED_TEST(ArgumentCodecTest, IsTheSameWhenItHasBeenEncodedAndDecoded) {
  TypeParam before;
  Filler filler;
  before.Fields(filler);
  Encoder encoder;
  before.Fields(encoder);
  TypeParam after;
  Decoder decoder(encoder);
  after.Fields(decoder);
  EXPECT_TRUE(decoder.is_at_end());
  Encoder again;
  after.Fields(again);
  EXPECT_EQ(again.bytes, encoder.bytes);
  EXPECT_EQ(again.descriptors, encoder.descriptors);
  Encoder plain;
  TypeParam{}.Fields(plain);
  EXPECT_NE(plain.bytes, encoder.bytes);
}

}  // namespace
}  // namespace httpsys::test
