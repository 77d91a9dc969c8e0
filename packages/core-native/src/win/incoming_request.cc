#include "win/incoming_request.h"

#include <array>
#include <charconv>
#include <cstring>

#include "base/ascii.h"
#include "records/record_writer.h"
#include "records/records.h"
#include "tls/facts.h"

namespace httpsys::win {
namespace {

// Names of request headers as RFCs write them, by HTTP_HEADER_ID.
constexpr std::array<std::string_view, HttpHeaderRequestMaximum> kRequestNames = {
    "Cache-Control",
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
    "Last-Modified",
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

// Names of methods, by HTTP_VERB.
constexpr std::array<std::string_view, HttpVerbMaximum> kVerbs = {
    "",         "",          "",      "OPTIONS", "GET",    "HEAD",  "POST",
    "PUT",      "DELETE",    "TRACE", "CONNECT", "TRACK",  "MOVE",  "COPY",
    "PROPFIND", "PROPPATCH", "MKCOL", "LOCK",    "UNLOCK", "SEARCH"};

// OpenSSL's X509_V_... codes: no client certificate, and one that SChannel has refused.
constexpr long kNoCertificate = 2;
constexpr long kRefusedCertificate = 1;

// Returns the TLS version from SChannel's bit for servers.
int ProtocolOf(const HTTP_REQUEST& request) {
  for (USHORT i = 0; i < request.RequestInfoCount; ++i) {
    const HTTP_REQUEST_INFO& info = request.pRequestInfo[i];
    if (info.InfoType != kRequestInfoSslProtocol || info.pInfo == nullptr) continue;
    switch (static_cast<const SslProtocolInfo*>(info.pInfo)->Protocol) {
      case 0x40:
        return 0x0301;
      case 0x100:
        return 0x0302;
      case 0x400:
        return 0x0303;
      case 0x1000:
        return 0x0304;
      default:
        return 0;
    }
  }
  return 0;
}

bool HasToken(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view item = list.substr(0, comma);
    while (!item.empty() && (item.front() == ' ' || item.front() == '\t')) item.remove_prefix(1);
    while (!item.empty() && (item.back() == ' ' || item.back() == '\t')) item.remove_suffix(1);
    if (EqualsIgnoringCase(item, token)) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
  return false;
}

// Writes the address as text and the port of one end. Returns the address family; 0 = unknown.
uint8_t Describe(const SOCKADDR* address, std::string* text, uint16_t* port) {
  if (address == nullptr) return 0;
  char name[INET6_ADDRSTRLEN] = "";
  if (address->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, address, sizeof v4);
    inet_ntop(AF_INET, &v4.sin_addr, name, sizeof name);
    *text = name;
    *port = ntohs(v4.sin_port);
    return 4;
  }
  if (address->sa_family != AF_INET6) return 0;
  sockaddr_in6 v6;
  std::memcpy(&v6, address, sizeof v6);
  inet_ntop(AF_INET6, &v6.sin6_addr, name, sizeof name);
  *text = name;
  *port = ntohs(v6.sin6_port);
  return 6;
}

}  // namespace

bool IncomingRequest::Read(const HTTP_REQUEST& request) {
  head_ = {};
  flags_ = 0;
  has_upgrade_ = wants_upgrade_ = false;
  is_stream_ = (request.Flags & (HTTP_REQUEST_FLAG_HTTP2 | HTTP_REQUEST_FLAG_HTTP3)) != 0;
  if (is_stream_) flags_ |= records::kFlagStream;
  std::string_view verb;
  if (request.Verb == HttpVerbUnknown) {
    verb = {request.pUnknownVerb, request.UnknownVerbLength};
  } else if (request.Verb > HttpVerbUnknown && request.Verb < HttpVerbMaximum) {
    verb = kVerbs[request.Verb];
  }
  const int method = methods_->Find(verb);
  if (method < 0) return false;
  head_.method = static_cast<uint16_t>(method);
  method_ = verb;
  const bool is_old = request.Version.MajorVersion == 1 && request.Version.MinorVersion == 0;
  head_.version_minor = is_old ? 0 : 1;
  head_.keep_alive = !is_old;
  head_.target = {request.pRawUrl, request.RawUrlLength};
  head_bytes_ = head_.target.size();
  ReadLines(request.Headers);
  ReadBody(request);
  // HTTP.SYS makes no opaque connection from an upgrade with a body: ignore the upgrade.
  if (has_upgrade_ && wants_upgrade_ && !is_old && !is_stream_ &&
      (flags_ & records::kFlagHasBody) == 0) {
    flags_ |= records::kFlagUpgrade;
  }
  return true;
}

void IncomingRequest::ReadLines(const HTTP_REQUEST_HEADERS& headers) {
  // Put Host first, as clients do.
  const auto read_known = [&](size_t id) {
    const HTTP_KNOWN_HEADER& known = headers.KnownHeaders[id];
    if (known.pRawValue == nullptr) return;
    OnLine(kRequestNames[id], {known.pRawValue, known.RawValueLength});
  };
  read_known(HttpHeaderHost);
  for (size_t id = 0; id < kRequestNames.size(); ++id) {
    if (id != HttpHeaderHost) read_known(id);
  }
  for (USHORT i = 0; i < headers.UnknownHeaderCount; ++i) {
    const HTTP_UNKNOWN_HEADER& unknown = headers.pUnknownHeaders[i];
    OnLine({unknown.pName, unknown.NameLength}, {unknown.pRawValue, unknown.RawValueLength});
  }
}

void IncomingRequest::OnLine(std::string_view name, std::string_view value) {
  head_.lines.push_back({name, value});
  head_bytes_ += name.size() + value.size();
  if (EqualsIgnoringCase(name, "host")) {
    flags_ |= records::kFlagHasHost;
    head_.has_host = true;
    head_.host = value;
  } else if (EqualsIgnoringCase(name, "connection")) {
    if (HasToken(value, "close")) head_.keep_alive = false;
    if (HasToken(value, "upgrade")) wants_upgrade_ = true;
    if (head_.version_minor == 0 && HasToken(value, "keep-alive")) head_.keep_alive = true;
  } else if (EqualsIgnoringCase(name, "upgrade")) {
    has_upgrade_ = true;
  } else if (EqualsIgnoringCase(name, "content-length")) {
    std::from_chars(value.data(), value.data() + value.size(), head_.content_length);
  } else if (EqualsIgnoringCase(name, "transfer-encoding")) {
    if (HasToken(value, "chunked")) flags_ |= records::kFlagChunked | records::kFlagHasBody;
  } else if (EqualsIgnoringCase(name, "expect")) {
    flags_ |= EqualsIgnoringCase(value, "100-continue") ? records::kFlagExpectContinue
                                                        : records::kFlagExpectOther;
  }
}

void IncomingRequest::ReadBody(const HTTP_REQUEST& request) {
  body_ = {};
  // With COPY_BODY, HTTP.SYS puts the received bytes of the body into one chunk.
  if (request.EntityChunkCount != 0 &&
      request.pEntityChunks[0].DataChunkType == HttpDataChunkFromMemory) {
    const auto& memory = request.pEntityChunks[0].FromMemory;
    body_ = {static_cast<const char*>(memory.pBuffer), memory.BufferLength};
  }
  has_more_body_ = (request.Flags & HTTP_REQUEST_FLAG_MORE_ENTITY_BODY_EXISTS) != 0;
  if (head_.keep_alive) flags_ |= records::kFlagKeepAlive;
  if (head_.content_length > 0 || has_more_body_ || !body_.empty()) flags_ |= records::kFlagHasBody;
  if (!has_more_body_) flags_ |= records::kFlagComplete;
}

engine::Addresses DescribeAddresses(const HTTP_REQUEST& request) {
  engine::Addresses result;
  result.family = Describe(request.Address.pLocalAddress, &result.local, &result.local_port);
  Describe(request.Address.pRemoteAddress, &result.remote, &result.remote_port);
  return result;
}

long DescribeCertificate(const HTTP_SSL_CLIENT_CERT_INFO* client, std::string* certificates) {
  certificates->clear();
  if (client == nullptr || client->pCertEncoded == nullptr) return kNoCertificate;
  const auto bytes = static_cast<uint32_t>(client->CertEncodedSize);
  certificates->assign(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  certificates->append(reinterpret_cast<const char*>(client->pCertEncoded), bytes);
  return client->CertFlags == 0 ? 0 : kRefusedCertificate;
}

std::string DescribeTls(const HTTP_REQUEST& request) {
  const HTTP_SSL_INFO* ssl = request.pSslInfo;
  if (ssl == nullptr) return {};
  tls::Facts facts;
  facts.protocol = ProtocolOf(request);
  facts.has_asked = ssl->SslClientCertNegotiated != 0;
  facts.verify_result = DescribeCertificate(ssl->pClientCertInfo, &facts.certificates);
  if (!facts.certificates.empty()) facts.has_asked = true;
  return engine::EncodeFacts(facts);
}

}  // namespace httpsys::win
