#pragma once
// Reply records that take the place of those of JavaScript.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "engine/cache/entry_answer.h"
#include "http1/request_parser.h"
#include "records/replies.h"

namespace httpsys::engine {

// Makes records with the slot and the end of the ones that they replace. Their texts are valid
// until EndPass(). Thread: the lane.
class SubstituteReplies {
 public:
  // The answer of an entry to a request, in place of a record that has a head.
  ReplyRecord Answer(const ReplyRecord& reply, const UsedEntry& entry,
                     const http1::RequestHead& request, int64_t now_s);
  // The same response with further fields: lines with their ends. `reply` is of type kResponse.
  ReplyRecord WithFields(const ReplyRecord& reply, std::string_view lines);
  // Only the end of a record. The connection closes behind it if `closes`, or if the record says
  // so.
  static ReplyRecord End(const ReplyRecord& reply, bool closes);
  // The records of the pass have been sent, or copied.
  void EndPass() { texts_.clear(); }

 private:
  EntryAnswer answer_;
  std::deque<std::string> texts_;
};

// Returns the head in a record that begins a response, or an empty text: also for a head that the
// application has written itself in several pieces.
[[nodiscard]] std::string_view HeadIn(const ReplyRecord& reply);
// Returns the number of bytes of a record of a response that JavaScript counts.
[[nodiscard]] size_t CountedBytes(const ReplyRecord& reply);

}  // namespace httpsys::engine
