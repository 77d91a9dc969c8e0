#include "win/log_fields.h"

#include <algorithm>
#include <string_view>

namespace httpsys::win {
namespace {

// Longest logged value; the length must fit a USHORT, and a longer value is not useful.
constexpr size_t kValueBytesMax = 4096;

std::string Header(const HTTP_REQUEST& request, HTTP_HEADER_ID id) {
  const HTTP_KNOWN_HEADER& header = request.Headers.KnownHeaders[id];
  if (header.pRawValue == nullptr) return {};
  return {header.pRawValue, std::min<size_t>(header.RawValueLength, kValueBytesMax)};
}

template <typename Text, typename Pointer>
void Point(Text* text, Pointer* pointer, USHORT* bytes) {
  *pointer = text->empty() ? nullptr : text->data();
  *bytes = static_cast<USHORT>(text->size() * sizeof((*text)[0]));
}

}  // namespace

LogFields::LogFields(const HTTP_REQUEST& request, const engine::Addresses& addresses,
                     std::string_view method)
    : client_(addresses.remote),
      server_(addresses.local),
      method_(method),
      host_(Header(request, HttpHeaderHost)),
      agent_(Header(request, HttpHeaderUserAgent)),
      referrer_(Header(request, HttpHeaderReferer)) {
  const std::string_view target(request.pRawUrl, request.RawUrlLength);
  const size_t mark = target.find('?');
  for (const char c : target.substr(0, std::min(mark, kValueBytesMax))) {
    stem_.push_back(static_cast<unsigned char>(c));
  }
  if (mark != std::string_view::npos) query_ = target.substr(mark + 1, kValueBytesMax);
  data_.Base.Type = HttpLogDataTypeFields;
  Point(&stem_, &data_.UriStem, &data_.UriStemLength);
  Point(&query_, &data_.UriQuery, &data_.UriQueryLength);
  Point(&client_, &data_.ClientIp, &data_.ClientIpLength);
  Point(&server_, &data_.ServerIp, &data_.ServerIpLength);
  Point(&method_, &data_.Method, &data_.MethodLength);
  Point(&host_, &data_.Host, &data_.HostLength);
  Point(&agent_, &data_.UserAgent, &data_.UserAgentLength);
  Point(&referrer_, &data_.Referrer, &data_.ReferrerLength);
  data_.ServerPort = addresses.local_port;
  data_.MethodNum = request.Verb;
}

HTTP_LOG_DATA* LogFields::With(uint16_t status) {
  data_.ProtocolStatus = status;
  return &data_.Base;
}

}  // namespace httpsys::win
