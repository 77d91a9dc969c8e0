#pragma once
// Reply records, read: what each type of record says.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "records/records.h"
#include "records/words.h"

namespace httpsys {

struct ResponseReply {
  std::string_view all;  // Head and body.
  size_t head_bytes;
  uint32_t idle_timeout_ms;

  std::string_view head() const { return all.substr(0, head_bytes); }
  std::string_view body() const { return all.substr(head_bytes); }
};

// Of kData and kTrailers.
struct BytesReply {
  std::string_view bytes;
  uint32_t idle_timeout_ms;
};

struct SocketOptionReply {
  static constexpr uint32_t kNoDelay = 1;
  static constexpr uint32_t kKeepAlive = 2;

  uint32_t option;
  bool is_on;
  uint32_t delay_s;
};

// The kind and time of a cache policy, as JavaScript has checked them.
struct CachePolicyReply {
  uint32_t kind;
  uint32_t seconds;
};

struct WebSocketReply {
  uint32_t flags;
  uint32_t bytes_max;
  uint32_t fragments_max;
  uint32_t chunks_max;
  uint32_t pongs_max;
  uint32_t threshold;
  uint32_t bits;
  uint32_t memory_level;
  std::string_view head;  // What was read behind the request.
};

// A payload and the connections that it goes to.
struct BroadcastReply {
  std::string_view payload;  // Of kBroadcast.
  uint32_t block_id;         // Of kBroadcastBlock.
  const uint8_t* slots_at;
  size_t slots;

  uint32_t slot(size_t index) const { return LoadWord(slots_at, index); }
};

// One reply. Lengths within it are checked: a record that claims more than it has is a mistake of
// our own JavaScript and ends the process. Valid as long as its memory.
class ReplyRecord {
 public:
  explicit ReplyRecord(const uint8_t* words)
      : words_(words),
        slot_(LoadWord(words, 2)),
        flags_(LoadWord(words, 1) >> 8),
        type_(static_cast<records::ReplyType>(LoadWord(words, 1) & 0xff)) {}

  records::ReplyType type() const { return type_; }
  uint32_t flags() const { return flags_; }
  bool has(uint32_t flag) const { return (flags_ & flag) != 0; }
  uint32_t slot() const { return slot_; }

  ResponseReply response() const {
    const size_t head_bytes = LoadWord(words_, 4);
    return {Bytes(records::kResponseFixedBytes, head_bytes + LoadWord(words_, 5)), head_bytes,
            LoadWord(words_, 7)};
  }
  BytesReply bytes() const {
    return {Bytes(records::kPayloadAt, LoadWord(words_, 4)), LoadWord(words_, 5)};
  }
  // Of kFrame.
  std::string_view payload() const { return Bytes(records::kPayloadAt, LoadWord(words_, 4)); }
  // Of kBlock, kFrameBlock and kBroadcastBlock.
  uint32_t block_id() const { return LoadWord(words_, 4); }
  // Of kWindow.
  uint32_t window_bytes() const { return LoadWord(words_, 4); }
  // Of kEnd and kIdleTimeout.
  uint32_t idle_timeout_ms() const { return LoadWord(words_, 4); }
  SocketOptionReply socket_option() const {
    return {LoadWord(words_, 4), LoadWord(words_, 5) != 0, LoadWord(words_, 6)};
  }
  CachePolicyReply cache_policy() const { return {LoadWord(words_, 4), LoadWord(words_, 5)}; }
  WebSocketReply websocket() const {
    return {LoadWord(words_, 4),
            LoadWord(words_, 5),
            LoadWord(words_, 6),
            LoadWord(words_, 7),
            LoadWord(words_, 8),
            LoadWord(words_, 9),
            LoadWord(words_, 10),
            LoadWord(words_, 11),
            Bytes(records::kWebSocketFixedBytes, LoadWord(words_, 12))};
  }
  BroadcastReply broadcast() const {
    const size_t slots = LoadWord(words_, 5);
    if (type_ == records::ReplyType::kBroadcastBlock) {
      return {{}, block_id(), SlotsAt(records::kPayloadAt, slots), slots};
    }
    const size_t bytes = LoadWord(words_, 4);
    const size_t slots_at = (records::kPayloadAt + bytes + 3) & ~size_t{3};
    return {Bytes(records::kPayloadAt, bytes), 0, SlotsAt(slots_at, slots), slots};
  }

 private:
  std::string_view Bytes(size_t at, size_t bytes) const {
    const size_t all = LoadWord(words_, 0);
    HTTPSYS_CHECK(at <= all && bytes <= all - at);
    return {reinterpret_cast<const char*>(words_) + at, bytes};
  }
  const uint8_t* SlotsAt(size_t at, size_t slots) const {
    return reinterpret_cast<const uint8_t*>(Bytes(at, slots * sizeof(uint32_t)).data());
  }

  const uint8_t* words_;
  uint32_t slot_;
  uint32_t flags_;
  records::ReplyType type_;
};

}  // namespace httpsys
