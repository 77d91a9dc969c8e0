#include "win/response_call.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"

namespace httpsys::win {
namespace {

// Names of response headers in lower case, by HTTP_HEADER_ID.
constexpr std::array<std::string_view, HttpHeaderResponseMaximum> kResponseNames = {
    "cache-control",
    "connection",
    "date",
    "keep-alive",
    "pragma",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "warning",
    "allow",
    "content-length",
    "content-type",
    "content-encoding",
    "content-language",
    "content-location",
    "content-md5",
    "content-range",
    "expires",
    "last-modified",
    "accept-ranges",
    "age",
    "etag",
    "location",
    "proxy-authenticate",
    "retry-after",
    "server",
    "set-cookie",
    "vary",
    "www-authenticate"};

// Maximum length of a name, value or reason, and number of lines: each must fit a USHORT.
constexpr size_t kTextBytesMax = 0xffff;

size_t FindKnown(std::string_view name) {
  for (size_t id = 0; id < kResponseNames.size(); ++id) {
    if (EqualsIgnoringCase(name, kResponseNames[id])) return id;
  }
  return kResponseNames.size();
}

bool IsOfConnection(size_t id) {
  return id == HttpHeaderConnection || id == HttpHeaderKeepAlive || id == HttpHeaderUpgrade ||
         id == HttpHeaderTransferEncoding;
}

}  // namespace

bool ResponseCall::Read(std::string text) {
  text_ = std::move(text);
  if (!http1::ParseResponseHead(text_, &head_)) return false;
  if (head_.reason.size() > kTextBytesMax || head_.lines.size() > kTextBytesMax) return false;
  for (const http1::HeaderLine& line : head_.lines) {
    if (line.name.size() > kTextBytesMax || line.value.size() > kTextBytesMax) return false;
  }
  return true;
}

bool ResponseCall::is_framed() const {
  return std::any_of(head_.lines.begin(), head_.lines.end(), [](const http1::HeaderLine& line) {
    return EqualsIgnoringCase(line.name, kResponseNames[HttpHeaderTransferEncoding]);
  });
}

HTTP_RESPONSE* ResponseCall::Fill(std::vector<HTTP_DATA_CHUNK>* chunks, bool is_stream) {
  response_ = {};
  unknown_.clear();
  HTTP_SET_VERSION(response_.Version, 1, 1);
  response_.StatusCode = head_.status;
  response_.ReasonLength = static_cast<USHORT>(head_.reason.size());
  response_.pReason = head_.reason.data();
  for (const http1::HeaderLine& line : head_.lines) {
    const size_t id = FindKnown(line.name);
    if (is_stream && IsOfConnection(id)) continue;
    const auto value_bytes = static_cast<USHORT>(line.value.size());
    if (id < kResponseNames.size() && response_.Headers.KnownHeaders[id].pRawValue == nullptr) {
      response_.Headers.KnownHeaders[id] = {value_bytes, line.value.data()};
      continue;
    }
    // A known name has room for one value; further values are added as unknown headers.
    unknown_.push_back(
        {static_cast<USHORT>(line.name.size()), value_bytes, line.name.data(), line.value.data()});
  }
  response_.Headers.UnknownHeaderCount = static_cast<USHORT>(unknown_.size());
  response_.Headers.pUnknownHeaders = unknown_.empty() ? nullptr : unknown_.data();
  response_.EntityChunkCount = static_cast<USHORT>(chunks->size());
  response_.pEntityChunks = chunks->empty() ? nullptr : chunks->data();
  return &response_;
}

}  // namespace httpsys::win
