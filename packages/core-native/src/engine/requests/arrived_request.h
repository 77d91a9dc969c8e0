#pragma once
// A request whose head has been read, in the form that is the same for all protocols.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/connection/connection.h"
#include "engine/requests/native_answer.h"
#include "http1/request_parser.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// The views of this struct are valid until the protocol reads more input. Thread: the lane.
struct ArrivedRequest {
  AnswerWriter* writer;    // Writes answers in the client's protocol.
  Connection* connection;  // The connection of HTTP/1.1, or the stream of HTTP/2.
  const http1::RequestHead& head;
  size_t head_bytes;
  // The received bytes, which begin with the head. Empty for a stream.
  std::string_view input = {};
  // The number of the head as in RequestParser::number(); 0 = unknown.
  uint64_t head_number = 0;

  // -- Members that RequestPipeline sets.

  // The prefix that the request is for.
  Route route{RouteStatus::kMatch, 0};
  // True if the connection ends after an answer of the lane. Always false for a stream.
  bool closes = false;
};

}  // namespace httpsys::engine
