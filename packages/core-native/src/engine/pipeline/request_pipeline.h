#pragma once
// The way of a request from its head to an answer of the lane or to JavaScript, whatever its
// protocol.

#include <cstdint>
#include <string_view>

#include "engine/cache/cached_answers.h"
#include "engine/connection/connection_timers.h"
#include "engine/connection/throttle.h"
#include "engine/requests/arrived_request.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/request_gate.h"
#include "engine/requests/request_router.h"
#include "engine/requests/static_requests.h"
#include "records/record_writer.h"

namespace httpsys::engine {

// Decides in this order: owner of the URL, size of the body, the server's other limits, static
// file, output cache, queue of JavaScript, memory of JavaScript. Protocols read and frame the
// bytes, and do what Take() returns. Thread: the lane.
class RequestPipeline {
 public:
  // The next step of the protocol.
  enum class Next : uint8_t {
    kDeliver,     // Give the request to JavaScript, by BeginRecord() and Deliver().
    kAnswered,    // Nothing: the lane has answered or reset the request.
    kTooLarge,    // Refuse the body (413).
    kWaitTurn,    // Pause with kPauseOrder, and call Take() again when that ends.
    kWaitMemory,  // Pause with kPauseMemory, and call Take() again when that ends.
    kRelayed,     // Send the body to another member: the head was sent.
    kGone,        // Nothing: another member has the connection, or it was closed.
  };

  RequestPipeline(RequestRouter* router, Throttle* throttle, RequestGate* gate,
                  NativeAnswers* answers, StaticRequests* statics, CachedAnswers* cached,
                  PassClock* clock)
      : router_(router),
        throttle_(throttle),
        gate_(gate),
        answers_(answers),
        statics_(statics),
        cached_(cached),
        clock_(clock) {}
  RequestPipeline(const RequestPipeline&) = delete;
  RequestPipeline& operator=(const RequestPipeline&) = delete;

  // Decides the next step and sets the request's route. Also called again for a request that has
  // waited.
  Next Take(ArrivedRequest* request);
  // Counts a request for which Take() has returned kDeliver, and returns its record without a body.
  // Deliver() must follow before the next Take().
  RecordWriter::Request BeginRecord(const ArrivedRequest& request);
  // Writes the record. `whole` is the request as received if another owner of the queue may get it
  // (Route::has_others); empty for a stream.
  void Deliver(const ArrivedRequest& request, const RecordWriter::Request& record,
               std::string_view whole);

 private:
  bool MayKeepAlive(const ArrivedRequest& request) const;
  Next AnswerUnserved(ArrivedRequest* request, RouteStatus status);

  RequestRouter* router_;
  Throttle* throttle_;
  RequestGate* gate_;
  NativeAnswers* answers_;
  StaticRequests* statics_;
  CachedAnswers* cached_;
  PassClock* clock_;
};

}  // namespace httpsys::engine
