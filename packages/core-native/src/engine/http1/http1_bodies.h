#pragma once
// Bodies of HTTP/1.1 requests: those that JavaScript gets, and those that are thrown away.

#include <cstdint>
#include <span>
#include <string_view>

#include "base/block_store.h"
#include "engine/connection/connection.h"
#include "engine/connection/protocol.h"
#include "engine/connection/transport.h"
#include "engine/http1/http1_refusals.h"
#include "engine/requests/exchanges.h"
#include "engine/requests/native_answer.h"
#include "records/record_writer.h"
#include "records/request_queue.h"

namespace httpsys::engine {

// Thread: the lane.
class Http1Bodies {
 public:
  using Advance = Protocol::Advance;

  Http1Bodies(RequestQueue* queue, RecordWriter* records, Transport* transport,
              Exchanges* exchanges, NativeAnswers* answers, Http1Refusals* refusals)
      : queue_(queue),
        records_(records),
        transport_(transport),
        exchanges_(exchanges),
        answers_(answers),
        refusals_(refusals) {}

  // Where the body is received: in a block of its own where there is much left of it. Empty: it
  // waits until JavaScript has consumed what it was given.
  std::span<char> Room(Connection* connection, std::span<char> shared);
  // So many bytes of a block.
  void OnReceived(Connection* connection, size_t bytes);

  Advance ReadLength(Connection* connection, std::string_view input, size_t* used);
  Advance ReadChunked(Connection* connection, std::string_view input, size_t* used);
  Advance SkipLength(Connection* connection, std::string_view input, size_t* used);
  Advance SkipChunked(Connection* connection, std::string_view input, size_t* used);

  // What came of a body with its head: as on Node, no tick runs between the two.
  std::string_view TakeFirstPiece(Connection* connection, std::string_view input, size_t* used);
  // A small chunked body in one piece and without trailers goes into its request's record. Returns
  // false for another one.
  bool DecodeInline(std::string_view input, std::string_view* body, size_t* used);
  // 'clientError' shows a chunked message from its beginning; a body with a length cannot be
  // malformed.
  static void KeepRaw(Connection* connection, std::string_view bytes);

 private:
  uint8_t* BlockMemory();
  void DeliverBlock(Connection* connection, size_t bytes);
  void RefuseChunked(Connection* connection, std::string_view input);

  RequestQueue* queue_;
  RecordWriter* records_;
  Transport* transport_;
  Exchanges* exchanges_;
  NativeAnswers* answers_;
  Http1Refusals* refusals_;
  Block spare_block_;
  ReceiveBlocks::Loan loan_;
};

}  // namespace httpsys::engine
