#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/cache/entry_answer.h"
#include "engine/cache/shared_bodies.h"
#include "engine/requests/native_answer.h"

namespace httpsys::engine {

// Sends an answer that was made of a stored response of this process or of another one. `shared`
// keeps the pieces that are parts of it; nullptr = all pieces are copied. Thread: the lane.
inline AnswerOutcome SendEntry(NativeAnswers* answers, AnswerWriter* writer, Connection* connection,
                               const AskedEntry& asked, const EntryAnswer& made,
                               const std::shared_ptr<const std::string>& shared) {
  NativeAnswer answer;
  answer.counter = LaneCounter::kCached;
  answer.status = made.status();
  answer.head = made.head();
  answer.closes = asked.closes;
  std::array<NativeAnswer::Piece, EntryAnswer::kPiecesMax> pieces;
  size_t count = 0;
  for (const std::string_view bytes : made.pieces()) {
    pieces[count++] = SharedBodies::PieceOf(shared, bytes);
  }
  answer.pieces = std::span(pieces).first(count);
  return answers->Answer(writer, connection, asked.request, answer);
}

}  // namespace httpsys::engine
