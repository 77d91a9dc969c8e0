#include "records/replies.h"

#include <optional>

namespace httpsys {
namespace {

using records::Field;
using records::ReplyType;

// Reads the bytes of one record. A read beyond its end marks the whole record as invalid.
class Words {
 public:
  explicit Words(std::span<const uint8_t> record) : record_(record) {}

  bool is_good() const { return is_good_; }

  // Returns true if the record is long enough for its fields up to `kLast`, the last one of its
  // type.
  template <Field kLast>
  bool HasUpTo() {
    return Need((kLast.word + 1) * sizeof(uint32_t));
  }
  template <Field kField>
  uint32_t Load() const {
    return LoadField<kField>(record_.data());
  }
  std::string_view Text(size_t at, uint64_t bytes) {
    if (!Need(at + bytes)) return {};
    return {reinterpret_cast<const char*>(record_.data()) + at, static_cast<size_t>(bytes)};
  }

 private:
  bool Need(uint64_t bytes) {
    if (record_.size() < bytes) is_good_ = false;
    return is_good_;
  }

  std::span<const uint8_t> record_;
  bool is_good_ = true;
};

ResponseReply ReadResponse(Words* words) {
  if (!words->HasUpTo<records::kResponseIdleTimeoutMs>()) return {};
  const uint32_t head_bytes = words->Load<records::kResponseHeadBytes>();
  const uint32_t body_bytes = words->Load<records::kResponseBodyBytes>();
  const std::string_view all =
      words->Text(records::kResponseFixedBytes, uint64_t{head_bytes} + body_bytes);
  if (!words->is_good()) return {};
  return {all.substr(0, head_bytes), all.substr(head_bytes),
          words->Load<records::kResponseIdleTimeoutMs>()};
}

BytesReply ReadBytes(Words* words) {
  if (!words->HasUpTo<records::kDataIdleTimeoutMs>()) return {};
  return {words->Text(records::kPayloadAt, words->Load<records::kDataBytes>()),
          words->Load<records::kDataIdleTimeoutMs>()};
}

SocketOptionReply ReadSocketOption(Words* words) {
  if (!words->HasUpTo<records::kSocketOptionDelayS>()) return {};
  return {words->Load<records::kSocketOptionOption>(),
          words->Load<records::kSocketOptionValue>() != 0,
          words->Load<records::kSocketOptionDelayS>()};
}

CachePolicyReply ReadCachePolicy(Words* words) {
  if (!words->HasUpTo<records::kCachePolicySeconds>()) return {};
  return {words->Load<records::kCachePolicyPolicy>(), words->Load<records::kCachePolicySeconds>()};
}

WebSocketReply ReadWebSocket(Words* words) {
  if (!words->HasUpTo<records::kWebSocketHeadBytes>()) return {};
  WebSocketReply reply;
  reply.flags = words->Load<records::kWebSocketFlags>();
  reply.bytes_max = words->Load<records::kWebSocketBytesMax>();
  reply.fragments_max = words->Load<records::kWebSocketFragmentsMax>();
  reply.chunks_max = words->Load<records::kWebSocketChunksMax>();
  reply.pongs_max = words->Load<records::kWebSocketPongsMax>();
  reply.threshold = words->Load<records::kWebSocketThreshold>();
  reply.server_bits = static_cast<int8_t>(words->Load<records::kWebSocketServerBits>());
  reply.client_bits = static_cast<int8_t>(words->Load<records::kWebSocketClientBits>());
  reply.level = static_cast<int8_t>(words->Load<records::kWebSocketLevel>());
  reply.memory_level = static_cast<int8_t>(words->Load<records::kWebSocketMemoryLevel>());
  reply.strategy = static_cast<int8_t>(words->Load<records::kWebSocketStrategy>());
  reply.head =
      words->Text(records::kWebSocketFixedBytes, words->Load<records::kWebSocketHeadBytes>());
  return reply;
}

BroadcastReply ReadBroadcast(Words* words, bool is_block) {
  if (!words->HasUpTo<records::kBroadcastSlots>()) return {};
  BroadcastReply reply{};
  reply.slots = words->Load<records::kBroadcastSlots>();
  uint64_t slots_at = records::kPayloadAt;
  if (is_block) {
    reply.block_id = words->Load<records::kBroadcastBlockId>();
  } else {
    reply.payload = words->Text(records::kPayloadAt, words->Load<records::kBroadcastBytes>());
    slots_at = (slots_at + reply.payload.size() + 3) & ~uint64_t{3};
  }
  const std::string_view slots =
      words->Text(static_cast<size_t>(slots_at), uint64_t{reply.slots} * sizeof(uint32_t));
  reply.slots_at = reinterpret_cast<const uint8_t*>(slots.data());
  return reply;
}

}  // namespace

bool ReplyRecord::Read(std::span<const uint8_t> record, ReplyRecord* reply) {
  Words words(record);
  if (!words.HasUpTo<records::kRecordExtra>()) return false;
  const uint32_t type_word = LoadWord(record.data(), records::kRecordType.word);
  reply->type_ = static_cast<ReplyType>(PartOf<records::kRecordType>(type_word));
  reply->flags_ = PartOf<records::kRecordFlags>(type_word);
  reply->slot_ = words.Load<records::kRecordSlot>();
  auto& contents = reply->contents_;
  switch (reply->type_) {
    case ReplyType::kResponse:
      contents.emplace<ResponseReply>(ReadResponse(&words));
      break;
    case ReplyType::kData:
    case ReplyType::kTrailers:
      contents.emplace<BytesReply>(ReadBytes(&words));
      break;
    case ReplyType::kFrame:
      if (!words.HasUpTo<records::kFrameBytes>()) return false;
      contents.emplace<FrameReply>(
          words.Text(records::kPayloadAt, words.Load<records::kFrameBytes>()));
      break;
    case ReplyType::kBlock:
    case ReplyType::kFrameBlock:
      if (!words.HasUpTo<records::kBlockBlockId>()) return false;
      contents.emplace<BlockReply>(words.Load<records::kBlockBlockId>());
      break;
    case ReplyType::kEnd:
    case ReplyType::kIdleTimeout:
      if (!words.HasUpTo<records::kEndIdleTimeoutMs>()) return false;
      contents.emplace<TimeoutReply>(words.Load<records::kEndIdleTimeoutMs>());
      break;
    case ReplyType::kWindow:
      if (!words.HasUpTo<records::kWindowBytes>()) return false;
      contents.emplace<WindowReply>(words.Load<records::kWindowBytes>());
      break;
    case ReplyType::kSocketOption:
      contents.emplace<SocketOptionReply>(ReadSocketOption(&words));
      break;
    case ReplyType::kCachePolicy:
      contents.emplace<CachePolicyReply>(ReadCachePolicy(&words));
      break;
    case ReplyType::kWebSocket:
      contents.emplace<WebSocketReply>(ReadWebSocket(&words));
      break;
    case ReplyType::kBroadcast:
    case ReplyType::kBroadcastBlock:
      contents.emplace<BroadcastReply>(
          ReadBroadcast(&words, reply->type_ == ReplyType::kBroadcastBlock));
      break;
    case ReplyType::kJump:
      contents.emplace<JumpReply>(reply->slot_);
      break;
    default:
      contents.emplace<std::monostate>();
      break;
  }
  return words.is_good();
}

}  // namespace httpsys
