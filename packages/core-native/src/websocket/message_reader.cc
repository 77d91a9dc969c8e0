#include "websocket/message_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/limits.h"

namespace httpsys::websocket {
namespace {

struct Row {
  const char* code;
  uint16_t close_code;
};

constexpr Row kRows[] = {
    {"", 1000},
    {"WS_ERR_UNEXPECTED_RSV_2_3", 1002},
    {"WS_ERR_UNEXPECTED_RSV_1", 1002},
    {"WS_ERR_INVALID_OPCODE", 1002},
    {"WS_ERR_EXPECTED_FIN", 1002},
    {"WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH", 1002},
    {"WS_ERR_EXPECTED_MASK", 1002},
    {"WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH", 1009},
    {"WS_ERR_UNSUPPORTED_MESSAGE_LENGTH", 1009},
    {"WS_ERR_TOO_MANY_BUFFERED_PARTS", 1008},
    {"WS_ERR_TOO_MANY_BUFFERED_PARTS", 1008},
    {"WS_ERR_INVALID_UTF8", 1007},
    {"WS_ERR_INVALID_CLOSE_CODE", 1002},
    {"Z_DATA_ERROR", 1007},
};
static_assert(sizeof kRows / sizeof kRows[0] == static_cast<size_t>(ReadError::kInflate) + 1);

// Names of zlib's negative codes, starting with -1.
constexpr const char* kZlibCodes[] = {"Z_ERRNO",     "Z_STREAM_ERROR", "Z_DATA_ERROR",
                                      "Z_MEM_ERROR", "Z_BUF_ERROR",    "Z_VERSION_ERROR"};

}  // namespace

const char* ReadErrorCode(ReadError error, int zlib_code) {
  if (error == ReadError::kInflate && zlib_code < 0 && zlib_code >= -6) {
    return kZlibCodes[-zlib_code - 1];
  }
  return kRows[static_cast<size_t>(error)].code;
}

uint16_t CloseCodeOf(ReadError error) { return kRows[static_cast<size_t>(error)].close_code; }

namespace {

// Bits in the first and second byte of a header.
constexpr uint8_t kFin = 0x80;
constexpr uint8_t kRsv1 = 0x40;
constexpr uint8_t kRsv23 = 0x30;
constexpr uint8_t kOpcodeBits = 0x0f;
constexpr uint8_t kMasked = 0x80;
constexpr uint8_t kLengthBits = 0x7f;
constexpr size_t kStartBytes = 2;

// Largest length that is exact as a JavaScript number; `ws` refuses larger ones.
constexpr uint64_t kLengthMax = (uint64_t{1} << 53) - 1;

uint64_t LoadBigEndian(const uint8_t* p, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; i++) value = value << 8 | p[i];
  return value;
}

}  // namespace

struct MessageReader::Input {
  char* at;
  char* end;
  size_t left() const { return static_cast<size_t>(end - at); }
};

size_t MessageReader::Read(char* data, size_t size, MessageSink* sink) {
  if (size == 0 || !StartArrival(sink)) return size;
  const uint64_t held_before = HeldBytes();
  Input in{data, data + size};
  bool goes_on = true;
  while (goes_on) {
    goes_on = (state_ == State::kPayload || ReadHeader(&in, sink)) && ReadPayload(&in, sink);
  }
  if (has_ended()) return size;
  const size_t used = size - in.left();
  EndArrival(held_before, used);
  return used;
}

std::span<char> MessageReader::Room(size_t bytes_min) {
  if (state_ != State::kPayload || IsControl(opcode_) || payload_left_ < bytes_min) return {};
  ByteBuffer& buffer = is_kept_apart() ? frame_ : message_;
  const size_t spare = buffer.capacity() - buffer.size();
  const uint64_t room =
      std::min<uint64_t>(payload_left_, std::max({spare, buffer.size(), bytes_min}));
  return {buffer.Reserve(room, buffer.size() + payload_left_), static_cast<size_t>(room)};
}

bool MessageReader::ReadInPlace(size_t size, MessageSink* sink) {
  if (size == 0 || !StartArrival(sink)) return true;
  const uint64_t held_before = HeldBytes();
  AddPayload(is_kept_apart() ? &frame_ : &message_, size);
  const bool goes_on = payload_left_ > 0 || EndFrame(sink);
  EndArrival(held_before, size);
  return goes_on;
}

// -- Arrivals. Counts chunks as `ws` buffers them: it keeps each incomplete part.

uint64_t MessageReader::HeldBytes() const {
  if (state_ == State::kPayload) return payload_bytes_ - payload_left_;
  if (header_bytes_ < kStartBytes) return header_bytes_;
  const size_t length_end = kStartBytes + length_bytes();
  return header_bytes_ - (header_bytes_ < length_end ? kStartBytes : length_end);
}

bool MessageReader::StartArrival(MessageSink* sink) {
  if (has_ended()) return false;
  if (options_.max_buffered_chunks == 0 || chunks_ < options_.max_buffered_chunks) return true;
  return Fail(ReadError::kTooManyChunks, sink);
}

void MessageReader::EndArrival(uint64_t held_before, size_t size) {
  const uint64_t held = HeldBytes();
  if (held == held_before + size) {
    ++chunks_;
  } else {
    chunks_ = held > 0 ? 1 : 0;
  }
}

// -- Headers.

size_t MessageReader::length_bytes() const {
  const uint8_t length = header_[1] & kLengthBits;
  return length < 126 ? 0 : length == 126 ? 2 : 8;
}

bool MessageReader::Fill(Input* in, size_t header_bytes) {
  while (header_bytes_ < header_bytes && in->at != in->end) {
    header_[header_bytes_++] = static_cast<uint8_t>(*in->at++);
  }
  return header_bytes_ == header_bytes;
}

bool MessageReader::ReadHeader(Input* in, MessageSink* sink) {
  ReadError error = ReadError::kNone;
  if (header_bytes_ < kStartBytes) {
    if (!Fill(in, kStartBytes)) return false;
    error = CheckStart();
    payload_bytes_ = header_[1] & kLengthBits;
    if (error == ReadError::kNone && length_bytes() == 0) error = CheckLength();
    if (error != ReadError::kNone) return Fail(error, sink);
  }
  const size_t length_end = kStartBytes + length_bytes();
  if (header_bytes_ < length_end) {
    if (!Fill(in, length_end)) return false;
    payload_bytes_ = LoadBigEndian(header_ + kStartBytes, length_bytes());
    error = CheckLength();
    if (error != ReadError::kNone) return Fail(error, sink);
  }
  if (!Fill(in, length_end + kMaskBytes)) return false;
  std::memcpy(mask_, header_ + length_end, kMaskBytes);
  header_bytes_ = 0;
  payload_left_ = payload_bytes_;
  state_ = State::kPayload;
  return true;
}

// Checks the first two bytes in the order in which `ws` does.
ReadError MessageReader::CheckStart() {
  if ((header_[0] & kRsv23) != 0) return ReadError::kUnexpectedRsv23;
  const bool is_compressed = (header_[0] & kRsv1) != 0;
  if (is_compressed && inflater_ == nullptr) return ReadError::kUnexpectedRsv1;
  is_final_ = (header_[0] & kFin) != 0;
  opcode_ = static_cast<Opcode>(header_[0] & kOpcodeBits);
  detail_ = header_[0] & kOpcodeBits;
  switch (opcode_) {
    case Opcode::kContinuation:
      if (is_compressed) return ReadError::kUnexpectedRsv1;
      if (!is_fragmented()) return ReadError::kInvalidOpcode;
      break;
    case Opcode::kText:
    case Opcode::kBinary:
      if (is_fragmented()) return ReadError::kInvalidOpcode;
      is_compressed_ = is_compressed;
      message_opcode_ = opcode_;
      break;
    case Opcode::kClose:
    case Opcode::kPing:
    case Opcode::kPong:
      if (const ReadError error = CheckControl(is_compressed); error != ReadError::kNone) {
        return error;
      }
      break;
    default:
      return ReadError::kInvalidOpcode;
  }
  return (header_[1] & kMasked) == 0 ? ReadError::kExpectedMask : ReadError::kNone;
}

ReadError MessageReader::CheckControl(bool is_compressed) {
  if (!is_final_) return ReadError::kExpectedFin;
  if (is_compressed) return ReadError::kUnexpectedRsv1;
  detail_ = header_[1] & kLengthBits;
  if (detail_ > kControlBytesMax || (opcode_ == Opcode::kClose && detail_ == 1)) {
    return ReadError::kInvalidControlPayloadLength;
  }
  return ReadError::kNone;
}

ReadError MessageReader::CheckLength() {
  if (payload_bytes_ > kLengthMax) return ReadError::kUnsupportedDataPayloadLength;
  if (IsControl(opcode_)) return ReadError::kNone;
  // The sum cannot overflow: all bytes of earlier frames have arrived.
  announced_bytes_ += payload_bytes_;
  const bool is_too_long = options_.max_payload > 0 && announced_bytes_ > options_.max_payload;
  return is_too_long ? ReadError::kUnsupportedMessageLength : ReadError::kNone;
}

// -- Payloads.

bool MessageReader::ReadPayload(Input* in, MessageSink* sink) {
  if (payload_left_ == payload_bytes_ && in->left() >= payload_bytes_) {
    const std::string_view payload(in->at, payload_bytes_);
    Unmask(in->at, payload_bytes_, mask_, 0);
    in->at += payload_bytes_;
    payload_left_ = 0;
    return IsControl(opcode_) ? EndControl(payload, sink) : EndDataFrame(payload, sink);
  }
  if (in->left() == 0) return false;
  ByteBuffer& buffer = is_kept_apart() ? frame_ : message_;
  if (buffer.capacity() == 0) TakeBlock();
  const size_t size = std::min<uint64_t>(payload_left_, in->left());
  std::memcpy(buffer.Reserve(size, buffer.size() + payload_left_), in->at, size);
  in->at += size;
  AddPayload(&buffer, size);
  return payload_left_ == 0 && EndFrame(sink);
}

// Uses a block of the pool for an unfragmented message. A client that announces bytes and does not
// send them can thus occupy only memory that the pool already had.
void MessageReader::TakeBlock() {
  if (pool_ == nullptr || is_kept_apart() || !is_final_) return;
  if (payload_bytes_ < limits::kPooledBlockBytesMin) return;
  Block block = pool_->Take(payload_bytes_);
  if (block.memory == nullptr) return;
  message_.Adopt(reinterpret_cast<char*>(block.memory.release()), block.capacity);
}

void MessageReader::AddPayload(ByteBuffer* buffer, size_t size) {
  char* const piece = buffer->data() + buffer->size();
  Unmask(piece, size, mask_, payload_bytes_ - payload_left_);
  buffer->Grow(size);
  payload_left_ -= size;
  if (!is_kept_apart()) CheckText({piece, size});
}

// Ends a frame that arrived in pieces.
bool MessageReader::EndFrame(MessageSink* sink) {
  const ByteBuffer frame = std::move(frame_);
  return IsControl(opcode_) ? EndControl(frame.view(), sink) : EndDataFrame(frame.view(), sink);
}

bool MessageReader::EndControl(std::string_view payload, MessageSink* sink) {
  state_ = State::kHeader;
  switch (opcode_) {
    case Opcode::kPing:
      return sink->OnPing(payload);
    case Opcode::kPong:
      return sink->OnPong(payload);
    default:
      return EndClose(payload, sink);
  }
}

bool MessageReader::EndClose(std::string_view payload, MessageSink* sink) {
  uint16_t code = kNoStatus;
  if (!payload.empty()) {
    code = static_cast<uint16_t>(
        LoadBigEndian(reinterpret_cast<const uint8_t*>(payload.data()), sizeof code));
    detail_ = code;
    if (!IsCloseCode(code)) return Fail(ReadError::kInvalidCloseCode, sink);
    payload.remove_prefix(sizeof code);
    if (!options_.skips_utf8 && !IsUtf8(payload)) return Fail(ReadError::kInvalidUtf8, sink);
  }
  state_ = State::kEnded;
  message_.Reset();
  sink->OnClose(code, payload);
  return false;
}

// `payload` is the whole frame; empty if it was appended to message_ as it arrived.
bool MessageReader::EndDataFrame(std::string_view payload, MessageSink* sink) {
  if (options_.max_fragments > 0 && ++fragments_ > options_.max_fragments) {
    return Fail(ReadError::kTooManyFragments, sink);
  }
  state_ = State::kHeader;
  if (is_compressed_) {
    if (!InflateFrame(payload, sink)) return false;
  } else {
    CheckText(payload);
    if (!is_final_ || !message_.empty()) {
      message_.Append(payload);
      payload = {};
    }
  }
  return !is_final_ || EndMessage(is_compressed_ ? std::string_view() : payload, sink);
}

bool MessageReader::InflateFrame(std::string_view payload, MessageSink* sink) {
  const size_t before = message_.size();
  switch (inflater_->Inflate(payload, is_final_, options_.max_payload, &message_)) {
    case Inflater::Result::kTooLong:
      return Fail(ReadError::kUnsupportedMessageLength, sink);
    case Inflater::Result::kFailed:
      return Fail(ReadError::kInflate, sink);
    case Inflater::Result::kOk:
      CheckText(message_.view().substr(before));
  }
  return true;
}

bool MessageReader::EndMessage(std::string_view view, MessageSink* sink) {
  ByteBuffer owned = std::move(message_);
  const Opcode opcode = std::exchange(message_opcode_, Opcode::kContinuation);
  announced_bytes_ = 0;
  fragments_ = 0;
  const bool is_checked = opcode == Opcode::kText && !options_.skips_utf8;
  if (is_checked && !utf8_.is_complete()) return Fail(ReadError::kInvalidUtf8, sink);
  if (!owned.empty()) return sink->OnMessage({opcode, owned.view(), &owned});
  return sink->OnMessage({opcode, view, nullptr});
}

// Checks a piece of text on arrival, while it is in the CPU cache. An error is reported only at the
// end of the text, as in `ws`: until then the frame may break another rule.
void MessageReader::CheckText(std::string_view piece) {
  if (message_opcode_ == Opcode::kText && !options_.skips_utf8) utf8_.Add(piece);
}

bool MessageReader::Fail(ReadError error, MessageSink* sink) {
  Failure failure{error, 0, detail_, ""};
  if (error == ReadError::kInflate) {
    failure.zlib_code = inflater_->zlib_code();
    failure.zlib_message = inflater_->zlib_message();
  }
  state_ = State::kEnded;
  message_.Reset();
  frame_.Reset();
  sink->OnFailure(failure);
  return false;
}

}  // namespace httpsys::websocket
