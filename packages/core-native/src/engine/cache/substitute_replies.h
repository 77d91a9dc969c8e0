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
  // The answer of an entry to a request, in place of a record that has a head. `keep_alive` is what
  // the head says of a connection that stays open: lines with their ends.
  ReplyRecord Answer(const ReplyRecord& reply, const UsedEntry& entry,
                     const http1::RequestHead& request, std::string_view keep_alive, int64_t now_s);
  // The same record with further fields, lines with their ends, in its head, of which `head_bytes`
  // is the end: that in response().head, or in the bytes of a kData.
  ReplyRecord WithFields(const ReplyRecord& reply, size_t head_bytes, std::string_view lines);
  // A record for the head with which a record of type kBlock begins, with further fields.
  ReplyRecord HeadOfBlock(const ReplyRecord& reply, std::string_view head, std::string_view lines);
  // Only the end of a record. The connection closes behind it if `closes`, or if the record says
  // so.
  static ReplyRecord End(const ReplyRecord& reply, bool closes);
  // The records of the pass have been sent, or copied.
  void EndPass() { texts_.clear(); }

 private:
  EntryAnswer answer_;
  std::deque<std::string> texts_;
};

// The final head with which a text of the application begins, if the text has one.
struct FoundHead {
  // The final head, with its blank line; empty if the text has none.
  std::string_view head;
  size_t end = 0;  // Offset of the first byte behind the head, in the text.
  // The text has whole heads of 1xx and nothing else, so that the final one is still to come.
  bool is_interim = false;
};

// Looks for the final head in the text that begins a response, behind heads of 1xx. Finds none that
// the application has written itself in several pieces, and none behind a 101.
[[nodiscard]] FoundHead FindHead(std::string_view text);
// Returns the number of bytes of a record of a response that JavaScript counts.
[[nodiscard]] size_t CountedBytes(const ReplyRecord& reply);

}  // namespace httpsys::engine
