// Exported: requests, responses and connections.

#include <cstring>

#include "api_call.h"
#include "cached_answer.h"
#include "connection.h"
#include "request.h"
#include "request_queue.h"
#include "response_text.h"
#include "text.h"

namespace httpapi_double {
namespace {

// Of HttpSendHttpResponse() and HttpSendResponseEntityBody().
constexpr ULONG kFlags = 0x1ff;

bool IsCacheable(const HTTP_CACHE_POLICY* policy, ULONG flags, const Request& request,
                 const HTTP_RESPONSE& response, size_t bytes) {
  if (policy == nullptr || policy->Policy == HttpCachePolicyNocache) return false;
  if (policy->Policy == HttpCachePolicyTimeToLive && policy->SecondsToLive == 0) return false;
  constexpr ULONG kNotWhole = HTTP_SEND_RESPONSE_FLAG_MORE_DATA | HTTP_SEND_RESPONSE_FLAG_OPAQUE;
  return (flags & kNotWhole) == 0 && IsKept(request.head, response, bytes);
}

void Store(Kernel* kernel, const HTTP_CACHE_POLICY& policy, const Request& request,
           const HTTP_RESPONSE& response, const std::string& body) {
  ResponseCache::Entry entry;
  const bool is_counted = HasHeader(response, HttpHeaderContentLength) ||
                          HasHeader(response, HttpHeaderTransferEncoding);
  const int64_t length = is_counted ? -1 : static_cast<int64_t>(body.size());
  if (!ComposeHead(response, length, false, &entry.head)) return;
  const std::string url = request.connection->FullUrl();
  if (!ParseUrlPrefix(Widen(url.substr(0, url.find('?'))), true, &entry.url)) return;
  entry.body = body;
  entry.status = response.StatusCode;
  entry.content_type = HeaderValue(response, HttpHeaderContentType);
  entry.last_modified = HeaderValue(response, HttpHeaderLastModified);
  entry.etag = HeaderValue(response, HttpHeaderEtag);
  if (policy.Policy == HttpCachePolicyTimeToLive) {
    entry.expires_ms = GetTickCount64() + uint64_t{policy.SecondsToLive} * 1000;
  }
  kernel->cache.Store(url, std::move(entry));
}

void NoteSend(Kernel* kernel, const Request& request, ULONG flags, USHORT status,
              const HTTP_CACHE_POLICY* policy) {
  std::string json = "{\"response\":" + JsonText(request.connection->FullUrl()) +
                     ",\"status\":" + std::to_string(status) +
                     ",\"flags\":" + std::to_string(flags);
  if (policy != nullptr) {
    json += ",\"policy\":" + std::to_string(policy->Policy) +
            ",\"seconds\":" + std::to_string(policy->SecondsToLive);
  }
  kernel->ledger.Note(json + '}');
}

// Pointers of logged values are to text without an end.
void NoteLog(Kernel* kernel, const HTTP_LOG_DATA* data) {
  if (data == nullptr || data->Type != HttpLogDataTypeFields) return;
  const auto& log = *reinterpret_cast<const LogFields*>(data);
  const auto text = [](const char* name, const char* value, USHORT bytes) {
    return ',' + JsonText(name) + ':' +
           JsonText(value == nullptr ? std::string_view() : std::string_view(value, bytes));
  };
  const std::wstring_view stem(log.UriStem != nullptr ? log.UriStem : L"",
                               log.UriStem != nullptr ? log.UriStemLength / sizeof(wchar_t) : 0);
  kernel->ledger.Note(
      "{\"log\":" + JsonText(Narrow(stem)) + ",\"status\":" + std::to_string(log.ProtocolStatus) +
      ",\"port\":" + std::to_string(log.ServerPort) +
      text("query", log.UriQuery, log.UriQueryLength) +
      text("method", log.Method, log.MethodLength) +
      text("client", log.ClientIp, log.ClientIpLength) +
      text("server", log.ServerIp, log.ServerIpLength) + text("host", log.Host, log.HostLength) +
      text("agent", log.UserAgent, log.UserAgentLength) +
      text("referrer", log.Referrer, log.ReferrerLength) + '}');
}

Connection::Next NextAfter(ULONG flags, bool closes) {
  if ((flags & HTTP_SEND_RESPONSE_FLAG_MORE_DATA) != 0) return Connection::Next::kMore;
  return closes ? Connection::Next::kEnd : Connection::Next::kNextRequest;
}

// With a buffer in the kernel the call ends before the bytes have left.
void Transmit(const RequestRef& request, ULONG flags, std::string bytes, bool closes,
              const CallRef& call) {
  const Connection::Next next = NextAfter(flags, closes);
  request->is_answered = next != Connection::Next::kMore;
  const auto count = static_cast<uint32_t>(bytes.size());
  const bool is_buffered = (flags & HTTP_SEND_RESPONSE_FLAG_BUFFER_DATA) != 0;
  // A cancelled send leaves a response that nobody can go on with.
  call->set_on_cancel([request] {
    if (request->connection != nullptr) request->connection->Reset();
  });
  request->connection->Send(std::move(bytes), is_buffered ? nullptr : call, next);
  if (is_buffered) call->Finish(NO_ERROR, count);
}

// Takes trailers off the end of the chunks.
ULONG TakeTrailers(Kernel* kernel, const Request& request, ULONG flags,
                   const HTTP_DATA_CHUNK* chunks, USHORT* count) {
  if (*count == 0 || chunks == nullptr) return NO_ERROR;
  const HTTP_DATA_CHUNK& last = chunks[*count - 1];
  if (static_cast<int>(last.DataChunkType) != kChunkTrailers) return NO_ERROR;
  Trailers trailers;
  std::memcpy(&trailers, &last.FromMemory, sizeof trailers);
  if (!request.is_http2() || (flags & HTTP_SEND_RESPONSE_FLAG_MORE_DATA) != 0 ||
      trailers.TrailerCount == 0 || trailers.pTrailers == nullptr) {
    return ERROR_INVALID_PARAMETER;
  }
  std::string json = "{\"trailers\":[";
  for (USHORT i = 0; i < trailers.TrailerCount; ++i) {
    const HTTP_UNKNOWN_HEADER& line = trailers.pTrailers[i];
    if (i != 0) json += ',';
    json += JsonText({line.pName, line.NameLength}) + ',' +
            JsonText({line.pRawValue, line.RawValueLength});
  }
  kernel->ledger.Note(json + "],\"flags\":" + std::to_string(flags) + '}');
  --*count;
  return NO_ERROR;
}

ULONG SendHead(Kernel* kernel, const RequestRef& request, ULONG flags, HTTP_RESPONSE* response,
               const HTTP_CACHE_POLICY* policy, const CallRef& call) {
  const bool is_opaque = (flags & HTTP_SEND_RESPONSE_FLAG_OPAQUE) != 0;
  if (response == nullptr || (flags & ~kFlags) != 0 || request->is_head_sent ||
      response->StatusCode < 100 || response->StatusCode > 999 ||
      (is_opaque && response->StatusCode != 101) ||
      (policy != nullptr && policy->Policy >= HttpCachePolicyMaximum)) {
    return ERROR_INVALID_PARAMETER;
  }
  std::string body;
  USHORT count = response->EntityChunkCount;
  uint32_t error = TakeTrailers(kernel, *request, flags, response->pEntityChunks, &count);
  if (error == NO_ERROR) error = GatherChunks(response->pEntityChunks, count, &body);
  if (error != NO_ERROR) return error;
  const bool is_whole = (flags & HTTP_SEND_RESPONSE_FLAG_MORE_DATA) == 0;
  const bool is_framed = HasHeader(*response, HttpHeaderContentLength) ||
                         HasHeader(*response, HttpHeaderTransferEncoding) ||
                         HasNoBody(response->StatusCode);
  const bool closes = (flags & HTTP_SEND_RESPONSE_FLAG_DISCONNECT) != 0 ||
                      !request->head.keep_alive ||
                      HasToken(HeaderValue(*response, HttpHeaderConnection), "close");
  const int64_t length = is_whole && !is_framed ? static_cast<int64_t>(body.size()) : -1;
  std::string head;
  if (!ComposeHead(*response, length, closes && !is_opaque, &head)) return ERROR_INVALID_PARAMETER;
  if (IsCacheable(policy, flags, *request, *response, head.size() + body.size())) {
    Store(kernel, *policy, *request, *response, body);
  }
  NoteSend(kernel, *request, flags, response->StatusCode, policy);
  request->is_head_sent = true;
  request->has_framing = is_framed || is_whole;
  if (closes || !request->has_framing) request->head.keep_alive = false;
  if (request->head.method == "HEAD" || HasNoBody(response->StatusCode)) body.clear();
  if (is_opaque) {
    request->is_opaque = true;
    request->connection->BecomeOpaque();
  }
  Transmit(request, flags, head + "\r\n" + body, !request->head.keep_alive, call);
  return NO_ERROR;
}

ULONG SendBody(Kernel* kernel, const RequestRef& request, ULONG flags,
               const HTTP_DATA_CHUNK* chunks, USHORT count, const CallRef& call) {
  if ((flags & ~kFlags) != 0 || !request->is_head_sent) return ERROR_INVALID_PARAMETER;
  std::string body;
  uint32_t error = TakeTrailers(kernel, *request, flags, chunks, &count);
  if (error == NO_ERROR) error = GatherChunks(chunks, count, &body);
  if (error != NO_ERROR) return error;
  if (request->head.method == "HEAD") body.clear();
  const bool closes = (flags & HTTP_SEND_RESPONSE_FLAG_DISCONNECT) != 0;
  Transmit(request, flags, std::move(body), closes || !request->head.keep_alive, call);
  return NO_ERROR;
}

void ReceiveBody(const RequestRef& request, bool fills, void* memory, ULONG bytes,
                 const CallRef& call) {
  request->body_call = call;
  request->body_memory = static_cast<char*>(memory);
  request->body_memory_bytes = bytes;
  request->fills_memory = fills;
  if (request->awaits_continue && request->body.empty()) {
    request->connection->SendContinue();
    if (request->connection == nullptr) return;
  }
  request->ServeBody();
  // There is room for more.
  request->connection->OnBodyRead();
}

ULONG GiveCertificate(const Kernel& kernel, const Connection& connection,
                      HTTP_SSL_CLIENT_CERT_INFO* info, ULONG bytes, ULONG* needed) {
  const std::string& certificate = kernel.asked_certificate;
  if (!connection.is_secure()) return ERROR_INVALID_PARAMETER;
  if (certificate.empty()) return ERROR_NOT_FOUND;
  *needed = static_cast<ULONG>(sizeof *info + certificate.size());
  if (bytes < sizeof *info) return ERROR_INSUFFICIENT_BUFFER;
  *info = {};
  info->CertEncodedSize = static_cast<ULONG>(certificate.size());
  if (bytes < *needed) return ERROR_MORE_DATA;
  info->pCertEncoded = reinterpret_cast<PUCHAR>(info + 1);
  std::memcpy(info->pCertEncoded, certificate.data(), certificate.size());
  return NO_ERROR;
}

}  // namespace
}  // namespace httpapi_double

using namespace httpapi_double;

extern "C" {

HTTPAPI_LINKAGE ULONG WINAPI HttpReceiveHttpRequest(HANDLE queue, HTTP_REQUEST_ID id, ULONG flags,
                                                    PHTTP_REQUEST memory, ULONG bytes, PULONG got,
                                                    LPOVERLAPPED overlapped) {
  return Begin("HttpReceiveHttpRequest", queue, overlapped, got,
               [&](Kernel& kernel, const HandleRef& handle, const CallRef& call) {
                 constexpr ULONG kBodyFlags = 3;  // COPY_BODY, FLUSH_BODY
                 if (memory == nullptr || bytes < sizeof(HTTP_REQUEST)) {
                   return call->Finish(ERROR_NOACCESS);
                 }
                 if ((flags & ~kBodyFlags) != 0 || handle->is_controller()) {
                   return call->Finish(ERROR_INVALID_PARAMETER);
                 }
                 const RequestQueue::Receiver receiver{call, handle, memory, bytes, flags};
                 if (id == HTTP_NULL_ID) return handle->queue()->Receive(receiver);
                 const RequestRef request = kernel.FindRequest(id, *handle);
                 if (request == nullptr) return call->Finish(ERROR_CONNECTION_INVALID);
                 if (request->is_retrieved) return call->Finish(ERROR_HANDLE_EOF);
                 GiveRequest(request, receiver);
               });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpReceiveRequestEntityBody(HANDLE queue, HTTP_REQUEST_ID id,
                                                          ULONG flags, PVOID memory, ULONG bytes,
                                                          PULONG got, LPOVERLAPPED overlapped) {
  return Begin("HttpReceiveRequestEntityBody", queue, overlapped, got,
               [&](Kernel& kernel, const HandleRef& handle, const CallRef& call) {
                 constexpr ULONG kFill = HTTP_RECEIVE_REQUEST_ENTITY_BODY_FLAG_FILL_BUFFER;
                 const RequestRef request = kernel.FindRequest(id, *handle);
                 if (request == nullptr) return call->Finish(ERROR_CONNECTION_INVALID);
                 if (memory == nullptr || bytes == 0 || (flags & ~kFill) != 0 ||
                     request->body_call != nullptr) {
                   return call->Finish(ERROR_INVALID_PARAMETER);
                 }
                 ReceiveBody(request, (flags & kFill) != 0, memory, bytes, call);
               });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpSendHttpResponse(HANDLE queue, HTTP_REQUEST_ID id, ULONG flags,
                                                  PHTTP_RESPONSE response, PVOID policy,
                                                  PULONG sent, PVOID reserved2, ULONG reserved3,
                                                  LPOVERLAPPED overlapped, PVOID log) {
  return Begin("HttpSendHttpResponse", queue, overlapped, sent,
               [&](Kernel& kernel, const HandleRef& handle, const CallRef& call) {
                 if (reserved2 != nullptr || reserved3 != 0) {
                   return call->Finish(ERROR_INVALID_PARAMETER);
                 }
                 const RequestRef request = kernel.FindRequest(id, *handle);
                 if (request == nullptr || request->is_answered) {
                   return call->Finish(ERROR_CONNECTION_INVALID);
                 }
                 const ULONG error = SendHead(&kernel, request, flags, response,
                                              static_cast<HTTP_CACHE_POLICY*>(policy), call);
                 if (error != NO_ERROR) return call->Finish(error);
                 NoteLog(&kernel, static_cast<HTTP_LOG_DATA*>(log));
               });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpSendResponseEntityBody(HANDLE queue, HTTP_REQUEST_ID id,
                                                        ULONG flags, USHORT count,
                                                        PHTTP_DATA_CHUNK chunks, PULONG sent,
                                                        PVOID reserved1, ULONG reserved2,
                                                        LPOVERLAPPED overlapped, PVOID log) {
  return Begin("HttpSendResponseEntityBody", queue, overlapped, sent,
               [&](Kernel& kernel, const HandleRef& handle, const CallRef& call) {
                 if (reserved1 != nullptr || reserved2 != 0) {
                   return call->Finish(ERROR_INVALID_PARAMETER);
                 }
                 const RequestRef request = kernel.FindRequest(id, *handle);
                 if (request == nullptr || request->is_answered) {
                   return call->Finish(ERROR_CONNECTION_INVALID);
                 }
                 const ULONG error = SendBody(&kernel, request, flags, chunks, count, call);
                 if (error != NO_ERROR) return call->Finish(error);
                 NoteLog(&kernel, static_cast<HTTP_LOG_DATA*>(log));
               });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpCancelHttpRequest(HANDLE queue, HTTP_REQUEST_ID id,
                                                   LPOVERLAPPED overlapped) {
  return Begin("HttpCancelHttpRequest", queue, overlapped, nullptr,
               [&](Kernel& kernel, const HandleRef& handle, const CallRef& call) {
                 const RequestRef request = kernel.FindRequest(id, *handle);
                 if (request == nullptr) return call->Finish(ERROR_CONNECTION_INVALID);
                 if (request->body_call != nullptr) request->body_call->Cancel();
                 request->connection->Reset();
                 call->Finish(NO_ERROR);
               });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpWaitForDisconnect(HANDLE queue, HTTP_CONNECTION_ID id,
                                                   LPOVERLAPPED overlapped) {
  return Begin("HttpWaitForDisconnect", queue, overlapped, nullptr,
               [&](Kernel& kernel, const HandleRef&, const CallRef& call) {
                 const auto found = kernel.connections.find(id);
                 if (found == kernel.connections.end()) {
                   return call->Finish(ERROR_CONNECTION_INVALID);
                 }
                 found->second->AddDisconnectCall(call);
               });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpReceiveClientCertificate(HANDLE queue, HTTP_CONNECTION_ID id,
                                                          ULONG flags,
                                                          PHTTP_SSL_CLIENT_CERT_INFO info,
                                                          ULONG bytes, PULONG got,
                                                          LPOVERLAPPED overlapped) {
  return Begin("HttpReceiveClientCertificate", queue, overlapped, got,
               [&](Kernel& kernel, const HandleRef&, const CallRef& call) {
                 const auto found = kernel.connections.find(id);
                 if (found == kernel.connections.end()) {
                   return call->Finish(ERROR_CONNECTION_INVALID);
                 }
                 if (info == nullptr || flags > 1) return call->Finish(ERROR_INVALID_PARAMETER);
                 if (!kernel.answers_asking) return;
                 ULONG needed = 0;
                 const ULONG error = GiveCertificate(kernel, *found->second, info, bytes, &needed);
                 call->Finish(error, needed);
               });
}

HTTPAPI_LINKAGE BOOL WINAPI HttpIsFeatureSupported(int feature) {
  Kernel& kernel = Kernel::Get();
  const std::lock_guard lock(kernel.mutex);
  kernel.ledger.Count("HttpIsFeatureSupported");
  const bool is_refused = kernel.faults.Take("HttpIsFeatureSupported").code != 0;
  return feature == kFeatureResponseTrailers && !is_refused ? TRUE : FALSE;
}

// No request starts a program here.
HTTPAPI_LINKAGE ULONG WINAPI HttpWaitForDemandStart(HANDLE queue, LPOVERLAPPED overlapped) {
  return Begin("HttpWaitForDemandStart", queue, overlapped, nullptr,
               [](Kernel&, const HandleRef&, const CallRef&) {});
}

}  // extern "C"
