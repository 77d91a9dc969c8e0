#pragma once
// What the values of the header fields that frame a message mean, to the letter as Node reads them.
// Values come with the white space behind them: llhttp looks at it.

#include <cstdint>
#include <string_view>

#include "http1/parse_error.h"

namespace httpsys::http1 {

// Fields the parser itself obeys.
enum class KnownField : uint8_t {
  kOther,
  kConnection,  // Or Proxy-Connection.
  kContentLength,
  kExpect,
  kHost,
  kTransferEncoding,
  kUpgrade,
};

KnownField FindKnownField(std::string_view name);

// Digits, then spaces. An empty `value` is refused only when it is `complete`.
ParseError ParseContentLength(std::string_view value, bool complete, uint64_t* length);

// Stricter than Node: `chunked` alone is known, other codings have no end that we could find.
ParseError CheckTransferEncoding(std::string_view value, bool complete);

struct ConnectionOptions {
  bool close = false;
  bool keep_alive = false;
  bool upgrade = false;
};

// Adds the options of one line.
void ReadConnection(std::string_view value, ConnectionOptions* options);

// Node's test for `100-continue` anywhere in the value, as a word.
bool ExpectsContinue(std::string_view value);

}  // namespace httpsys::http1
