#pragma once
// The states of protocols: of an HTTP/2 connection, of one of its streams, and of a WebSocket. A
// stream is a Connection without a descriptor; its output goes through the nghttp2 session of the
// connection that carries it.

#include <cstdint>
#include <memory>
#include <string>

#include "base/limits.h"
#include "base/rate_bucket.h"
#include "base/small_blocks.h"
#include "http2/frame_walker.h"
#include "http2/nghttp2_api.h"
#include "http2/request_fields.h"
#include "http2/response_text.h"
#include "http2/used_streams.h"
#include "websocket/message_deflate.h"
#include "websocket/message_reader.h"

namespace httpsys::engine {

struct Connection;
class StreamHandler;

// The HTTP/2 part of a connection. Thread: the lane. Owned by the Connection.
struct Http2State {
  http2::NgSession* session = nullptr;
  StreamHandler* owner = nullptr;
  Connection* connection = nullptr;
  Connection* first_stream = nullptr;
  uint32_t streams = 0;
  int32_t window_bytes = 0;  // The receive window of each new stream, by our settings.

  // The field section that is being received; nullptr = none.
  std::unique_ptr<http2::RequestFields> fields;
  int continuations = 0;
  http2::FrameWalker walker{http2::kPreface.size()};
  http2::UsedStreams used;
  int32_t last_stream = 0;  // The highest stream id that the client has opened.

  bool is_dirty = false;    // The session is in Http2Connections' list of sessions to flush.
  bool is_settled = false;  // The client has acknowledged the settings.
  bool is_noticed = false;  // The first of the two GOAWAY frames was submitted.
  bool is_last = false;     // The second GOAWAY frame was submitted.
  bool is_over = false;     // Input is ignored, and the connection closes after its output.
  // The connection closes within limits::kLingerMs, even if output is left.
  bool is_failed = false;
  // A PING that tests whether the client is alive has no ACK yet.
  bool awaits_ping = false;
  bool awaits_notice = false;  // The PING sent behind the first GOAWAY has no ACK yet.
  // The socket did not take all frames: the session is flushed again when the output queue is
  // empty.
  bool is_behind = false;
  // The error for which the connection must end; kNoError = none. Set by callbacks and acted on
  // after the read.
  http2::ErrorCode failure = http2::kNoError;
  // The bytes of response heads of streams that ended with an error while frames were read. The
  // heads may still wait for the socket.
  size_t abandoned_bytes = 0;
  // The time at which bytes were received last, on the loop's clock.
  uint64_t received_ms = 0;
  // Budgets against floods of the client: resets, frames without effect, errors.
  Allowance resets;
  Allowance idle_frames;
  Allowance errors;

  ~Http2State() {
    if (session != nullptr) http2::NgApi::Get()->session_del(session);
  }
};

// How fast JavaScript consumes a stream's body. Only StreamWindows writes it.
struct StreamWindow {
  // Bytes that JavaScript has yet to consume before StreamWindows judges the stream.
  int32_t bytes_left = limits::kReceiveWindowBytes;
  // When the count of bytes_left began: the lowest bits of the loop's clock in ms.
  uint16_t since_ms = 0;
  // The stream has the extra window: it is one of the limits::kReceiveExtraMax of the lane.
  bool is_large = false;
};

// The HTTP/2 part of a stream. Thread: the lane. Owned by the stream's Connection.
struct Http2Stream : FromSmallBlocks {
  Http2State* state = nullptr;  // nullptr once the stream is detached from its connection.
  Connection* previous = nullptr;
  Connection* next = nullptr;
  int32_t id = 0;
  // The request's fields and the body bytes received so far. Kept until JavaScript gets the
  // request; if another member answers the request or could answer it (is_movable), until the
  // answer begins.
  std::unique_ptr<http2::RequestFields> fields;
  std::string body;
  std::string request_trailers;  // Trailer lines of a request that is waiting or relayed.
  bool is_told = false;
  // Another owner of the queue could still get the request: it is kept whole.
  bool is_movable = false;
  bool is_parked = false;    // The request waits for its owner, in WaitingRequests or parked.
  bool is_head = false;      // The method is HEAD: no answer has a body.
  bool is_connect = false;   // The method is CONNECT: the bytes belong to a tunnel.
  bool is_extended = false;  // The request is an extended CONNECT (RFC 8441).
  // JavaScript has declined the tunnel and answers with an ordinary response.
  bool is_declined = false;
  bool is_bodiless = false;  // END_STREAM came with the head.
  bool has_ended = false;    // The client has ended its direction.
  // JavaScript must still learn of the end of the tunnel's input, after the bytes before the end.
  bool is_end_due = false;
  // JavaScript knows that nothing follows the bytes kept for an undecided upgrade.
  bool is_hinted = false;
  bool is_answered = false;  // The final (not 1xx) response head was submitted.
  bool is_complete = false;  // The response is complete: nothing follows the output that is queued.
  bool is_gone = false;      // nghttp2 has closed the stream.
  // nghttp2 waits for Http2Responses::Resume() before it asks for more output.
  bool is_deferred = false;
  // If the request's body has not ended, the stream is reset after the answer.
  bool closes = false;
  // The application's answer had `Connection: close`: a GOAWAY follows it.
  bool ends_connection = false;
  // Bytes of the receive window that have not been given back to the client.
  uint32_t unread_bytes = 0;
  StreamWindow window;
  uint32_t head_bytes = 0;  // The bytes of all response heads, 1xx included.
  http2::ErrorCode reset_code = http2::kCancel;
  // Position behind the request's record (RequestQueue::appended()); 0 = JavaScript does not have
  // the request.
  uint64_t queue_end = 0;
  // Bytes of the first piece of the current reply pass that have been sent.
  size_t piece_offset = 0;
  // The bytes of the request's body received so far.
  uint64_t body_bytes = 0;
  // Trailer lines of the response.
  std::string trailers;
  http2::ResponseText response;
};

// The WebSocket part of a connection. Thread: the lane. Freed with its connection, so never during
// a call that uses its reader. Kept small, because there are many WebSockets and most are idle.
struct WebSocketState {
  // Decompresses received messages; nullptr without permessage-deflate.
  std::unique_ptr<websocket::Inflater> inflater;
  // Compresses sent messages. Made for the first message that needs it: with context takeover any
  // compressed message, otherwise a compressed message in several frames. Other messages use a
  // deflater of the lane.
  std::unique_ptr<websocket::Deflater> deflater;
  // Reads messages. Set only within a message, and after the last message.
  std::unique_ptr<websocket::MessageReader> reader;
  websocket::ReaderOptions options;
  websocket::ZlibParameters parameters;  // The parameters for the deflater.
  // Without context takeover, only messages of at least this many bytes are compressed.
  uint32_t threshold = 0;
  uint32_t pongs_max = 0;  // The number of pongs that may wait for the socket; 0 = no limit.
  // True if outgoing messages may be compressed.
  bool deflates : 1 = false;
  bool stands_alone : 1 = false;  // server_no_context_takeover was negotiated.
  bool answers_pings : 1 = false;
  bool is_close_sent : 1 = false;
  // The last data frame sent had no kFrameFin: its message is not complete.
  bool is_in_message : 1 = false;
  bool is_compressing : 1 = false;  // The message that is being sent is compressed.
};

// Limits the memory of an idle WebSocket: glibc's malloc() takes 64 bytes for 56.
static_assert(sizeof(WebSocketState) <= 56);

}  // namespace httpsys::engine
