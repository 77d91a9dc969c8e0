#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/cache/entry_answer.h"
#include "engine/cache/shared_bodies.h"
#include "engine/requests/native_answer.h"

namespace httpsys::engine {

// Sends an answer that was made from a stored response of this process or of another one. `bodies`
// keeps the part of the body that the client does not take at once. Thread: the lane.
inline AnswerOutcome SendEntry(NativeAnswers* answers, AnswerWriter* writer, Connection* connection,
                               const AskedEntry& asked, const EntryAnswer& made,
                               SharedBodies* bodies) {
  NativeAnswer answer;
  answer.counter = LaneCounter::kCached;
  answer.status = made.status();
  answer.head = made.head();
  answer.is_own_error = made.is_own_error();
  answer.closes = asked.closes;
  const std::span<const std::string_view> parts = made.pieces();
  if (parts.size() <= 1) {
    const NativeAnswer::Piece body =
        parts.empty() ? NativeAnswer::Piece() : bodies->PieceOf(parts.front());
    answer.pieces = {&body, parts.size()};
    return answers->Answer(writer, connection, asked.request, answer);
  }
  std::vector<NativeAnswer::Piece> pieces;
  pieces.reserve(parts.size());
  for (const std::string_view bytes : parts) {
    pieces.push_back(bodies->PieceOf(bytes));
  }
  answer.pieces = pieces;
  return answers->Answer(writer, connection, asked.request, answer);
}

}  // namespace httpsys::engine
