#include "engine/lane_parts.h"

namespace httpsys::engine {

LaneParts::LaneParts(const Wanted& wanted) {
  uv_loop_t* loop = wanted.loop;
  const http1::MethodTable* methods = wanted.methods;
  transport = std::make_unique<Transport>(loop, wanted.load, wanted.ahead, *wanted.post);
  output = transport->output();
  answers = std::make_unique<NativeAnswers>(methods, output);
  input = std::make_unique<Input>(loop, transport.get(), &protocols, answers.get());
  router = std::make_unique<PortRouter>(loop, wanted.member_id, methods, wanted.attachments,
                                        &servers, wanted.statistics, &patience, transport.get(),
                                        input.get(), *wanted.on_doubt);
  handshakes = std::make_unique<TlsHandshakes>(transport.get(), router.get(), answers.get());
  gate = std::make_unique<RequestGate>(methods, &clock);
  exchanges = std::make_unique<Exchanges>(transport.get(), router.get());
  statics = std::make_unique<StaticRequests>(methods, answers.get(), input.get(), wanted.ahead,
                                             *wanted.post);
  waiting_misses = std::make_unique<WaitingMisses>(
      loop, input.get(), output, &wanted.cache->asking_lanes().for_missing,
      &wanted.cache->asking_lanes().storable, *wanted.post);
  refreshes = std::make_unique<Refreshes>(loop, wanted.cache, methods, &servers, transport.get(),
                                          input.get(), waiting_misses.get(), *wanted.post);
  captures = std::make_unique<Captures>(wanted.cache, waiting_misses.get(), output);
  cached =
      std::make_unique<CachedAnswers>(wanted.cache, methods, answers.get(), captures.get(),
                                      waiting_misses.get(), refreshes.get(), wanted.compressor);
  websockets =
      std::make_unique<WebSocketSession>(loop, wanted.pool->get(), transport.get(), input.get());
  upgraded = std::make_unique<UpgradedSession>(transport.get(), input.get());
  pipeline = std::make_unique<RequestPipeline>(router.get(), output->throttle(), gate.get(),
                                               answers.get(), statics.get(), cached.get(), &clock);
  http2 = std::make_unique<Http2Session>(loop, methods, transport.get(), input.get(), router.get(),
                                         answers.get(), pipeline.get());
  http1 = std::make_unique<Http1Session>(methods, transport.get(), input.get(), router.get(),
                                         http2.get(), answers.get(), exchanges.get(),
                                         pipeline.get(), &clock);
  relay_input =
      std::make_unique<RelayInput>(methods, transport.get(), input.get(), router.get(),
                                   exchanges.get(), answers.get(), http1->writer(), http1.get());
  for (const InputPhase phase :
       {InputPhase::kHead, InputPhase::kBodyLength, InputPhase::kBodyChunked,
        InputPhase::kSkipLength, InputPhase::kSkipChunked, InputPhase::kAwaitUpgrade,
        InputPhase::kAfterClose, InputPhase::kRefused, InputPhase::kOver}) {
    protocols.Set(phase, http1.get());
  }
  for (const InputPhase phase : {InputPhase::kRelayLength, InputPhase::kRelayChunked,
                                 InputPhase::kRelayUpgrade, InputPhase::kRelayOpaque}) {
    protocols.Set(phase, relay_input.get());
  }
  protocols.Set(InputPhase::kUndecided, upgraded.get());
  protocols.Set(InputPhase::kOpaque, upgraded.get());
  protocols.Set(InputPhase::kWebSocket, websockets.get());
  protocols.Set(InputPhase::kHttp2, http2.get());
  expiry = std::make_unique<QueueExpiry>(wanted.attachments, input.get(), answers.get(),
                                         http1->writer(), http2->writer(), captures.get());
  router->Start(exchanges.get(), answers.get(), relay_input.get(), http2->relayed());
  foreign = std::make_unique<ForeignAnswers>(wanted.arenas, methods, answers.get());
  gifts =
      std::make_unique<ArenaGifts>(loop, wanted.cache, &servers, &router->links(), *wanted.post);
  arena_links =
      std::make_unique<ArenaLinks>(loop, wanted.member_id, wanted.arenas, wanted.cache, &servers);
  router->links().set_cache_askers(gifts.get());
  router->caches().Start(foreign.get());
  reclaim = std::make_unique<RequestReclaim>(loop, wanted.attachments, &patience, router.get(),
                                             input.get(), http2->unbegun(), captures.get());
  processor =
      std::make_unique<ReplyProcessor>(wanted.attachments, transport.get(), &protocols, http1.get(),
                                       http2.get(), websockets.get(), captures.get());
  publisher = std::make_unique<RecordPublisher>(loop, wanted.attachments, transport.get(),
                                                input.get(), router.get());
  transport->set_stream_handler(http2.get());
  transport->set_input_handler(wanted.handler);
}

void LaneParts::Close() {
  transport->Shutdown();
  reclaim->Close();
  gifts->Close();
  arena_links->Close();
  router->Close();
  websockets->Close();
  publisher->Close();
  waiting_misses->Close();
  refreshes->Close();
}

}  // namespace httpsys::engine
