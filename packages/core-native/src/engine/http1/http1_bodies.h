#pragma once
// Reads the bodies of HTTP/1.1 requests, for JavaScript or to discard them.

#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/block_store.h"
#include "engine/connection/connection.h"
#include "engine/connection/protocol.h"
#include "engine/connection/transport.h"
#include "engine/http1/http1_answers.h"
#include "engine/requests/exchanges.h"
#include "engine/requests/native_answer.h"
#include "records/record_writer.h"
#include "records/request_queue.h"

namespace httpsys::engine {

// Thread: the lane.
class Http1Bodies {
 public:
  using Advance = Protocol::Advance;

  Http1Bodies(Transport* transport, Exchanges* exchanges, NativeAnswers* answers,
              Http1Answers* refusals)
      : transport_(transport), exchanges_(exchanges), answers_(answers), http1_answers_(refusals) {}

  // Returns the memory for the next bytes of a body: a block if much of the body is left, otherwise
  // a part of `shared`. If JavaScript must first consume bytes or lend blocks, pauses the
  // connection and returns an empty span.
  std::span<char> Room(Connection* connection, std::span<char> shared);
  // Fills `rooms` with further blocks for the same read; see Protocol::MoreRoom().
  static size_t MoreRoom(Connection* connection, std::span<iovec> rooms);
  // Gives JavaScript the bytes that were received into blocks.
  void OnReceived(Connection* connection, size_t bytes);

  Advance ReadLength(Connection* connection, std::string_view input, size_t* used);
  Advance ReadChunked(Connection* connection, std::string_view input, size_t* used);
  // Reads and discards a body whose request was answered without JavaScript.
  Advance SkipLength(Connection* connection, std::string_view input, size_t* used);
  Advance SkipChunked(Connection* connection, std::string_view input, size_t* used);

  // Returns the part of a body that arrived with its head, for the request's record: on Node, no
  // tick runs between a head and a body that arrived with it.
  std::string_view TakeFirstPiece(Connection* connection, std::string_view input, size_t* used);
  // Decodes a small chunked body that is complete in `input` and has one chunk and no trailers, for
  // the request's record. Returns false for any other body.
  bool DecodeInline(std::string_view input, std::string_view* body, size_t* used);
  // Returns text that brings a parser into the current position of a chunked body: a head and the
  // beginning of a chunk. Returns "" if no chunked body is being read.
  static std::string Position(const Connection& connection);

 private:
  char* BlockMemory(Connection* connection, uint64_t allowed);
  void DeliverLent(Connection* connection, size_t bytes);
  void DeliverOwn(Connection* connection, size_t bytes);
  void RefuseChunked(Connection* connection, std::string_view input, size_t position);

  Transport* transport_;
  Exchanges* exchanges_;
  NativeAnswers* answers_;
  Http1Answers* http1_answers_;
  Block spare_block_;
};

}  // namespace httpsys::engine
