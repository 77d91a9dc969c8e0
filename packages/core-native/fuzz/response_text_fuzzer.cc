// Input: how to cut (1 byte), what a response begins with (1 byte), text. Traps when a promise of
// response_text.h is broken, above all when pieces make a difference.

#include <string>

#include "http2/response_fields.h"
#include "http2/response_text.h"
#include "pieces.h"

namespace {

using httpsys::fuzz::Check;
using httpsys::fuzz::Copy;
using httpsys::fuzz::PieceSizes;
using httpsys::http2::ResponseFields;
using httpsys::http2::ResponseHead;
using httpsys::http2::ResponseText;
using Kind = ResponseText::Kind;

struct Outcome {
  std::string text;
  bool has_failed = false;
  bool is_whole = false;

  bool operator==(const Outcome&) const = default;
};

void TakeHead(std::string_view bytes, ResponseText* reader, Outcome* outcome) {
  ResponseHead head;
  if (!ParseResponseHead(bytes, &head)) {
    outcome->has_failed = true;
    return;
  }
  outcome->text += "head " + std::to_string(head.status) + "\n";
  ResponseFields fields;
  fields.Fill(head.status, head.lines);
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto& field = fields.data()[i];
    for (size_t at = 0; at < field.name_bytes; ++at) {
      Check(field.name[at] < 'A' || field.name[at] > 'Z');
    }
    for (size_t at = 0; at < field.value_bytes; ++at) {
      Check(field.value[at] != '\r' && field.value[at] != '\n' && field.value[at] != 0);
    }
  }
  if (head.status < 200) return reader->BeginHead();
  if (head.is_chunked) return reader->BeginChunks();
  if (head.has_length) return reader->BeginLength(head.content_length);
  reader->BeginUntilEnd();
}

Outcome Read(std::string_view text, uint8_t cut_seed) {
  ResponseText reader;
  Outcome outcome;
  PieceSizes sizes(cut_seed);
  for (size_t at = 0; at < text.size() && !outcome.has_failed;) {
    const size_t size = sizes.Next(text.size() - at);
    const Copy piece(text.substr(at, size));
    at += size;
    std::string_view input = piece.view();
    while (!input.empty() && !outcome.has_failed) {
      const ResponseText::Step step = reader.Next(input);
      Check(step.used <= input.size());
      Check(step.used > 0 || step.kind == Kind::kFailed);
      input.remove_prefix(step.used);
      if (step.kind == Kind::kHead) TakeHead(step.bytes, &reader, &outcome);
      if (step.kind == Kind::kBody) outcome.text += step.bytes;
      if (step.kind == Kind::kTrailers) outcome.text.append("\ntrailers ").append(step.bytes);
      if (step.kind == Kind::kFailed) outcome.has_failed = true;
    }
  }
  outcome.is_whole = reader.is_whole();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string begin =
      data[1] % 2 == 0 ? "" : "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string text = begin + std::string(rest);
  const Outcome whole = Read(text, 0);
  const Outcome cut = Read(text, data[0]);
  // Where a line is too long, how much of it was seen depends on the pieces.
  if (whole.has_failed && cut.has_failed) return 0;
  Check(whole == cut);
  return 0;
}
