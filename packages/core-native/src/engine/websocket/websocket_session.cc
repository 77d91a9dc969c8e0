#include "engine/websocket/websocket_session.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "websocket/frame.h"

namespace httpsys::engine {
namespace {

using websocket::ByteBuffer;
using websocket::Opcode;

constexpr const char* kNoSocket = "has a frame for what is no WebSocket";

// Returns true if zlib accepts the parameters.
bool AreSound(const WebSocketReply& wanted) {
  const auto is_within = [](int value, int least, int most) {
    return value >= least && value <= most;
  };
  return (wanted.flags & records::kSocketDeflate) == 0 ||
         (is_within(wanted.server_bits, 8, MAX_WBITS) &&
          is_within(wanted.client_bits, 8, MAX_WBITS) &&
          is_within(wanted.level, Z_DEFAULT_COMPRESSION, Z_BEST_COMPRESSION) &&
          is_within(wanted.memory_level, 1, MAX_MEM_LEVEL) &&
          is_within(wanted.strategy, Z_DEFAULT_STRATEGY, Z_FIXED));
}

std::shared_ptr<const ByteBuffer> Framed(Opcode opcode, bool is_final, bool is_compressed,
                                         std::string_view payload) {
  auto framed = std::make_shared<ByteBuffer>();
  char* to = framed->Reserve(websocket::kServerHeaderBytesMax + payload.size());
  const size_t header =
      websocket::WriteFrameHeader(to, opcode, is_final, is_compressed, payload.size());
  if (!payload.empty()) std::memcpy(to + header, payload.data(), payload.size());
  framed->Grow(header + payload.size());
  return framed;
}

}  // namespace

struct WebSocketSession::Frame {
  Frame(uint32_t flags, std::string_view payload)
      : opcode(static_cast<Opcode>(flags & records::kFrameOpcode)),
        is_final((flags & records::kFrameFin) != 0),
        may_compress((flags & records::kFrameCompress) != 0),
        payload(payload) {}

  Opcode opcode;
  bool is_final;
  bool may_compress;
  std::string_view payload;
};

struct WebSocketSession::Broadcast {
  struct Compressed {
    websocket::ZlibParameters parameters;
    Shared shared;
  };

  Frame frame;
  // The lent block with the payload; nullptr = none. Headers are separate, so it is not copied.
  std::shared_ptr<const void> block;
  Shared plain;
  std::vector<Compressed> compressed;
};

// Writes a record for each message or control frame that was read.
class WebSocketSession::Delivery final : public websocket::MessageSink {
 public:
  Delivery(WebSocketSession* session, Connection* connection)
      : session_(session), connection_(connection) {}

  bool OnMessage(const websocket::Message& message) override {
    const uint32_t flags = message.opcode == Opcode::kBinary ? records::kMessageBinary : 0;
    const size_t bytes = message.bytes.size();
    RecordWriter& records = connection_->attachment().records();
    if (bytes <= limits::kInlineMessageBytesMax) {
      records.Message(connection_->slot.number(), flags, message.bytes);
    } else {
      records.MessageBlock(connection_->slot.number(), flags, TakeBlock(message));
    }
    return Consume(bytes);
  }

  bool OnPing(std::string_view payload) override {
    session_->Pong(connection_, payload);
    if (!connection_->is_open()) return false;
    return Control(Opcode::kPing, payload);
  }

  bool OnPong(std::string_view payload) override { return Control(Opcode::kPong, payload); }

  void OnClose(uint16_t code, std::string_view reason) override {
    connection_->attachment().records().CloseFrame(connection_->slot.number(), code, reason);
  }

  void OnFailure(const websocket::Failure& failure) override {
    connection_->attachment().records().FrameError(
        connection_->slot.number(), static_cast<uint32_t>(failure.error), failure.detail,
        failure.zlib_code, failure.zlib_message);
  }

 private:
  static Block TakeBlock(const websocket::Message& message) {
    Block block;
    block.bytes = message.bytes.size();
    if (message.owned != nullptr) {
      if (!BlockPool::Fits(block.bytes, message.owned->capacity())) message.owned->Fit();
      block.capacity = message.owned->capacity();
      block.memory.reset(reinterpret_cast<uint8_t*>(message.owned->Release()));
      return block;
    }
    block.memory.reset(static_cast<uint8_t*>(std::malloc(block.bytes)));
    HTTPSYS_CHECK(block.memory != nullptr);
    std::memcpy(block.memory.get(), message.bytes.data(), block.bytes);
    return block;
  }

  bool Control(Opcode opcode, std::string_view payload) {
    connection_->attachment().records().Control(connection_->slot.number(),
                                                static_cast<uint32_t>(opcode), payload);
    return Consume(payload.size());
  }

  bool Consume(size_t bytes) {
    ReceiveWindows::Use(connection_, bytes + records::kMessageCost);
    return connection_->input.window_bytes() > 0;
  }

  WebSocketSession* session_;
  Connection* connection_;
};

WebSocketSession::WebSocketSession(uv_loop_t* loop, BlockPool* pool, Transport* transport,
                                   Input* input)
    : pool_(pool), transport_(transport), output_(transport->output()), input_(input) {
  uv_timer_init(loop, &unused_timer_);
  unused_timer_.data = this;
}

void WebSocketSession::Close() {
  uv_close(reinterpret_cast<uv_handle_t*>(&unused_timer_), nullptr);
}

// -- Input.

std::span<char> WebSocketSession::Room(Connection* connection, std::span<char> shared) {
  if (connection->input.window_bytes() <= 0) {
    SocketWatch::Pause(connection, kPauseWindow);
    return {};
  }
  if (connection->input.partial() != nullptr) return shared;
  const std::span<char> own = OwnRoom(connection);
  return own.empty() ? shared : own;
}

Protocol::Advance WebSocketSession::OnReadable(Connection* connection, std::string_view input,
                                               size_t* used) {
  // const_cast: the lane owns the memory (its buffer or kept bytes), which is unmasked in place.
  *used = Read(connection, const_cast<char*>(input.data()), input.size());
  if (*used == input.size()) return Advance::kGoOn;
  if (connection->is_open()) SocketWatch::Pause(connection, kPauseWindow);
  return Advance::kWait;
}

void WebSocketSession::OnEof(Connection* connection) {
  transport_->OnPeerEnded(connection);
  connection->attachment().records().Eof(connection->slot.number());
  if (connection->end.is_fin_sent()) transport_->Close(connection, 0);
}

// Returns the number of bytes used; less than `size` = JavaScript must consume messages first.
size_t WebSocketSession::Read(Connection* connection, char* data, size_t size) {
  if (connection->input.window_bytes() <= 0) return 0;
  Delivery delivery(this, connection);
  WebSocketState& socket = *connection->websocket;
  const size_t used = ReaderOf(&socket)->Read(data, size, &delivery);
  KeepReader(&socket);
  return used;
}

websocket::MessageReader* WebSocketSession::ReaderOf(WebSocketState* socket) {
  if (socket->reader != nullptr) return socket->reader.get();
  if (spare_reader_ != nullptr) {
    socket->reader = std::move(spare_reader_);
    socket->reader->Serve(socket->options, socket->inflater.get());
  } else {
    socket->reader =
        std::make_unique<websocket::MessageReader>(socket->options, socket->inflater.get(), pool_);
  }
  return socket->reader.get();
}

void WebSocketSession::KeepReader(WebSocketState* socket) {
  if (socket->reader->is_between_messages()) spare_reader_ = std::move(socket->reader);
}

// Returns the reader's memory for the next bytes; empty if there is no reader, as in most cases.
std::span<char> WebSocketSession::OwnRoom(Connection* connection) {
  websocket::MessageReader* reader = connection->websocket->reader.get();
  if (reader == nullptr) return {};
  const std::span<char> room = reader->Room(limits::kMessageReadBytesMin);
  if (!room.empty()) WatchUnused();
  return room.first(std::min(room.size(), limits::kMessageReadBytesMax));
}

void WebSocketSession::OnReceived(Connection* connection, size_t size) {
  Delivery delivery(this, connection);
  (void)connection->websocket->reader->ReadInPlace(size, &delivery);
  KeepReader(connection->websocket.get());
}

void WebSocketSession::Pong(Connection* connection, std::string_view payload) {
  WebSocketState& socket = *connection->websocket;
  const bool is_over =
      connection->end.is_fin_sent() || connection->end.after_output() != AfterOutput::kNothing;
  if (!socket.answers_pings || socket.is_close_sent || is_over) return;
  // Count the pongs that the client has not read; too many end the connection.
  if (connection->output.queue() != nullptr && socket.pongs_max != 0) {
    if (connection->output.queue()->marks() >= socket.pongs_max) {
      transport_->Close(connection, 0);
      return;
    }
    OutputPass::MarkQueue(connection);
  }
  auto framed = Framed(Opcode::kPong, true, false, payload);
  const std::string_view bytes = framed->view();
  output_->SendShared(connection, std::move(framed), bytes, 0);
}

// -- Output.

bool WebSocketSession::OnReply(Connection* connection, const ReplyRecord& reply) {
  switch (reply.type()) {
    case records::ReplyType::kWebSocket:
      Begin(connection, reply.websocket());
      return true;
    case records::ReplyType::kFrame:
      OnFrame(connection, reply);
      return true;
    case records::ReplyType::kFrameBlock:
      OnFrameBlock(connection, reply);
      return true;
    default:
      return false;
  }
}

void WebSocketSession::Begin(Connection* connection, const WebSocketReply& wanted) {
  if (connection->phase() != InputPhase::kUndecided || !AreSound(wanted)) {
    return connection->attachment().replies().End("makes a WebSocket of what cannot be one");
  }
  connection->websocket = std::make_unique<WebSocketState>();
  WebSocketState& socket = *connection->websocket;
  constexpr auto kBytesMax = static_cast<uint32_t>(limits::kMessageBytesMax);
  socket.options.max_payload =
      wanted.bytes_max == 0 ? kBytesMax : std::min(wanted.bytes_max, kBytesMax);
  socket.options.max_fragments = wanted.fragments_max;
  socket.options.max_buffered_chunks = wanted.chunks_max;
  socket.options.skips_utf8 = (wanted.flags & records::kSocketSkipUtf8) != 0;
  const bool deflates = (wanted.flags & records::kSocketDeflate) != 0;
  if (deflates) {
    socket.inflater = std::make_unique<websocket::Inflater>(
        &zlib_, wanted.client_bits, (wanted.flags & records::kSocketClientAlone) == 0);
  }
  socket.pongs_max = wanted.pongs_max;
  socket.answers_pings = (wanted.flags & records::kSocketAutoPong) != 0;
  socket.deflates = deflates;
  socket.stands_alone = (wanted.flags & records::kSocketServerAlone) != 0;
  socket.threshold = wanted.threshold;
  socket.parameters = {wanted.server_bits, wanted.level, wanted.memory_level, wanted.strategy};
  if (deflates) WatchUnused();
  if (!wanted.head.empty()) connection->input.KeepBefore(wanted.head);
  connection->Enter(InputPhase::kWebSocket);
  connection->input.SetGiven(0);
  input_->Resume(connection, kPauseUpgrade);
}

void WebSocketSession::WatchUnused() {
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&unused_timer_)) != 0) return;
  uv_timer_start(&unused_timer_, OnUnusedTimer, limits::kUnusedMs, limits::kUnusedMs);
}

void WebSocketSession::OnUnusedTimer(uv_timer_t* timer) {
  auto* self = static_cast<WebSocketSession*>(timer->data);
  self->zlib_.ReleaseIdle();
  const bool has_blocks = self->pool_->Trim();
  if (self->zlib_.live_states() == 0 && !has_blocks) uv_timer_stop(timer);
}

// Returns false if the frame must not be sent because a close frame was sent before.
bool WebSocketSession::BeginFrame(Connection* connection, const Frame& frame, bool* is_compressed) {
  WebSocketState& socket = *connection->websocket;
  *is_compressed = false;
  if (socket.is_close_sent) return false;
  if (websocket::IsControl(frame.opcode)) {
    socket.is_close_sent = frame.opcode == Opcode::kClose;
    return true;
  }
  if (!socket.is_in_message) {
    socket.is_compressing = frame.may_compress && socket.deflates &&
                            (!socket.stands_alone || frame.payload.size() >= socket.threshold);
  }
  socket.is_in_message = !frame.is_final;
  *is_compressed = socket.is_compressing;
  return true;
}

void WebSocketSession::SendHeader(Connection* connection, const Frame& frame, bool is_compressed,
                                  size_t bytes) {
  char header[websocket::kServerHeaderBytesMax];
  const size_t header_bytes =
      websocket::WriteFrameHeader(header, frame.opcode, frame.is_final, is_compressed, bytes);
  output_->SendCopy(connection, {header, header_bytes});
}

void WebSocketSession::OnFrame(Connection* connection, const ReplyRecord& reply) {
  if (connection->websocket == nullptr) return connection->attachment().replies().End(kNoSocket);
  const Frame frame(reply.flags(), reply.payload());
  bool is_compressed;
  if (!BeginFrame(connection, frame, &is_compressed)) return;
  if (is_compressed) {
    SendCompressed(connection, frame);
    return;
  }
  SendHeader(connection, frame, false, frame.payload.size());
  output_->Send(connection, frame.payload, frame.payload.size());
}

void WebSocketSession::OnFrameBlock(Connection* connection, const ReplyRecord& reply) {
  if (connection->websocket == nullptr) return connection->attachment().replies().End(kNoSocket);
  const uint32_t id = reply.block_id();
  LentMemory::View view;
  Attachment& attachment = connection->attachment();
  if (!attachment.lent().Find(id, &view)) return attachment.replies().End(kUnknownBlock);
  const Frame frame(reply.flags(), {reinterpret_cast<const char*>(view.data), view.bytes});
  bool is_compressed;
  if (BeginFrame(connection, frame, &is_compressed) && !is_compressed) {
    SendHeader(connection, frame, false, frame.payload.size());
    output_->SendBlock(connection, id, frame.payload);
    return;
  }
  if (is_compressed) SendCompressed(connection, frame);
  attachment.ReturnBlock(id, 0);
}

websocket::Deflater* WebSocketSession::LoneDeflaterOf(const websocket::ZlibParameters& parameters) {
  for (const LoneDeflater& known : lone_deflaters_) {
    if (known.parameters == parameters) return known.deflater.get();
  }
  lone_deflaters_.push_back(
      {parameters, std::make_unique<websocket::Deflater>(&zlib_, parameters, false)});
  return lone_deflaters_.back().deflater.get();
}

websocket::Deflater* WebSocketSession::DeflaterOf(WebSocketState* socket) {
  // A message in several frames needs a deflater that no other WebSocket uses in between.
  if (socket->stands_alone && !socket->is_in_message && socket->deflater == nullptr) {
    return LoneDeflaterOf(socket->parameters);
  }
  if (socket->deflater == nullptr) {
    socket->deflater =
        std::make_unique<websocket::Deflater>(&zlib_, socket->parameters, !socket->stands_alone);
  }
  return socket->deflater.get();
}

bool WebSocketSession::SendCompressed(Connection* connection, const Frame& frame) {
  WatchUnused();
  auto payload = std::make_shared<ByteBuffer>();
  WebSocketState& socket = *connection->websocket;
  if (!DeflaterOf(&socket)->Deflate(frame.payload, frame.is_final, payload.get())) {
    transport_->Close(connection, ENOMEM);
    return false;
  }
  // Only the first frame of a message has the bit for compression.
  SendHeader(connection, frame, frame.opcode != Opcode::kContinuation, payload->size());
  const std::string_view bytes = payload->view();
  if (bytes.empty()) return true;
  output_->SendShared(connection, std::move(payload), bytes, frame.payload.size());
  return true;
}

// -- Broadcasts.

void WebSocketSession::OnBroadcast(Attachment* from, const ReplyRecord& reply) {
  if (reply.type() == records::ReplyType::kBroadcastBlock) return OnBroadcastBlock(from, reply);
  const BroadcastReply wanted = reply.broadcast();
  Broadcast broadcast{Frame(reply.flags(), wanted.payload), nullptr, {}, {}};
  for (size_t i = 0; i < wanted.slots; ++i) {
    Connection* connection = from->slots().Find(wanted.slot(i));
    if (connection != nullptr) BroadcastTo(connection, &broadcast);
  }
}

void WebSocketSession::OnBroadcastBlock(Attachment* from, const ReplyRecord& reply) {
  const BroadcastReply wanted = reply.broadcast();
  const uint32_t id = wanted.block_id;
  LentMemory::View view;
  if (!from->lent().Find(id, &view)) return from->replies().End(kUnknownBlock);
  // The block is returned to JavaScript when the last connection has sent or dropped it.
  std::shared_ptr<const void> block(view.data,
                                    [from, id](const void*) { from->ReturnBlock(id, 0); });
  Broadcast broadcast{Frame(reply.flags(), {reinterpret_cast<const char*>(view.data), view.bytes}),
                      std::move(block),
                      {},
                      {}};
  for (size_t i = 0; i < wanted.slots; ++i) {
    Connection* connection = from->slots().Find(wanted.slot(i));
    if (connection != nullptr) BroadcastTo(connection, &broadcast);
  }
}

void WebSocketSession::BroadcastTo(Connection* connection, Broadcast* broadcast) {
  if (connection->websocket == nullptr) return connection->attachment().replies().End(kNoSocket);
  if (OutputPass::IsBeyondCredit(*connection)) return transport_->Close(connection, ENOBUFS);
  const Frame& frame = broadcast->frame;
  WebSocketState& socket = *connection->websocket;
  bool is_compressed;
  if (!BeginFrame(connection, frame, &is_compressed)) return;
  if (is_compressed) {
    if (!frame.is_final || frame.opcode == Opcode::kContinuation) {
      SendCompressed(connection, frame);
      return;
    }
    const Shared* shared = CompressedFor(socket, broadcast);
    if (shared == nullptr) return transport_->Close(connection, ENOMEM);
    if (socket.deflater != nullptr) socket.deflater->ForgetContext();
    output_->SendShared(connection, shared->owner, shared->bytes, frame.payload.size());
    return;
  }
  if (broadcast->block != nullptr) {
    SendHeader(connection, frame, false, frame.payload.size());
    output_->SendShared(connection, broadcast->block, frame.payload, frame.payload.size());
    return;
  }
  if (broadcast->plain.owner == nullptr) {
    auto framed = Framed(frame.opcode, frame.is_final, false, frame.payload);
    const std::string_view bytes = framed->view();
    broadcast->plain = {std::move(framed), bytes};
  }
  output_->SendShared(connection, broadcast->plain.owner, broadcast->plain.bytes,
                      frame.payload.size());
}

// Returns nullptr if zlib is out of memory.
const WebSocketSession::Shared* WebSocketSession::CompressedFor(const WebSocketState& socket,
                                                                Broadcast* broadcast) {
  for (const Broadcast::Compressed& known : broadcast->compressed) {
    if (known.parameters == socket.parameters) return &known.shared;
  }
  WatchUnused();
  const Frame& frame = broadcast->frame;
  ByteBuffer payload;
  if (!LoneDeflaterOf(socket.parameters)->Deflate(frame.payload, true, &payload)) return nullptr;
  auto framed = Framed(frame.opcode, true, true, payload.view());
  const std::string_view bytes = framed->view();
  broadcast->compressed.push_back({socket.parameters, {std::move(framed), bytes}});
  return &broadcast->compressed.back().shared;
}

}  // namespace httpsys::engine
