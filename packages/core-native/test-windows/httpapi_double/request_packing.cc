#include "request_packing.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <vector>

#include "connection.h"
#include "header_names.h"
#include "kernel.h"
#include "request.h"
#include "text.h"

namespace httpapi_double {
namespace {

constexpr ULONG kHttp2Flag = 0x4;  // HTTP_REQUEST_FLAG_HTTP2, newer than this header.

// A caller's memory, from the front; without memory it only counts.
class Packer {
 public:
  explicit Packer(char* memory) : memory_(memory) {}

  char* Take(size_t bytes, size_t alignment) {
    used_ = (used_ + alignment - 1) / alignment * alignment;
    char* at = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += bytes;
    return at;
  }
  const char* Text(std::string_view text) {
    char* at = Take(text.size() + 1, 1);
    if (at == nullptr) return nullptr;
    std::memcpy(at, text.data(), text.size());
    at[text.size()] = 0;
    return at;
  }
  const wchar_t* WideText(const std::wstring& text) {
    const size_t bytes = (text.size() + 1) * sizeof(wchar_t);
    char* at = Take(bytes, alignof(wchar_t));
    if (at != nullptr) std::memcpy(at, text.c_str(), bytes);
    return reinterpret_cast<wchar_t*>(at);
  }
  template <typename T>
  T* Object(size_t count = 1) {
    char* at = Take(sizeof(T) * count, alignof(T));
    if (at != nullptr) std::memset(at, 0, sizeof(T) * count);
    return reinterpret_cast<T*>(at);
  }
  size_t used() const { return used_; }

 private:
  char* const memory_;
  size_t used_ = 0;
};

constexpr std::array<std::string_view, HttpVerbMaximum> kVerbs = {
    "",         "",          "",      "OPTIONS", "GET",    "HEAD",  "POST",
    "PUT",      "DELETE",    "TRACE", "CONNECT", "TRACK",  "MOVE",  "COPY",
    "PROPFIND", "PROPPATCH", "MKCOL", "LOCK",    "UNLOCK", "SEARCH"};

HTTP_VERB VerbOf(std::string_view method) {
  for (size_t verb = HttpVerbOPTIONS; verb < kVerbs.size(); ++verb) {
    if (kVerbs[verb] == method) return static_cast<HTTP_VERB>(verb);
  }
  return HttpVerbUnknown;
}

// With headers of one name joined: HTTP_REQUEST_HEADERS has one place for each
// that it knows.
void PackHeaders(const RequestHead& head, Packer* packer, HTTP_REQUEST_HEADERS* headers) {
  std::map<size_t, std::string> known;
  std::vector<std::pair<std::string, std::string>> unknown;
  for (const auto& [name, value] : head.lines) {
    const size_t id = FindRequestHeader(name);
    if (id == HttpHeaderRequestMaximum) {
      unknown.emplace_back(name, value);
    } else {
      known.emplace(id, head.Value(name));
    }
  }
  for (const auto& [id, value] : known) {
    const char* text = packer->Text(value);
    headers->KnownHeaders[id] = {static_cast<USHORT>(value.size()), text};
  }
  if (unknown.empty()) return;
  auto* lines = packer->Object<HTTP_UNKNOWN_HEADER>(unknown.size());
  for (size_t i = 0; i < unknown.size(); ++i) {
    const char* name = packer->Text(unknown[i].first);
    const char* value = packer->Text(unknown[i].second);
    if (lines == nullptr) continue;
    lines[i] = {static_cast<USHORT>(unknown[i].first.size()),
                static_cast<USHORT>(unknown[i].second.size()), name, value};
  }
  headers->UnknownHeaderCount = static_cast<USHORT>(unknown.size());
  headers->pUnknownHeaders = lines;
}

void PackUrl(const Request& request, Packer* packer, HTTP_COOKED_URL* cooked) {
  const std::wstring full = Widen(request.connection->FullUrl());
  const wchar_t* text = packer->WideText(full);
  const size_t host = full.find(L"://") + 3;
  const size_t path = std::min(full.find(L'/', host), full.size());
  const size_t query = std::min(full.find(L'?', path), full.size());
  const auto bytes = [](size_t units) { return static_cast<USHORT>(units * sizeof(wchar_t)); };
  cooked->FullUrlLength = bytes(full.size());
  cooked->HostLength = bytes(path - host);
  cooked->AbsPathLength = bytes(query - path);
  cooked->QueryStringLength = bytes(full.size() - query);
  if (text == nullptr) return;
  cooked->pFullUrl = text;
  cooked->pHost = text + host;
  cooked->pAbsPath = text + path;
  cooked->pQueryString = query < full.size() ? text + query : nullptr;
}

SOCKADDR* PackAddress(const sockaddr_storage& address, Packer* packer) {
  const size_t bytes = address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  char* at = packer->Take(bytes, 8);
  if (at != nullptr) std::memcpy(at, &address, bytes);
  return reinterpret_cast<SOCKADDR*>(at);
}

void PackSsl(const Connection& connection, Packer* packer, HTTP_REQUEST* out) {
  if (!connection.is_secure()) return;
  auto* info = packer->Object<HTTP_SSL_INFO>();
  const char* issuer = packer->Text("CN=httpapi double issuer");
  const char* subject = packer->Text("CN=httpapi double");
  const std::string& certificate = Kernel::Get().client_certificate;
  HTTP_SSL_CLIENT_CERT_INFO* client = nullptr;
  if (!certificate.empty()) {
    client = packer->Object<HTTP_SSL_CLIENT_CERT_INFO>();
    const char* bytes = packer->Text(certificate);
    if (client != nullptr) {
      client->CertEncodedSize = static_cast<ULONG>(certificate.size());
      client->pCertEncoded = reinterpret_cast<PUCHAR>(const_cast<char*>(bytes));
    }
  }
  if (info == nullptr) return;
  info->pClientCertInfo = client;
  info->SslClientCertNegotiated = client != nullptr ? 1 : 0;
  info->ServerCertKeySize = 2048;
  info->ConnectionKeySize = 256;
  info->pServerCertIssuer = issuer;
  info->ServerCertIssuerSize = static_cast<ULONG>(std::strlen(issuer));
  info->pServerCertSubject = subject;
  info->ServerCertSubjectSize = static_cast<ULONG>(std::strlen(subject));
  out->pSslInfo = info;
}

void PackProtocol(Packer* packer, HTTP_REQUEST_INFO* info) {
  constexpr ULONG kTls13 = 0x1000;  // SP_PROT_TLS1_3_SERVER
  auto* protocol = packer->Object<SslProtocolInfo>();
  if (info == nullptr) return;
  protocol->Protocol = kTls13;
  info->InfoType = static_cast<HTTP_REQUEST_INFO_TYPE>(kInfoSslProtocol);
  info->InfoLength = sizeof *protocol;
  info->pInfo = protocol;
}

void PackLogin(const Request& request, Packer* packer, HTTP_REQUEST_INFO* info) {
  constexpr ULONG kBasic = 1;  // HTTP_AUTH_ENABLE_BASIC
  auto* login = packer->Object<HTTP_REQUEST_AUTH_INFO>();
  if (info == nullptr) return;
  login->AuthStatus = HttpAuthStatusNotAuthenticated;
  if ((request.auth_schemes & kBasic) != 0 &&
      request.head.Value("authorization").starts_with("Basic ")) {
    login->AuthStatus = HttpAuthStatusSuccess;
    login->AuthType = HttpRequestAuthTypeBasic;
    login->AccessToken = Kernel::Get().MakeToken();
  }
  info->InfoType = HttpRequestInfoTypeAuth;
  info->InfoLength = sizeof *login;
  info->pInfo = login;
}

void PackInfo(const Request& request, Packer* packer, HTTP_REQUEST* out) {
  const bool is_secure = request.connection->is_secure();
  const bool has_login = request.auth_schemes != 0;
  if (!is_secure && !has_login) return;
  auto* info = packer->Object<HTTP_REQUEST_INFO>(2);
  out->pRequestInfo = info;
  if (is_secure) PackProtocol(packer, info == nullptr ? nullptr : info + out->RequestInfoCount++);
  if (has_login) {
    PackLogin(request, packer, info == nullptr ? nullptr : info + out->RequestInfoCount++);
  }
}

// All but the body. `out` is where the structure goes: the caller's memory, or
// a spare one.
void PackAll(const Request& request, Packer* packer, HTTP_REQUEST* out) {
  const RequestHead& head = request.head;
  *out = {};
  out->ConnectionId = request.connection->id();
  out->RawConnectionId = request.connection->id();
  out->RequestId = request.id;
  out->UrlContext = request.url_context;
  out->Version = {1, static_cast<USHORT>(head.version_minor)};
  out->Verb = VerbOf(head.method);
  if (out->Verb == HttpVerbUnknown) {
    out->pUnknownVerb = packer->Text(head.method);
    out->UnknownVerbLength = static_cast<USHORT>(head.method.size());
  }
  out->pRawUrl = packer->Text(head.target);
  out->RawUrlLength = static_cast<USHORT>(head.target.size());
  PackUrl(request, packer, &out->CookedUrl);
  out->Address.pRemoteAddress = PackAddress(request.connection->remote(), packer);
  out->Address.pLocalAddress = PackAddress(request.connection->local(), packer);
  PackHeaders(head, packer, &out->Headers);
  PackSsl(*request.connection, packer, out);
  PackInfo(request, packer, out);
}

void PackBody(Request* request, Packer* packer, HTTP_REQUEST* out, size_t bytes) {
  auto* chunk = packer->Object<HTTP_DATA_CHUNK>();
  if (packer->used() >= bytes) return;
  const size_t count = std::min(bytes - packer->used(), request->body.size());
  char* at = packer->Take(count, 1);
  std::memcpy(at, request->body.data(), count);
  request->body.erase(0, count);
  chunk->DataChunkType = HttpDataChunkFromMemory;
  chunk->FromMemory.pBuffer = at;
  chunk->FromMemory.BufferLength = static_cast<ULONG>(count);
  out->EntityChunkCount = 1;
  out->pEntityChunks = chunk;
}

}  // namespace

ULONG PackRequest(Request* request, bool copies_body, HTTP_REQUEST* memory, ULONG bytes,
                  ULONG* needed) {
  HTTP_REQUEST counted;
  Packer counter(nullptr);
  counter.Take(sizeof(HTTP_REQUEST), 1);
  PackAll(*request, &counter, &counted);
  *needed = static_cast<ULONG>(counter.used());
  if (*needed > bytes) {
    *memory = {};
    memory->RequestId = request->id;
    memory->ConnectionId = request->connection->id();
    return ERROR_MORE_DATA;
  }
  Packer packer(reinterpret_cast<char*>(memory));
  packer.Take(sizeof(HTTP_REQUEST), 1);
  PackAll(*request, &packer, memory);
  const size_t with_chunk = (packer.used() + 7) / 8 * 8 + sizeof(HTTP_DATA_CHUNK);
  if (copies_body && !request->body.empty() && with_chunk < bytes) {
    PackBody(request, &packer, memory, bytes);
    request->connection->OnBodyRead();
  }
  // Its connections speak HTTP/1.1; a request may ask to look like one of
  // HTTP/2.
  if (request->is_http2()) memory->Flags |= kHttp2Flag;
  if (!request->body.empty() || !request->is_body_complete) {
    memory->Flags |= HTTP_REQUEST_FLAG_MORE_ENTITY_BODY_EXISTS;
  }
  *needed = static_cast<ULONG>(packer.used());
  return NO_ERROR;
}

}  // namespace httpapi_double
