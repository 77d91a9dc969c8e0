#pragma once
// Connections of HTTP/2 as a whole: frames that are sent, and ways to end.

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/transport.h"
#include "http2/nghttp2_api.h"
#include "http2/request_fields.h"

namespace httpsys::engine {

// Thread: the lane.
class Http2Connections {
 public:
  using Ng = http2::NgSession;

  Http2Connections(uv_loop_t* loop, const http2::NgApi* api, Transport* transport)
      : loop_(loop), api_(api), transport_(transport), output_(transport->output()) {}
  Http2Connections(const Http2Connections&) = delete;
  Http2Connections& operator=(const Http2Connections&) = delete;

  static Connection* StreamOf(Ng* session, int32_t id);

  // -- Frames.

  // nghttp2 must not be asked for output meanwhile.
  void set_receiving(bool is_receiving) { is_receiving_ = is_receiving; }
  bool is_receiving() const { return is_receiving_; }
  // From outside of a flush: the connection has frames to send.
  void MarkDirty(Http2State* state);
  void AddDirty(Http2State* state);
  void FlushSessions();
  // Makes frames as long as the socket takes them.
  void Flush(Http2State* state);
  void OnOutputDone(Connection* connection);
  // True when the next frame has to wait for a write.
  bool IsWireFull();
  // A frame with so much of a stream's output.
  void TakeOutput(Connection* stream, const uint8_t* frame_header, size_t bytes);
  // JavaScript, or another member, has read so much of a stream's body.
  void GiveWindow(Connection* stream, uint32_t bytes);
  void ResetStream(Http2State* state, int32_t id, http2::ErrorCode code);

  // -- Ends.

  // Two GOAWAYs; it closes when its streams have ended.
  void Shutdown(Connection* connection);
  // The first GOAWAY of two. False: it was sent before.
  bool SubmitNotice(Http2State* state);
  // One GOAWAY, now.
  void Close(Connection* connection);
  // Nothing more is read; the peer learns why, if it reads that in time.
  void Fail(Http2State* state, http2::ErrorCode code);
  // What the peer does wrong, which costs a frame each time. False when that is too often.
  bool CountError(Http2State* state);
  // True when the peer makes the lane answer and does not read the answers.
  bool IsUnread(const Http2State* state) const;
  void OnNoStreams(Http2State* state);
  void OnPing(Http2State* state);
  void OnDetach(Http2State* state);

  // -- Time.

  // One timer: idle without streams, PING with them.
  void Watch(Http2State* state);
  void OnTimer(Http2State* state);
  void OnIdleTimeout(Connection* connection, uint32_t timeout_ms);
  // Closes a connection whose head began too long ago, or that never sent one.
  void CheckTimeouts(Connection* connection, uint64_t now_ns, uint64_t headers_ns);

  // -- Memory for field sections.

  std::unique_ptr<http2::RequestFields> TakeFields();
  void ReturnFields(std::unique_ptr<http2::RequestFields> fields);

 private:
  bool MakeFrames(Http2State* state);
  void CloseIfOver(Http2State* state);
  void FinishShutdown(Http2State* state);

  uv_loop_t* loop_;
  const http2::NgApi* api_;
  Transport* transport_;
  OutputPass* output_;
  bool is_receiving_ = false;
  std::vector<Http2State*> dirty_;
  std::string wire_;           // Frames of the session that is being flushed.
  size_t wire_bytes_ = 0;      // As many, and the next one waits.
  bool is_wire_full_ = false;  // One waits.
  std::vector<std::unique_ptr<http2::RequestFields>> spare_fields_;
};

}  // namespace httpsys::engine
