#include "header_names.h"

#include <array>

#include "model.h"
#include "text.h"

namespace httpapi_double {
namespace {

// What both kinds of messages have, by the page of HTTP_HEADER_ID.
constexpr std::array<std::string_view, HttpHeaderLastModified + 1> kGeneral = {"Cache-Control",
                                                                               "Connection",
                                                                               "Date",
                                                                               "Keep-Alive",
                                                                               "Pragma",
                                                                               "Trailer",
                                                                               "Transfer-Encoding",
                                                                               "Upgrade",
                                                                               "Via",
                                                                               "Warning",
                                                                               "Allow",
                                                                               "Content-Length",
                                                                               "Content-Type",
                                                                               "Content-Encoding",
                                                                               "Content-Language",
                                                                               "Content-Location",
                                                                               "Content-MD5",
                                                                               "Content-Range",
                                                                               "Expires",
                                                                               "Last-Modified"};
constexpr std::array<std::string_view, HttpHeaderRequestMaximum - HttpHeaderAccept> kOfRequests = {
    "Accept",
    "Accept-Charset",
    "Accept-Encoding",
    "Accept-Language",
    "Authorization",
    "Cookie",
    "Expect",
    "From",
    "Host",
    "If-Match",
    "If-Modified-Since",
    "If-None-Match",
    "If-Range",
    "If-Unmodified-Since",
    "Max-Forwards",
    "Proxy-Authorization",
    "Referer",
    "Range",
    "TE",
    "Translate",
    "User-Agent"};
constexpr std::array<std::string_view, HttpHeaderResponseMaximum - HttpHeaderAcceptRanges>
    kOfResponses = {"Accept-Ranges", "Age",    "ETag",       "Location", "Proxy-Authenticate",
                    "Retry-After",   "Server", "Set-Cookie", "Vary",     "WWW-Authenticate"};

}  // namespace

std::string_view RequestHeaderName(size_t id) {
  if (id < kGeneral.size()) return kGeneral[id];
  id -= kGeneral.size();
  return id < kOfRequests.size() ? kOfRequests[id] : "";
}

std::string_view ResponseHeaderName(size_t id) {
  if (id < kGeneral.size()) return kGeneral[id];
  id -= kGeneral.size();
  return id < kOfResponses.size() ? kOfResponses[id] : "";
}

size_t FindRequestHeader(std::string_view name) {
  for (size_t id = 0; id < HttpHeaderRequestMaximum; ++id) {
    if (EqualsIgnoringCase(name, RequestHeaderName(id))) return id;
  }
  return HttpHeaderRequestMaximum;
}

}  // namespace httpapi_double
