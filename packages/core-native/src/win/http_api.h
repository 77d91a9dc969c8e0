#pragma once
// Windows' HTTP Server API, version 2 (httpapi.dll), with what the headers of some compilers lack.
// Names and values are those of Microsoft's documentation.

// The order matters: windows.h would bring in the old winsock.
// clang-format off
#include <winsock2.h>
#include <ws2tcpip.h>
#include <windows.h>
#include <http.h>
// clang-format on

#include <cstdint>

#ifndef HTTP_SEND_RESPONSE_FLAG_OPAQUE
#define HTTP_SEND_RESPONSE_FLAG_OPAQUE 0x00000040
#endif
#ifndef HTTP_REQUEST_FLAG_MORE_ENTITY_BODY_EXISTS
#define HTTP_REQUEST_FLAG_MORE_ENTITY_BODY_EXISTS 0x00000001
#endif
#ifndef FILE_SKIP_COMPLETION_PORT_ON_SUCCESS
#define FILE_SKIP_COMPLETION_PORT_ON_SUCCESS 0x1
#endif

namespace httpsys::win {

// Whoever reads structures that the kernel fills must agree with it on where their members are.
static_assert(sizeof(void*) != 8 || sizeof(HTTP_DATA_CHUNK) == 32);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_KNOWN_HEADER) == 16);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_UNKNOWN_HEADER) == 24);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_REQUEST_HEADERS) == 688);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_RESPONSE_HEADERS) == 512);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_COOKED_URL) == 40);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_REQUEST_V1) == 848);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_REQUEST_V2) == 864);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_RESPONSE_V1) == 552);
static_assert(sizeof(void*) != 8 || sizeof(HTTP_RESPONSE_V2) == 568);
static_assert(HttpHeaderRequestMaximum == 41 && HttpHeaderResponseMaximum == 30);
static_assert(HttpVerbMaximum == 20);

// Only the functions that Wine's httpapi.dll has are called: it ends the process at any other one.
// The environment variable HTTPSYS_HTTPAPI=core asks for that. Thread: any.
bool IsCoreOnly();

}  // namespace httpsys::win
