#include "engine/http1/http1_bodies.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "engine/connection/announcer.h"
#include "engine/connection/input.h"

namespace httpsys::engine {
namespace {

using http1::DecodeStatus;
using records::ErrorKind;

// Head of a request with a chunked body, for the text that Position() returns.
constexpr std::string_view kChunkedHead = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";

// A block with fewer received bytes is shrunk, so that JavaScript does not keep unused memory.
constexpr size_t kShrinkBelowBytes = limits::kBlockBytes / 4 * 3;

// Returns how many blocks a read of `bytes` fills, at most limits::kBlocksPerRead.
size_t WholeBlocks(uint64_t bytes) {
  return std::min<uint64_t>(bytes / limits::kBlockBytes, limits::kBlocksPerRead);
}

}  // namespace

// -- Receiving.

std::span<char> Http1Bodies::Room(Connection* connection, std::span<char> shared) {
  if (connection->input.window_bytes() <= 0) {
    // Do not stop the watcher: JavaScript usually enlarges the window before the next poll.
    SocketWatch::Pause(connection, kPauseWindow);
    return {};
  }
  const auto window = static_cast<uint64_t>(connection->input.window_bytes());
  if (connection->phase() == InputPhase::kBodyLength && connection->input.partial() == nullptr) {
    const uint64_t allowed = std::min(window, connection->message.body_bytes());
    if (allowed >= limits::kDirectReadBytesMin) {
      const size_t bytes = std::min<uint64_t>(limits::kBlockBytes, allowed);
      if (auto* memory = BlockMemory(connection, allowed)) return {memory, bytes};
      SocketWatch::Pause(connection, kPauseMemory);
      return {};
    }
  }
  return shared.first(std::min<uint64_t>(shared.size(), window));
}

size_t Http1Bodies::MoreRoom(Connection* connection, std::span<iovec> rooms) {
  const std::vector<ReceiveBlocks::Loan>& loans = connection->attachment().receiving().loans();
  const auto window = static_cast<uint64_t>(connection->input.window_bytes());
  const size_t wanted = WholeBlocks(std::min(window, connection->message.body_bytes()));
  size_t count = 0;
  while (count + 1 < std::min({wanted, loans.size(), rooms.size() + 1})) {
    rooms[count] = {loans[count + 1].memory, limits::kBlockBytes};
    ++count;
  }
  return count;
}

void Http1Bodies::OnReceived(Connection* connection, size_t bytes) {
  exchanges_->TimeAnsweredBody(connection);
  ReceiveWindows::Use(connection, bytes);
  connection->message.TakeBodyBytes(bytes);
  if (connection->attachment().receiving().loans().empty()) {
    DeliverOwn(connection, bytes);
  } else {
    DeliverLent(connection, bytes);
  }
  if (connection->message.body_bytes() != 0) return;
  connection->attachment().records().BodyEnd(connection->slot.number(), {});
  exchanges_->MessageDone(connection);
}

// Returns the memory for the next piece: a block that JavaScript lent, or else the lane's own
// block. Returns nullptr if the connection must wait for blocks that JavaScript lends.
char* Http1Bodies::BlockMemory(Connection* connection, uint64_t allowed) {
  ReceiveQueue& receiving = connection->attachment().receiving();
  // A read through TLS fills at most one block.
  const size_t wanted = connection->tls != nullptr ? 1 : std::max(WholeBlocks(allowed), size_t{1});
  if (!receiving.TakeUpTo(wanted, connection)) return nullptr;
  if (!receiving.loans().empty()) return reinterpret_cast<char*>(receiving.loans().front().memory);
  if (spare_block_.memory == nullptr) {
    spare_block_.memory.reset(static_cast<uint8_t*>(std::malloc(limits::kBlockBytes)));
    HTTPSYS_CHECK(spare_block_.memory != nullptr);
  }
  return reinterpret_cast<char*>(spare_block_.memory.get());
}

// Gives JavaScript the bytes that were received into lent blocks.
void Http1Bodies::DeliverLent(Connection* connection, size_t bytes) {
  std::vector<ReceiveBlocks::Loan>& loans = connection->attachment().receiving().loans();
  RecordWriter& records = connection->attachment().records();
  size_t used = 0;
  while (bytes != 0) {
    const ReceiveBlocks::Loan& loan = loans[used];
    const size_t piece = std::min(bytes, limits::kBlockBytes);
    bytes -= piece;
    if (piece <= limits::kInlinePieceBytesMax) {
      records.Body(connection->slot.number(), {reinterpret_cast<const char*>(loan.memory), piece});
      break;
    }
    records.BodyLent(connection->slot.number(), loan.id, piece);
    ++used;
  }
  loans.erase(loans.begin(), loans.begin() + static_cast<ptrdiff_t>(used));
}

// Gives JavaScript the bytes that were received into the lane's own block.
void Http1Bodies::DeliverOwn(Connection* connection, size_t bytes) {
  RecordWriter& records = connection->attachment().records();
  if (bytes <= limits::kInlinePieceBytesMax) {
    const auto* memory = reinterpret_cast<const char*>(spare_block_.memory.get());
    records.Body(connection->slot.number(), {memory, bytes});
    return;
  }
  Block block = std::move(spare_block_);
  block.bytes = bytes;
  if (bytes < kShrinkBelowBytes) {
    if (void* smaller = std::realloc(block.memory.get(), bytes)) {
      (void)block.memory.release();
      block.memory.reset(static_cast<uint8_t*>(smaller));
    }
  }
  records.BodyBlock(connection->slot.number(), std::move(block));
}

// -- Pieces.

Protocol::Advance Http1Bodies::ReadLength(Connection* connection, std::string_view input,
                                          size_t* used) {
  if (connection->input.window_bytes() <= 0) {
    SocketWatch::Pause(connection, kPauseWindow);
    return Advance::kWait;
  }
  exchanges_->TimeAnsweredBody(connection);
  const uint64_t allowed = std::min(static_cast<uint64_t>(connection->input.window_bytes()),
                                    connection->message.body_bytes());
  const std::string_view piece = input.substr(0, allowed);
  connection->attachment().records().Body(connection->slot.number(), piece);
  ReceiveWindows::Use(connection, piece.size());
  connection->message.TakeBodyBytes(piece.size());
  *used = piece.size();
  if (connection->message.body_bytes() == 0) {
    connection->attachment().records().BodyEnd(connection->slot.number(), {});
    exchanges_->MessageDone(connection);
  }
  return Advance::kGoOn;
}

Protocol::Advance Http1Bodies::ReadChunked(Connection* connection, std::string_view input,
                                           size_t* used) {
  if (connection->input.window_bytes() <= 0) {
    SocketWatch::Pause(connection, kPauseWindow);
    return Advance::kWait;
  }
  exchanges_->TimeAnsweredBody(connection);
  const uint64_t body_max = connection->server()->config->settings().max_request_body_size;
  // Limit the piece to the size of a lent block, as on Node.
  const auto window = static_cast<size_t>(connection->input.window_bytes());
  const http1::ChunkedDecoder::Step step =
      connection->message.decoder()->Next(input.substr(0, std::min(window, limits::kBlockBytes)));
  *used = step.consumed_bytes;
  switch (step.status) {
    case DecodeStatus::kNeedMore:
      return step.consumed_bytes == 0 ? Advance::kWait : Advance::kGoOn;
    case DecodeStatus::kBody:
      connection->message.CountBodyBytes(step.body.size());
      if (body_max != 0 && connection->message.body_bytes() > body_max) {
        http1_answers_->Refuse(connection, ErrorKind::kBodyTooLarge, {});
        return Advance::kWait;
      }
      ReceiveWindows::Use(connection, step.body.size());
      connection->attachment().records().Body(connection->slot.number(), step.body);
      return Advance::kGoOn;
    case DecodeStatus::kEnd:
      if (connection->message.decoder()->closes_connection()) connection->message.SetLast(true);
      connection->attachment().records().BodyEnd(connection->slot.number(),
                                                 connection->message.decoder()->trailers());
      exchanges_->ReturnDecoder(connection->message.TakeDecoder());
      exchanges_->MessageDone(connection);
      return Advance::kGoOn;
    case DecodeStatus::kError:
      RefuseChunked(connection, input, step.consumed_bytes);
      return Advance::kWait;
  }
  return Advance::kWait;
}

std::string Http1Bodies::Position(const Connection& connection) {
  const http1::ChunkedDecoder* decoder = connection.message.decoder();
  if (decoder == nullptr) return {};
  return std::string(kChunkedHead).append(decoder->Position());
}

// `position` is the offset in `input` of the wrong byte, or the end of the trailers so far.
void Http1Bodies::RefuseChunked(Connection* connection, std::string_view input, size_t position) {
  ErrorKind kind = ErrorKind::kMalformed;
  const http1::ParseError error = connection->message.decoder()->error();
  if (error == http1::ParseError::kChunkExtensionsOverflow) kind = ErrorKind::kChunkExtensions;
  if (error == http1::ParseError::kHeaderOverflow) kind = ErrorKind::kHeaderOverflow;
  std::string prefix = Position(*connection);
  const std::string_view trailers = connection->message.decoder()->trailer_text();
  if (trailers.size() > position) {
    // A part of the trailers came in an earlier read: it belongs to the prefix.
    prefix.append(trailers.substr(0, trailers.size() - position));
    position = 0;
  } else {
    position -= trailers.size();
  }
  http1_answers_->Refuse(connection, kind, input.substr(position), std::move(prefix));
}

Protocol::Advance Http1Bodies::SkipLength(Connection* connection, std::string_view input,
                                          size_t* used) {
  *used = std::min<uint64_t>(input.size(), connection->message.body_bytes());
  connection->message.TakeBodyBytes(*used);
  Announcer::CountUnseen(connection, *used, 0);
  if (connection->message.body_bytes() == 0) exchanges_->MessageDone(connection);
  return Advance::kGoOn;
}

Protocol::Advance Http1Bodies::SkipChunked(Connection* connection, std::string_view input,
                                           size_t* used) {
  const http1::ChunkedDecoder::Step step = connection->message.decoder()->Next(input);
  *used = step.consumed_bytes;
  connection->message.CountBodyBytes(step.body.size());
  Announcer::CountUnseen(connection, *used, 0);
  if (step.status == DecodeStatus::kEnd) {
    exchanges_->ReturnDecoder(connection->message.TakeDecoder());
    exchanges_->MessageDone(connection);
    return Advance::kGoOn;
  }
  if (step.status == DecodeStatus::kError ||
      connection->message.body_bytes() > limits::kLingerBytesMax) {
    answers_->Flush(connection);
    if (!connection->is_open()) return Advance::kWait;
    transport_->FinishAfterOutput(connection, AfterOutput::kClose);
    transport_->output()->Flush(connection);
    return Advance::kWait;
  }
  return step.consumed_bytes == 0 ? Advance::kWait : Advance::kGoOn;
}

// -- With the head.

std::string_view Http1Bodies::TakeFirstPiece(Connection* connection, std::string_view input,
                                             size_t* used) {
  if (connection->phase() == InputPhase::kBodyLength) {
    const std::string_view piece = input.substr(
        0, std::min<uint64_t>(limits::kInlineBodyBytesMax, connection->message.body_bytes()));
    connection->message.TakeBodyBytes(piece.size());
    *used += piece.size();
    return piece;
  }
  // With a limit on body sizes, ReadChunked() must count and check every piece.
  const ServerSettings& settings = connection->server()->config->settings();
  if (settings.max_request_body_size != 0) return {};
  const http1::ChunkedDecoder::Step step = connection->message.decoder()->Next(input);
  if (step.status == DecodeStatus::kBody && step.body.size() <= limits::kInlineBodyBytesMax) {
    *used += step.consumed_bytes;
    connection->message.CountBodyBytes(step.body.size());
    return step.body;
  }
  connection->message.decoder()->Reset(settings.max_header_size, settings.max_header_lines);
  return {};
}

bool Http1Bodies::DecodeInline(std::string_view input, std::string_view* body, size_t* used) {
  if (input.empty()) return false;
  std::unique_ptr<http1::ChunkedDecoder> decoder = exchanges_->TakeDecoder();
  decoder->Reset(0);
  *body = {};
  size_t at = 0;
  bool is_whole = false;
  for (;;) {
    const http1::ChunkedDecoder::Step step = decoder->Next(input.substr(at));
    at += step.consumed_bytes;
    if (step.status == DecodeStatus::kBody) {
      if (!body->empty() || step.body.size() > limits::kInlineBodyBytesMax) break;
      *body = step.body;
      continue;
    }
    is_whole = step.status == DecodeStatus::kEnd && decoder->trailers().empty();
    break;
  }
  *used = at;
  if (!is_whole) *body = {};
  exchanges_->ReturnDecoder(std::move(decoder));
  return is_whole;
}

}  // namespace httpsys::engine
