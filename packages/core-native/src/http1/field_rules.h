#pragma once
// The meaning of the header fields that frame a message, exactly as Node reads them. Values include
// the white space after them, which llhttp examines, too.

#include <cstdint>
#include <string_view>

#include "http1/parse_error.h"

namespace httpsys::http1 {

// Fields that control the parser.
enum class KnownField : uint8_t {
  kOther,
  kConnection,  // Connection or Proxy-Connection.
  kContentLength,
  kExpect,
  kHost,
  kTransferEncoding,
  kUpgrade,
};

KnownField FindKnownField(std::string_view name);

// Parses digits followed by spaces. If `complete` is false, more bytes of the value may follow, so
// an empty `value` is accepted.
ParseError ParseContentLength(std::string_view value, bool complete, uint64_t* length);

// Accepts only `chunked`. Stricter than Node: the end of another coding could not be found.
ParseError CheckTransferEncoding(std::string_view value, bool complete);

struct ConnectionOptions {
  bool close = false;
  bool keep_alive = false;
  bool upgrade = false;
};

// Adds the connection options in one line of the field.
void ReadConnection(std::string_view value, ConnectionOptions* options);

// Returns true if the value contains the word `100-continue`, as Node checks it.
bool ExpectsContinue(std::string_view value);

}  // namespace httpsys::http1
