#pragma once
// Windows' HTTP Server API, version 2 (httpapi.dll), with declarations that some compilers' headers
// lack or have wrong. Names and values are from Microsoft's documentation; a test compares them
// with its published metadata.

// winsock2.h must come first: windows.h would include the old winsock.
// clang-format off
#include <winsock2.h>
#include <ws2tcpip.h>
#include <windows.h>
#include <http.h>
// clang-format on

#include <cstddef>
#include <cstdint>

#ifndef HTTP_SEND_RESPONSE_FLAG_OPAQUE
#define HTTP_SEND_RESPONSE_FLAG_OPAQUE 0x00000040
#endif
#ifndef HTTP_REQUEST_FLAG_MORE_ENTITY_BODY_EXISTS
#define HTTP_REQUEST_FLAG_MORE_ENTITY_BODY_EXISTS 0x00000001
#endif
#ifndef HTTP_REQUEST_FLAG_HTTP2
#define HTTP_REQUEST_FLAG_HTTP2 0x00000004
#endif
#ifndef HTTP_REQUEST_FLAG_HTTP3
#define HTTP_REQUEST_FLAG_HTTP3 0x00000008
#endif
#ifndef HTTP_CREATE_REQUEST_QUEUE_FLAG_OPEN_EXISTING
#define HTTP_CREATE_REQUEST_QUEUE_FLAG_OPEN_EXISTING 0x00000001
#endif
#ifndef FILE_SKIP_COMPLETION_PORT_ON_SUCCESS
#define FILE_SKIP_COMPLETION_PORT_ON_SUCCESS 0x1
#endif

namespace httpsys::win {

// HTTP_LOG_FIELDS_DATA, because mingw-w64's declaration lacks ServiceNameLength.
struct LogFieldsData {
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

// Values of HTTP_REQUEST_INFO_TYPE that are newer than Windows 8.
inline constexpr int kRequestInfoAuth = 0;         // HttpRequestInfoTypeAuth
inline constexpr int kRequestInfoSslProtocol = 2;  // HttpRequestInfoTypeSslProtocol

// HTTP_SSL_PROTOCOL_INFO. Protocol is one of SChannel's SP_PROT_... bits.
struct SslProtocolInfo {
  ULONG Protocol;
  ULONG CipherType;
  ULONG CipherStrength;
  ULONG HashType;
  ULONG HashStrength;
  ULONG KeyExchangeType;
  ULONG KeyExchangeStrength;
};

// A value of HTTP_DATA_CHUNK_TYPE, and its variant of HTTP_DATA_CHUNK; newer than Windows 8.
inline constexpr int kDataChunkTrailers = 4;  // HttpDataChunkTrailers
struct ChunkTrailers {
  USHORT TrailerCount;
  PHTTP_UNKNOWN_HEADER pTrailers;
};
// HTTP_FEATURE_ID
inline constexpr int kFeatureResponseTrailers = 1;  // HttpFeatureResponseTrailers

// HTTP_SERVICE_CONFIG_ID: certificates by host name and port, since Windows 8.
inline constexpr int kServiceConfigSslSni = 5;  // HttpServiceConfigSslSniCertInfo
// HTTP_SERVICE_CONFIG_ID: a port with certificates from a file store; only queried for existence.
inline constexpr int kServiceConfigSslCcs = 6;  // HttpServiceConfigSslCcsCertInfo
// HTTP_SERVICE_CONFIG_SSL_SNI_KEY, _QUERY and _SET.
struct SslSniKey {
  SOCKADDR_STORAGE IpPort;
  PWSTR Host;
};
struct SslSniQuery {
  HTTP_SERVICE_CONFIG_QUERY_TYPE QueryDesc;
  SslSniKey KeyDesc;
  DWORD dwToken;
};
struct SslCcsQuery {
  HTTP_SERVICE_CONFIG_QUERY_TYPE QueryDesc;
  SOCKADDR_STORAGE LocalAddress;
  DWORD dwToken;
};
struct SslSniSet {
  SslSniKey KeyDesc;
  HTTP_SERVICE_CONFIG_SSL_PARAM ParamDesc;
};

// The logged fields of a request, as HTTP_LOG_FIELD_... bits: date, time, both addresses, port,
// method, stem, query, status, host, client and referrer.
inline constexpr ULONG kLogFields =
    0x1 | 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x8000 | 0x10000 | 0x40000 | 0x100000;

// Check the layout of these structures, which the kernel fills in.
static_assert(sizeof(void*) != 8 || sizeof(HTTP_DATA_CHUNK) == 32);
static_assert(sizeof(void*) != 8 || sizeof(ChunkTrailers) == 16);
static_assert(sizeof(void*) != 8 || offsetof(ChunkTrailers, pTrailers) == 8);
// All variants of a chunk begin at the same offset.
static_assert(sizeof(ChunkTrailers) <= sizeof(HTTP_DATA_CHUNK::FromMemory));
static_assert(sizeof(void*) != 8 || sizeof(HTTP_KNOWN_HEADER) == 16);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_UNKNOWN_HEADER) == 24);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_REQUEST_HEADERS) == 688);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_RESPONSE_HEADERS) == 512);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_COOKED_URL) == 40);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_REQUEST_V1) == 848);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_REQUEST_V2) == 864);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_RESPONSE_V1) == 552);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_RESPONSE_V2) == 568);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_SSL_INFO) == 48);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_SSL_CLIENT_CERT_INFO) == 32);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_LOGGING_INFO) == 72);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_SERVER_AUTHENTICATION_INFO) == 64);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_SERVICE_CONFIG_SSL_PARAM) == 80);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_SERVICE_CONFIG_SSL_QUERY) == 24);
static_assert(sizeof(void*) != 8 || sizeof(LogFieldsData) == 144);
static_assert(sizeof(void*) != 8 || offsetof(LogFieldsData, UserName) == 32);
static_assert(sizeof(void*) != 8 || sizeof(SslSniKey) == 136);
static_assert(sizeof(void*) != 8 || sizeof(SslSniQuery) == 152);
static_assert(sizeof(void*) != 8 || sizeof(SslSniSet) == 216);
static_assert(sizeof(void*) != 8 || sizeof(SslCcsQuery) == 144);
static_assert(sizeof(SslProtocolInfo) == 28);
static_assert(sizeof(HTTP_TIMEOUT_LIMIT_INFO) == 20);
static_assert(sizeof(HTTP_CACHE_POLICY) == 8);
static_assert(sizeof(HTTP_BANDWIDTH_LIMIT_INFO) == 8 && sizeof(HTTP_CONNECTION_LIMIT_INFO) == 8);
static_assert(HttpHeaderRequestMaximum == 41 && HttpHeaderResponseMaximum == 30);
static_assert(HttpVerbMaximum == 20);
static_assert(HttpServerAuthenticationProperty == 0 && HttpServerLoggingProperty == 1 &&
              HttpServerQosProperty == 2 && HttpServerTimeoutsProperty == 3 &&
              HttpServerQueueLengthProperty == 4 && HttpServer503VerbosityProperty == 6 &&
              HttpServerBindingProperty == 7);

// Returns true if only functions that Wine's httpapi.dll implements may be called: any other one
// would end the process. Set by the environment variable HTTPSYS_HTTPAPI=core. Thread: any.
bool IsCoreOnly();

// Returns true if a response of HTTP/2 or 3 may have trailers. Needs a function that is newer than
// Windows 8, and returns false without it. Thread: any.
bool SupportsResponseTrailers();

}  // namespace httpsys::win
