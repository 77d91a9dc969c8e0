#pragma once
// Reply records that replace records of JavaScript.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "engine/cache/entry_answer.h"
#include "http1/request_parser.h"
#include "records/replies.h"

namespace httpsys::engine {

// Makes records with the slot and end flags of the records that they replace. The texts of the new
// records are valid until EndPass(). Thread: the lane.
class SubstituteReplies {
 public:
  // Returns the answer of an entry to a request, instead of a record that has a head. `keep_alive`
  // has the header lines, each with its CRLF, for a connection that stays open.
  ReplyRecord Answer(const ReplyRecord& reply, const UsedEntry& entry,
                     const http1::RequestHead& request, std::string_view keep_alive, int64_t now_s);
  // Returns the record with further header lines (each with its CRLF) in its head. `head_bytes` is
  // the length of the head, which is response().head or the beginning of the bytes of a kData.
  ReplyRecord WithFields(const ReplyRecord& reply, size_t head_bytes, std::string_view lines);
  // Returns a record with the head at the beginning of a kBlock record, plus header lines.
  ReplyRecord HeadOfBlock(const ReplyRecord& reply, std::string_view head, std::string_view lines);
  // Returns a record that only ends the response; also the connection if `closes` or `reply` does.
  static ReplyRecord End(const ReplyRecord& reply, bool closes);
  // Must be called when the records of the pass were sent or copied. Frees their texts.
  void EndPass() { texts_.clear(); }

 private:
  EntryAnswer answer_;
  std::deque<std::string> texts_;
};

// Result of FindHead().
struct FoundHead {
  // The final head, with its blank line; empty if the text has none.
  std::string_view head;
  size_t end = 0;  // Offset in the text of the first byte behind the head.
  // True if the text consists of whole 1xx heads: the final head will follow.
  bool is_interim = false;
};

// Looks for the final head in the text that begins a response, behind any 1xx heads. Does not find
// a head that the application has written in several pieces, nor a head behind a 101.
[[nodiscard]] FoundHead FindHead(std::string_view text);
// Returns how many bytes of a response's record JavaScript counts.
[[nodiscard]] size_t CountedBytes(const ReplyRecord& reply);

}  // namespace httpsys::engine
