#pragma once
// The contents of reply records, one struct per layout.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "records/records.h"
#include "records/words.h"

namespace httpsys {

struct ResponseReply {
  std::string_view head;
  std::string_view body;  // The body, directly behind the head in the same memory.
  uint32_t idle_timeout_ms;

  std::string_view all() const { return {head.data(), head.size() + body.size()}; }
};

// The contents of kData and kTrailers replies.
struct BytesReply {
  std::string_view bytes;
  uint32_t idle_timeout_ms;
};

// The contents of kBlock and kFrameBlock replies.
struct BlockReply {
  uint32_t id;
};

// The contents of kEnd and kIdleTimeout replies.
struct TimeoutReply {
  uint32_t ms;
};

struct WindowReply {
  uint32_t bytes;
};

struct SocketOptionReply {
  static constexpr uint32_t kNoDelay = 1;
  static constexpr uint32_t kKeepAlive = 2;

  uint32_t option;
  bool is_on;
  uint32_t delay_s;
};

// The contents of a kCachePolicy reply. JavaScript has checked the values.
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
  // Parameters of zlib: window bits of both directions, then those for compression.
  int8_t server_bits;
  int8_t client_bits;
  int8_t level;
  int8_t memory_level;
  int8_t strategy;
  std::string_view head;  // Bytes that were read behind the request head.
};

struct FrameReply {
  std::string_view payload;
};

struct JumpReply {
  uint32_t segment;
};

// For kBroadcast and kBroadcastBlock: a payload, and the slots of the connections that receive it.
struct BroadcastReply {
  std::string_view payload;  // Valid for kBroadcast.
  uint32_t block_id;         // Valid for kBroadcastBlock.
  const uint8_t* slots_at;
  size_t slots;

  uint32_t slot(size_t index) const { return LoadWord(slots_at, index); }
};

// One reply record. Texts and payloads are views into the record's memory, and become invalid with
// it. Each accessor may be called only for record types that use its struct.
class ReplyRecord {
 public:
  // Reads a record. Returns false if the bytes are no record, or are fewer than its type or its
  // lengths require. Reads each word once, because the writer may change it meanwhile. For an
  // unknown type only the header is read.
  [[nodiscard]] static bool Read(std::span<const uint8_t> record, ReplyRecord* reply);
  // These functions make records that JavaScript has not written. The caller must keep their texts.
  static ReplyRecord Response(uint32_t slot, uint32_t flags, const ResponseReply& response) {
    ReplyRecord reply(records::ReplyType::kResponse, slot, flags);
    reply.contents_ = response;
    return reply;
  }
  static ReplyRecord Data(uint32_t slot, uint32_t flags, const BytesReply& data) {
    ReplyRecord reply(records::ReplyType::kData, slot, flags);
    reply.contents_ = data;
    return reply;
  }
  static ReplyRecord End(uint32_t slot, uint32_t flags, uint32_t idle_timeout_ms) {
    ReplyRecord reply(records::ReplyType::kEnd, slot, flags);
    reply.contents_ = TimeoutReply{idle_timeout_ms};
    return reply;
  }
  ReplyRecord() = default;

  records::ReplyType type() const { return type_; }
  uint32_t flags() const { return flags_; }
  bool has(uint32_t flag) const { return (flags_ & flag) != 0; }
  uint32_t slot() const { return slot_; }

  const ResponseReply& response() const { return std::get<ResponseReply>(contents_); }
  const BytesReply& bytes() const { return std::get<BytesReply>(contents_); }
  std::string_view payload() const { return std::get<FrameReply>(contents_).payload; }
  uint32_t block_id() const { return std::get<BlockReply>(contents_).id; }
  uint32_t window_bytes() const { return std::get<WindowReply>(contents_).bytes; }
  uint32_t idle_timeout_ms() const { return std::get<TimeoutReply>(contents_).ms; }
  const SocketOptionReply& socket_option() const { return std::get<SocketOptionReply>(contents_); }
  const CachePolicyReply& cache_policy() const { return std::get<CachePolicyReply>(contents_); }
  const WebSocketReply& websocket() const { return std::get<WebSocketReply>(contents_); }
  const BroadcastReply& broadcast() const { return std::get<BroadcastReply>(contents_); }
  uint32_t segment() const { return std::get<JumpReply>(contents_).segment; }

 private:
  ReplyRecord(records::ReplyType type, uint32_t slot, uint32_t flags)
      : slot_(slot), flags_(flags), type_(type) {}

  uint32_t slot_ = 0;
  uint32_t flags_ = 0;
  records::ReplyType type_ = records::ReplyType::kJump;
  std::variant<std::monostate, ResponseReply, BytesReply, BlockReply, TimeoutReply, WindowReply,
               SocketOptionReply, CachePolicyReply, WebSocketReply, FrameReply, JumpReply,
               BroadcastReply>
      contents_;
};

}  // namespace httpsys
