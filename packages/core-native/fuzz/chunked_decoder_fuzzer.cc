// Input: how to cut (1 byte), trailer limit in steps of 64 bytes (1 byte, 0 = 16 KiB), chunked
// body. Traps when a promise of chunked_decoder.h is broken, above all when pieces make a
// difference.

#include <string>

#include "http1/char_class.h"
#include "http1/chunked_decoder.h"
#include "pieces.h"

namespace {

using httpsys::fuzz::Check;
using httpsys::fuzz::Copy;
using httpsys::http1::ChunkedDecoder;
using httpsys::http1::DecodeStatus;
using httpsys::http1::HeaderLine;
using httpsys::http1::ParseError;

struct Outcome {
  DecodeStatus status = DecodeStatus::kNeedMore;
  ParseError error = ParseError::kNone;
  size_t consumed_bytes = 0;
  bool closes_connection = false;
  std::string body;
  std::string trailers;
};

void KeepTrailers(const ChunkedDecoder& decoder, Outcome* outcome) {
  for (const HeaderLine& line : decoder.trailers()) {
    for (const char c : line.name) Check(httpsys::http1::HasClass(c, httpsys::http1::kTokenChar));
    for (const char c : line.value) {
      Check(httpsys::http1::HasClass(c, httpsys::http1::kFieldValueChar));
    }
    outcome->trailers += std::string(line.name) + ":" + std::string(line.value) + "\n";
  }
  outcome->closes_connection = decoder.closes_connection();
}

Outcome Decode(std::string_view text, size_t trailer_bytes_max, uint8_t cut_seed) {
  Outcome outcome;
  static ChunkedDecoder decoder;
  decoder.Reset(trailer_bytes_max);
  httpsys::fuzz::PieceSizes sizes(cut_seed);
  size_t fed = 0;
  do {
    const size_t bytes = sizes.Next(text.size() - fed);
    const Copy copy(text.substr(fed, bytes));
    fed += bytes;
    std::string_view left = copy.view();
    do {
      const ChunkedDecoder::Step step = decoder.Next(left);
      Check(step.consumed_bytes <= left.size());
      Check(step.body.empty() ||
            (step.status == DecodeStatus::kBody && step.body.data() >= left.data() &&
             step.body.data() + step.body.size() <= left.data() + step.consumed_bytes));
      Check(step.status != DecodeStatus::kBody || !step.body.empty());
      left.remove_prefix(step.consumed_bytes);
      outcome.consumed_bytes += step.consumed_bytes;
      outcome.body += step.body;
      outcome.status = step.status;
    } while (outcome.status == DecodeStatus::kBody);
    Check(outcome.status != DecodeStatus::kNeedMore || left.empty());
  } while (outcome.status == DecodeStatus::kNeedMore && fed < text.size());
  outcome.error = decoder.error();
  if (outcome.status == DecodeStatus::kEnd) KeepTrailers(decoder, &outcome);
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const uint8_t cut_seed = data[0];
  const size_t trailer_bytes_max = data[1] == 0 ? 16384 : size_t{64} * data[1];
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Outcome whole = Decode(text, trailer_bytes_max, 0);
  const Outcome pieces = Decode(text, trailer_bytes_max, cut_seed);
  Check(whole.status == pieces.status && whole.body == pieces.body);
  Check(whole.trailers == pieces.trailers);
  Check(whole.closes_connection == pieces.closes_connection);
  Check((whole.status == DecodeStatus::kError) == (whole.error != ParseError::kNone));
  // Which of two reasons is found first may depend on how much is known of the longest part.
  Check(whole.error == pieces.error || pieces.error == ParseError::kHeaderOverflow);
  if (whole.status != DecodeStatus::kEnd) return 0;
  Check(whole.consumed_bytes == pieces.consumed_bytes);
  const std::string_view almost = text.substr(0, whole.consumed_bytes - 1);
  Check(Decode(almost, trailer_bytes_max, 0).status == DecodeStatus::kNeedMore);
  return 0;
}
