#pragma once
// What a lane knows of one HTTP/2 connection and of one of its streams. A stream is a Connection
// without a descriptor; what is sent on it goes to the session of its real one.

#include <cstdint>
#include <memory>
#include <string>

#include "base/allowance.h"
#include "base/small_blocks.h"
#include "http2/frame_walker.h"
#include "http2/nghttp2_api.h"
#include "http2/request_fields.h"
#include "http2/response_text.h"
#include "http2/used_streams.h"

namespace httpsys::engine {

struct Connection;
class StreamHandler;

// Thread: the lane. Owned by the Connection.
struct Http2State {
  http2::NgSession* session = nullptr;
  StreamHandler* owner = nullptr;
  Connection* connection = nullptr;
  Connection* first_stream = nullptr;
  uint32_t streams = 0;

  // The field section that is being received.
  std::unique_ptr<http2::RequestFields> fields;
  int continuations = 0;
  http2::FrameWalker walker{http2::kPreface.size()};
  http2::UsedStreams used;
  int32_t last_stream = 0;  // That the peer has opened.

  bool is_dirty = false;    // In the list of those to flush.
  bool is_noticed = false;  // The first GOAWAY of two was sent,
  bool is_last = false;     // and the second one.
  bool is_over = false;     // It closes after its output.
  bool is_failed = false;   // It closes within limits::kLingerMs, its output sent or not.
  bool awaits_ping = false;
  bool awaits_notice = false;  // The PING behind the first GOAWAY.
  bool is_behind = false;      // Flushing has stopped at limits::kHttp2WireBytes.
  http2::ErrorCode failure = http2::kNoError;
  // Of streams that the peer has reset: their heads still wait for the socket.
  size_t abandoned_bytes = 0;
  uint64_t received_ms = 0;
  Allowance resets;
  Allowance idle_frames;
  Allowance errors;

  ~Http2State();
};

// Thread: the lane. Owned by the stream's Connection.
struct Http2Stream : FromSmallBlocks {
  Http2State* state = nullptr;  // nullptr: the session knows nothing of it any more.
  Connection* previous = nullptr;
  Connection* next = nullptr;
  int32_t id = 0;
  // Until the request is told, which waits for what of its body was received with its head; of one
  // that another member answers, until it begins to.
  std::unique_ptr<http2::RequestFields> fields;
  std::string body;
  std::string request_trailers;  // Lines, of a request that is not told here.
  bool is_told = false;
  bool is_parked = false;        // Waits for its owner.
  bool is_head = false;          // No answer has a body.
  bool is_connect = false;       // The bytes are a tunnel's
  bool is_extended = false;      // (RFC 8441).
  bool is_declined = false;      // Answered as any other request.
  bool is_bodiless = false;      // The peer's direction ended with the head.
  bool has_ended = false;        // The peer's direction.
  bool is_end_due = false;       // Its end is told when what came before it is read.
  bool is_hinted = false;        // JavaScript knows that a decision waits for nothing more.
  bool is_answered = false;      // The final head was sent.
  bool is_complete = false;      // Nothing follows what is to be sent.
  bool is_gone = false;          // nghttp2 knows it no more.
  bool is_deferred = false;      // It waits for bytes.
  bool closes = false;           // The request's body is not wanted behind the answer.
  bool ends_connection = false;  // The application has said `Connection: close` in its answer.
  uint32_t unread_bytes = 0;     // Of the peer's window.
  uint32_t head_bytes = 0;       // Of all heads of the response.
  http2::ErrorCode reset_code = http2::kCancel;
  uint64_t queue_end = 0;   // RequestQueue::appended() behind its record.
  size_t piece_offset = 0;  // In the first piece of the current reply pass.
  uint64_t body_bytes = 0;
  std::string trailers;
  http2::ResponseText response;
};

}  // namespace httpsys::engine
