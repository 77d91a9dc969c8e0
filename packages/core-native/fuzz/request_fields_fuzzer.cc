// Input: flags (1 byte: whether the stream ends), fields as `name NUL value NUL`. Traps when a
// request comes out that HTTP/1.1 would take for another one.

#include <cstring>
#include <string>

#include "http1/char_class.h"
#include "http2/request_fields.h"
#include "pieces.h"

namespace {

using httpsys::fuzz::Check;
using httpsys::http1::BodyKind;
using httpsys::http1::HeaderLine;
using httpsys::http2::FieldsStatus;
using httpsys::http2::RequestFields;

std::string_view Next(std::string_view* rest) {
  const std::string_view part = rest->substr(0, rest->find('\0'));
  rest->remove_prefix(std::min(part.size() + 1, rest->size()));
  return part;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const httpsys::http1::MethodTable methods({"GET", "POST", "CONNECT", "OPTIONS"});
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr size_t kBytesMax = 512;
  RequestFields fields;
  fields.Reset(kBytesMax, 16);
  while (!rest.empty()) {
    const std::string_view name = Next(&rest);
    fields.Add(name, Next(&rest));
  }
  const bool ends = (data[0] & 1) != 0;
  if (fields.Finish(methods, ends) != FieldsStatus::kDone) return 0;
  const httpsys::http1::RequestHead& head = fields.head();
  size_t hosts = 0;
  size_t lengths = 0;
  for (const HeaderLine& line : head.lines) {
    Check(line.name.empty() || line.name.front() != ':');
    if (line.name == "host") ++hosts;
    if (line.name == "content-length") ++lengths;
    const bool is_of_connection = line.name == "connection" || line.name == "upgrade";
    Check(!is_of_connection || fields.is_extended_connect());
    Check(line.name != "transfer-encoding" || head.body == BodyKind::kChunked);
  }
  Check(hosts <= 1);
  Check(lengths == 0 || head.body != BodyKind::kChunked);
  for (const char c : head.target) Check(c > 0x20 && c < 0x7f);
  Check(head.target.find('#') == std::string_view::npos || fields.authority() == head.target);
  Check(fields.authority().find('@') == std::string_view::npos);
  return 0;
}
