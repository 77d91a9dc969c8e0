// Input: how to cut (1 byte), header limit in steps of 64 bytes (1 byte, 0 = 16 KiB), message.
// Traps when a promise of request_parser.h is broken, above all when pieces make a difference.

#include <string>

#include "http1/char_class.h"
#include "http1/request_parser.h"
#include "pieces.h"

namespace {

using httpsys::fuzz::Check;
using httpsys::fuzz::Copy;
using httpsys::http1::HeaderLine;
using httpsys::http1::MethodTable;
using httpsys::http1::ParseError;
using httpsys::http1::ParseStatus;
using httpsys::http1::RequestHead;
using httpsys::http1::RequestParser;

const MethodTable& Methods() {
  static const MethodTable table({"CONNECT", "DELETE", "GET", "HEAD", "M-SEARCH", "OPTIONS",
                                  "PATCH", "POST", "PUT", "QUERY", "SOURCE", "UNSUBSCRIBE"});
  return table;
}

struct Outcome {
  ParseStatus status = ParseStatus::kNeedMore;
  ParseError error = ParseError::kNone;
  size_t head_bytes = 0;
  std::string head;  // All that the head says.
};

std::string Summarize(const RequestHead& head) {
  std::string text(Methods().Name(head.method));
  text += {static_cast<char>('0' + head.version_minor),
           static_cast<char>('0' + int(head.body)),
           static_cast<char>('0' + int(head.expect)),
           head.keep_alive ? 'k' : 'c',
           head.upgrade ? 'u' : '-',
           head.has_host ? 'h' : '-'};
  text += std::to_string(head.content_length) + "\n" + std::string(head.target) + "\n";
  text += std::string(head.host) + "\n";
  for (const HeaderLine& line : head.lines) {
    text += std::string(line.name) + ":" + std::string(line.value) + "\n";
  }
  return text;
}

void CheckInside(std::string_view part, std::string_view whole) {
  Check(part.empty() ||
        (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size()));
}

void CheckHead(const RequestHead& head, std::string_view message, size_t header_bytes_max) {
  using httpsys::http1::BodyKind;
  using httpsys::http1::HasClass;
  CheckInside(head.target, message);
  size_t counted = head.target.size();
  for (const HeaderLine& line : head.lines) {
    CheckInside(line.name, message);
    CheckInside(line.value, message);
    counted += line.name.size() + line.value.size();
    Check(!line.name.empty());
    for (const char c : line.name) Check(HasClass(c, httpsys::http1::kTokenChar));
    for (const char c : line.value) Check(HasClass(c, httpsys::http1::kFieldValueChar));
    if (line.value.empty()) continue;
    Check(line.value.front() != ' ' && line.value.back() != ' ' && line.value.back() != '\t');
  }
  for (const char c : head.target) Check(c > ' ' && c < 0x7F);
  Check(counted < header_bytes_max);
  Check((head.body == BodyKind::kLength) == (head.content_length > 0));
}

Outcome Parse(std::string_view message, size_t header_bytes_max, uint8_t cut_seed) {
  Outcome outcome;
  static RequestParser parser(&Methods());
  parser.Reset(header_bytes_max);
  httpsys::fuzz::PieceSizes sizes(cut_seed);
  size_t fed = 0;
  do {
    fed += sizes.Next(message.size() - fed);
    const Copy copy(message.substr(0, fed));
    outcome.status = parser.Parse(copy.view());
    if (outcome.status == ParseStatus::kDone) {
      outcome.head_bytes = parser.head_bytes();
      Check(outcome.head_bytes <= fed);
      CheckHead(parser.head(), copy.view(), header_bytes_max);
      outcome.head = Summarize(parser.head());
    }
  } while (outcome.status == ParseStatus::kNeedMore && fed < message.size());
  outcome.error = parser.error();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const uint8_t cut_seed = data[0];
  const size_t header_bytes_max = data[1] == 0 ? 16384 : size_t{64} * data[1];
  const std::string_view message(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Outcome whole = Parse(message, header_bytes_max, 0);
  const Outcome pieces = Parse(message, header_bytes_max, cut_seed);
  Check(whole.status == pieces.status);
  Check(whole.head_bytes == pieces.head_bytes && whole.head == pieces.head);
  Check((whole.status == ParseStatus::kError) == (whole.error != ParseError::kNone));
  // Which of two reasons is found first may depend on how much is known of the longest part.
  Check(whole.error == pieces.error || pieces.error == ParseError::kHeaderOverflow);
  if (whole.status == ParseStatus::kDone) {
    const std::string_view almost = message.substr(0, whole.head_bytes - 1);
    Check(Parse(almost, header_bytes_max, 0).status == ParseStatus::kNeedMore);
  }
  return 0;
}
