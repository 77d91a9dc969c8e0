#pragma once
// The parts of a lane that handle its connections.

#include <uv.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/block_store.h"
#include "engine/cache/cached_answers.h"
#include "engine/cache/captures.h"
#include "engine/cache/process_cache.h"
#include "engine/cache/waiting_misses.h"
#include "engine/connection/attachment.h"
#include "engine/connection/connection_timers.h"
#include "engine/connection/input.h"
#include "engine/connection/protocol.h"
#include "engine/connection/transport.h"
#include "engine/http1/http1_session.h"
#include "engine/http2/http2_session.h"
#include "engine/peers/port_router.h"
#include "engine/peers/port_statistics.h"
#include "engine/peers/relay_input.h"
#include "engine/peers/request_reclaim.h"
#include "engine/pipeline/request_pipeline.h"
#include "engine/record_publisher.h"
#include "engine/reply_processor.h"
#include "engine/requests/exchanges.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/queue_expiry.h"
#include "engine/requests/request_gate.h"
#include "engine/requests/static_requests.h"
#include "engine/shared_cache/arena_gifts.h"
#include "engine/shared_cache/arena_links.h"
#include "engine/shared_cache/foreign_answers.h"
#include "engine/shared_cache/foreign_arenas.h"
#include "engine/tls/tls_handshakes.h"
#include "engine/upgraded/upgraded_session.h"
#include "engine/websocket/websocket_session.h"
#include "http1/method_table.h"

namespace httpsys::engine {

// Makes and holds the parts of one lane. Thread: the lane.
struct LaneParts {
  // Arguments for making the parts. All pointers must outlive the parts.
  struct Wanted {
    uv_loop_t* loop;
    const Attachments* attachments;
    InputHandler* handler;
    std::atomic<uint32_t>* load;  // As in Transport.
    const std::shared_ptr<BlockPool>* pool;
    const http1::MethodTable* methods;
    uint64_t member_id;
    PortStatistics* statistics;
    const std::function<void(uint16_t port)>* on_doubt;  // As in PortRouter.
    files::ReadAhead* ahead;
    const FileOutput::Post* post;  // As in FileOutput.
    ProcessCache* cache;
    Compressor* compressor;
    ForeignArenas* arenas;
  };

  // Makes the parts in order: first parts that read and write sockets, last parts that speak
  // protocols.
  explicit LaneParts(const Wanted& wanted);
  LaneParts(const LaneParts&) = delete;
  LaneParts& operator=(const LaneParts&) = delete;

  // Closes every connection. Must be called before the loop is closed.
  void Close();

  // Destroyed after the transport, whose queues may hold output that refers to the session.
  std::unique_ptr<WebSocketSession> websockets;
  std::unique_ptr<Transport> transport;
  OutputPass* output = nullptr;  // Owned by the transport.
  std::unique_ptr<TlsHandshakes> handshakes;
  PassClock clock;
  std::unique_ptr<NativeAnswers> answers;
  std::unique_ptr<RequestGate> gate;
  Protocols protocols;
  std::unique_ptr<Input> input;
  std::unique_ptr<Exchanges> exchanges;
  std::unique_ptr<StaticRequests> statics;
  std::unique_ptr<WaitingMisses> waiting_misses;
  std::unique_ptr<Refreshes> refreshes;
  std::unique_ptr<Captures> captures;
  std::unique_ptr<CachedAnswers> cached;
  std::unique_ptr<RequestPipeline> pipeline;
  std::unique_ptr<Http1Session> http1;
  std::unique_ptr<UpgradedSession> upgraded;
  std::unique_ptr<RelayInput> relay_input;
  std::unique_ptr<Http2Session> http2;
  std::unique_ptr<QueueExpiry> expiry;
  std::unique_ptr<ReplyProcessor> processor;
  LanePatience patience;
  std::unique_ptr<PortRouter> router;
  std::unique_ptr<ForeignAnswers> foreign;
  std::unique_ptr<ArenaGifts> gifts;
  std::unique_ptr<ArenaLinks> arena_links;
  std::unique_ptr<RequestReclaim> reclaim;
  std::unique_ptr<RecordPublisher> publisher;
  LaneServers servers;
};

}  // namespace httpsys::engine
