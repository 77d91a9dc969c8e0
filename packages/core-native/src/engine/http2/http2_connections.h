#pragma once
// Frames, timers and ends of HTTP/2 connections as a whole, not of single streams.

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
  Http2Connections& operator=(Http2Connections&&) = delete;

  // Returns the stream with this id; nullptr = unknown or already closed here.
  static Connection* StreamOf(Ng* session, int32_t id);

  // -- Frames.

  // True while nghttp2 reads frames: it must not be asked for output meanwhile.
  void set_receiving(bool is_receiving) { is_receiving_ = is_receiving; }
  bool is_receiving() const { return is_receiving_; }
  // Includes the connection in the next flush. Must not be called within FlushSessions(), where
  // AddDirty() is called instead.
  void MarkDirty(Http2State* state);
  // Adds the session to the list that FlushSessions() handles.
  void AddDirty(Http2State* state);
  // Writes the frames of all sessions that were added.
  void FlushSessions();
  // Makes and writes frames of one session, until it has no more or the socket is full.
  void Flush(Http2State* state);
  void OnOutputDone(Connection* connection);
  // True if the next DATA frame has to wait until the frames made so far are written.
  bool IsWireFull();
  // Appends a DATA frame with `bytes` of a stream's output.
  [[nodiscard]] bool TakeOutput(Connection* stream, const uint8_t* frame_header, size_t bytes);
  // Gives `bytes` of the stream's receive window back to the client, because JavaScript or another
  // member has read them.
  void GiveWindow(Connection* stream, uint32_t bytes);
  // Sends RST_STREAM, and counts it as an error of the client.
  void ResetStream(Http2State* state, int32_t id, http2::ErrorCode code);

  // -- Ends.

  // Ends the connection gracefully: sends the first GOAWAY and a PING. The second GOAWAY follows
  // the PING's ACK, and the connection closes when its streams have ended.
  void Shutdown(Connection* connection);
  // Submits the first GOAWAY and the PING. Returns false if that was done before.
  bool SubmitNotice(Http2State* state);
  // Sends one GOAWAY and closes the connection at once.
  void Close(Connection* connection);
  // Ends the connection because of an error: nothing more is read, and a GOAWAY names the error,
  // which the client must read within limits::kLingerMs.
  void Fail(Http2State* state, http2::ErrorCode code);
  // Counts an error of the client, each of which costs the lane a frame. If there are too many,
  // sets the failure and returns false.
  bool CountError(Http2State* state);
  // True if the client causes too many frames without reading them.
  bool IsUnread(const Http2State* state) const;
  // Must be called when the last stream of the connection has ended.
  void OnNoStreams(Http2State* state);
  // Must be called when the ACK of a PING has arrived.
  void OnPing(Http2State* state);
  // Must be called when the connection closes. FlushSessions() skips it afterwards.
  void OnDetach(Http2State* state);

  // -- Time.

  // Starts the connection's timer: the idle timeout if it has no streams, the PING interval if it
  // has.
  void Watch(Http2State* state);
  void OnTimer(Http2State* state);
  // Called when JavaScript has set the idle timeout.
  void OnIdleTimeout(Connection* connection, uint32_t timeout_ms);
  // Closes a connection whose preface or current field section has not arrived within headers_ns.
  void CheckTimeouts(Connection* connection, uint64_t now_ns, uint64_t headers_ns);

  // -- Memory for field sections.

  std::unique_ptr<http2::RequestFields> TakeFields();
  void ReturnFields(std::unique_ptr<http2::RequestFields> fields);
  // Frees the request that a stream keeps. Afterwards no other owner can get the request.
  void ForgetRequest(Connection* stream);

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
  std::string wire_;  // The frames of the session that is being flushed.
  // The length of wire_ from which on the next DATA frame waits for the next write.
  size_t wire_bytes_ = 0;
  bool is_wire_full_ = false;  // A DATA frame waits for the next write.
  std::vector<std::unique_ptr<http2::RequestFields>> spare_fields_;
};

}  // namespace httpsys::engine
