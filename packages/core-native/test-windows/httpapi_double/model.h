#pragma once
// A test double of httpapi.dll: A MODEL, NOT HTTP.SYS.
//
// It is written for the tests of this project from Microsoft's published
// documentation of the HTTP Server API, version 2, and shows that a program
// that keeps to that documentation works: which calls it makes in which order,
// what it does when they fail, and what it leaves behind. It shows nothing
// about what the real driver does where the documentation is silent, nothing
// about its speed, and no TLS, HTTP/2, authentication or limits in time.
//
// A small HTTP/1.1 server over winsock stands for the kernel, in the process
// that loads the DLL and for that process alone: queues, URLs and caches are
// not shared with other processes.
//
// Modelled, by the page of learn.microsoft.com/windows/win32/ that says it:
//   api/http/nf-http-http*       one page for each exported function:
//   arguments, flags, error codes api/http/ns-http-http_*      requests,
//   responses, chunks, policies, properties api/http/ne-http-http_*      their
//   types http/urlprefix-strings, http/routing-incoming-requests   how requests
//   find their queue api/winbase/nf-winbase-setfilecompletionnotificationmodes,
//   api/ioapiset/  completions
// Decided here, because no page says it:
//   - Every address of a port is listened on. A host that nobody has is
//   answered with 400, a path
//     with 404, and a group without a queue (documented) with 503.
//   - The end of what a client sends is its disconnect, except in opaque mode:
//   there it is the end
//     of the entity body, and the other direction goes on.
//   - A call for a request whose connection is gone fails with
//   ERROR_CONNECTION_INVALID.
//   - https:// prefixes are served in clear text, with an HTTP_SSL_INFO of
//   fixed content, where an
//     SSL binding for the port is configured; otherwise connections to them are
//     reset.
//   - A queue all of whose handles are shut down takes no requests, and tells
//   its clients 503.
//   - Any login with Basic is right where that is enabled, and its token is an
//   event.
//   - Trailers are noted, not sent. They are the last chunk of the last call of a
//   response by HTTP/2; anywhere else they are ERROR_INVALID_PARAMETER.
//
// Faults, delays and a report of what was done and not undone: control.h.
//
// The handle of a queue is an event. How the double learns about its completion
// port: interception.h.

// The order matters: windows.h would bring in the old winsock.
// clang-format off
#define HTTPAPI_LINKAGE_EXPORT
#include <winsock2.h>
#include <ws2tcpip.h>
#include <windows.h>
#include <http.h>
// clang-format on

#include <cstdint>
#include <memory>

#ifndef HTTP_SEND_RESPONSE_FLAG_OPAQUE
#define HTTP_SEND_RESPONSE_FLAG_OPAQUE 0x00000040
#endif

namespace httpapi_double {

// What is newer than the compiler's header, by the page of each type.

// HTTP_DATA_CHUNK_TYPE, what follows the type then, and HTTP_FEATURE_ID.
inline constexpr int kChunkTrailers = 4;            // HttpDataChunkTrailers
inline constexpr int kFeatureResponseTrailers = 1;  // HttpFeatureResponseTrailers
struct Trailers {
  USHORT TrailerCount;
  PHTTP_UNKNOWN_HEADER pTrailers;
};
// HTTP_SERVICE_CONFIG_ID.
inline constexpr int kConfigSslSni = 5;  // HttpServiceConfigSslSniCertInfo
inline constexpr int kConfigSslCcs = 6;  // HttpServiceConfigSslCcsCertInfo
// HTTP_SERVICE_CONFIG_SSL_SNI_KEY, _QUERY and _SET.
struct SniKey {
  SOCKADDR_STORAGE IpPort;
  PWSTR Host;
};
struct SniQuery {
  HTTP_SERVICE_CONFIG_QUERY_TYPE QueryDesc;
  SniKey KeyDesc;
  DWORD dwToken;
};
struct SniSet {
  SniKey KeyDesc;
  HTTP_SERVICE_CONFIG_SSL_PARAM ParamDesc;
};
// HTTP_LOG_FIELDS_DATA, which lacks a member there.
struct LogFields {
  HTTP_LOG_DATA Base;
  USHORT UserNameLength;
  USHORT UriStemLength;
  USHORT ClientIpLength;
  USHORT ServerNameLength;
  USHORT ServiceNameLength;
  USHORT ServerIpLength;
  USHORT MethodLength;
  USHORT UriQueryLength;
  USHORT HostLength;
  USHORT UserAgentLength;
  USHORT CookieLength;
  USHORT ReferrerLength;
  PWCHAR UserName;
  PWCHAR UriStem;
  PCHAR ClientIp;
  PCHAR ServerName;
  PCHAR ServiceName;
  PCHAR ServerIp;
  PCHAR Method;
  PCHAR UriQuery;
  PCHAR Host;
  PCHAR UserAgent;
  PCHAR Cookie;
  PCHAR Referrer;
  USHORT ServerPort;
  USHORT ProtocolStatus;
  ULONG Win32Status;
  HTTP_VERB MethodNum;
  USHORT SubStatus;
};
// HTTP_REQUEST_INFO_TYPE, and HTTP_SSL_PROTOCOL_INFO.
inline constexpr int kInfoSslProtocol = 2;  // HttpRequestInfoTypeSslProtocol
struct SslProtocolInfo {
  ULONG Protocol;
  ULONG CipherType;
  ULONG CipherStrength;
  ULONG HashType;
  ULONG HashStrength;
  ULONG KeyExchangeType;
  ULONG KeyExchangeStrength;
};

class Call;
class Connection;
class Kernel;
class QueueHandle;
struct Request;
struct RequestQueue;

using CallRef = std::shared_ptr<Call>;
using ConnectionRef = std::shared_ptr<Connection>;
using HandleRef = std::shared_ptr<QueueHandle>;
using QueueRef = std::shared_ptr<RequestQueue>;
using RequestRef = std::shared_ptr<Request>;

}  // namespace httpapi_double
