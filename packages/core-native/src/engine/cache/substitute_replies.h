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
  // Returns the answer of an entry to a request, in place of a record that has a head. `keep_alive`
  // has the header lines, each with its CRLF, for a connection that stays open.
  ReplyRecord Answer(const ReplyRecord& reply, const UsedEntry& entry,
                     const http1::RequestHead& request, std::string_view keep_alive, int64_t now_s);
  // Returns the record with further header lines (each with its CRLF) in its head. `head_bytes` is
  // the length of the head, which is response().head or the beginning of the bytes of a kData.
  ReplyRecord WithFields(const ReplyRecord& reply, size_t head_bytes, std::string_view lines);
  // Returns a record with the head with which a kBlock record begins, and with further header
  // lines.
  ReplyRecord HeadOfBlock(const ReplyRecord& reply, std::string_view head, std::string_view lines);
  // Returns a record that only ends the response. The connection closes behind it if `closes`, or
  // if `reply` says so.
  static ReplyRecord End(const ReplyRecord& reply, bool closes);
  // Must be called when the records of the pass were sent or copied; frees their texts.
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
  // True if the text consists of whole 1xx heads: the final head is still to come.
  bool is_interim = false;
};

// Looks for the final head in the text that begins a response, behind any 1xx heads. Does not find
// a head that the application itself has written in several pieces, nor a head behind a 101.
[[nodiscard]] FoundHead FindHead(std::string_view text);
// Returns the number of bytes of a record of a response that JavaScript counts.
[[nodiscard]] size_t CountedBytes(const ReplyRecord& reply);

}  // namespace httpsys::engine
