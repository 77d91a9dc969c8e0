#pragma once
// Receives requests on streams of HTTP/2, and hands them to JavaScript or another member.

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/transport.h"
#include "engine/http2/http2_connections.h"
#include "engine/http2/http2_relays.h"
#include "engine/http2/http2_responses.h"
#include "engine/http2/stream_windows.h"
#include "engine/pipeline/request_pipeline.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/request_router.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"
#include "http2/nghttp2_api.h"
#include "records/replies.h"

namespace httpsys::engine {

// Thread: the lane.
class Http2Requests final : public AnswerWriter, public RelayedStreams, public UnbegunStreams {
 public:
  using Frame = http2::NgFrameHeader;

  Http2Requests(uv_loop_t* loop, const http2::NgApi* api, const http1::MethodTable* methods,
                Transport* transport, Input* input, RequestPipeline* pipeline,
                NativeAnswers* answers, Http2Connections* connections, Http2Responses* responses,
                Http2Relays* relays)
      : loop_(loop),
        api_(api),
        methods_(methods),
        head_method_(methods->Find("HEAD")),
        transport_(transport),
        output_(transport->output()),
        input_(input),
        pipeline_(pipeline),
        answers_(answers),
        connections_(connections),
        responses_(responses),
        relays_(relays) {}
  Http2Requests(const Http2Requests&) = delete;
  Http2Requests& operator=(const Http2Requests&) = delete;

  // -- Received requests.

  // Handles a complete field section: a request's head, or its trailers.
  void OnSection(Http2State* state, const Frame& frame);
  // Passes the requests that began in the bytes just read to their owners, with the body bytes that
  // came along.
  void TellBegun();
  // Handles a received piece of a request's body or of a tunnel.
  void OnBodyPiece(Connection* connection, std::string_view piece);
  // Called when the client has ended its direction of the stream.
  void OnPeerEnd(Connection* connection);
  // Called when the reasons to pause the stream's input have changed. Gives window back, reports
  // the end of the input if that is due, or looks for the owner of a parked request again.
  void OnPausesChanged(Connection* connection);
  // Refuses the request of a stream if its body began too long ago.
  void CheckStreamTimeouts(Connection* connection, uint64_t now_ns, uint64_t request_ns);
  void OnDetach(Connection* connection);

  // -- Decisions of JavaScript.

  void OnWindow(Connection* connection, uint32_t bytes);
  void OnUpgradeDecline(Connection* connection);
  // Called when JavaScript refuses the body of the request: the rest of the body is discarded.
  void OnRefuseBody(Connection* connection, const ReplyRecord& reply);

  // -- AnswerWriter.

  bool IsTurn(const Connection& connection) const override {
    (void)connection;
    return true;  // Streams have no order.
  }
  void WriteAnswer(Connection* connection, const NativeAnswer& answer) override;
  void ResetRequest(Connection* connection, bool may_retry) override;

  // -- RelayedStreams.

  bool BeginRelay(Connection* stream, uint64_t member, const http1::RequestHead& head) override {
    return relays_->Begin(stream, member, head);
  }
  void OnRelayedBytes(Connection* stream, std::string_view bytes) override {
    relays_->OnRelayedBytes(stream, bytes);
  }
  void OnRelayedAnswer(Connection* stream, bool closes) override {
    responses_->OnEnd(stream, false, closes);
  }
  void OnRelayedEnd(Connection* stream) override { responses_->OnEnd(stream, true, false); }
  void OnRelayedUpgrade(Connection* stream, bool is_accepted) override {
    relays_->OnRelayedUpgrade(stream, is_accepted);
  }
  void OnRelayEnded(Connection* stream, bool is_answer_due) override {
    relays_->OnRelayEnded(stream, is_answer_due);
  }
  void OnRelayClosed(Connection* stream) override { responses_->OnDestroy(stream); }
  void OnRelayFailed(Connection* stream, bool is_begun) override;
  void OnRelayDrained(Connection* stream) override { OnPausesChanged(stream); }
  bool CanTakeBack(const Connection* stream) const override {
    return stream->stream->fields != nullptr && IsRelayed(stream->phase());
  }
  void TakeBack(Connection* stream) override;
  bool IsWhole(const Connection* stream) const override {
    return stream->stream->has_ended && stream->stream->is_complete;
  }

  // -- UnbegunStreams.

  bool CanWithdraw(const Connection* stream) const override;
  void Withdraw(Connection* stream) override;

 private:
  // Opens a stream with the field section that was just received. `has_ended`: the frame had
  // END_STREAM.
  void OpenStream(Http2State* state, int32_t id, bool has_ended);
  void OnRequestTrailers(Connection* stream);
  // Finds the owner of the request and passes the request on, or answers it.
  void Tell(Connection* stream);
  void HandleHead(Connection* stream, const http2::RequestFields& fields);
  void Deliver(ArrivedRequest* request);
  void RefuseBody(Connection* stream);
  void EndOfInput(Connection* stream);
  void RefuseStream(Connection* stream, records::ErrorKind kind);
  void Park(Connection* stream, PauseReason reason);

  uv_loop_t* loop_;
  const http2::NgApi* api_;
  const http1::MethodTable* methods_;
  const int head_method_;
  Transport* transport_;
  OutputPass* output_;
  Input* input_;
  RequestPipeline* pipeline_;
  NativeAnswers* answers_;
  Http2Connections* connections_;
  Http2Responses* responses_;
  Http2Relays* relays_;
  StreamWindows windows_;
  // Streams whose requests TellBegun() passes on, in the order in which they were opened.
  std::deque<Connection*> begun_;
  std::vector<http1::HeaderLine> trailers_;
};

}  // namespace httpsys::engine
