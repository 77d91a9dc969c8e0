#include "response_text.h"

#include <algorithm>
#include <ctime>

#include "header_names.h"
#include "kernel.h"
#include "text.h"

namespace httpapi_double {
namespace {

constexpr std::string_view kServer = "Microsoft-HTTPAPI/2.0";

std::string DateNow() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_s(&parts, &now);
  char text[40];
  std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text;
}

void AddLine(std::string_view name, std::string_view value, std::string* head) {
  head->append(name).append(": ").append(value).append("\r\n");
}

bool AddKnown(const HTTP_RESPONSE& response, std::string* head) {
  for (size_t id = 0; id < HttpHeaderResponseMaximum; ++id) {
    const HTTP_KNOWN_HEADER& line = response.Headers.KnownHeaders[id];
    // Its own name follows what the application calls itself.
    if (line.RawValueLength == 0 || id == HttpHeaderServer) continue;
    if (line.pRawValue == nullptr) return false;
    AddLine(ResponseHeaderName(id), {line.pRawValue, line.RawValueLength}, head);
  }
  return true;
}

bool AddUnknown(const HTTP_RESPONSE& response, std::string* head) {
  const HTTP_RESPONSE_HEADERS& headers = response.Headers;
  if (headers.UnknownHeaderCount != 0 && headers.pUnknownHeaders == nullptr) return false;
  for (USHORT i = 0; i < headers.UnknownHeaderCount; ++i) {
    const HTTP_UNKNOWN_HEADER& line = headers.pUnknownHeaders[i];
    if (line.NameLength == 0 || line.pName == nullptr) return false;
    AddLine({line.pName, line.NameLength}, {line.pRawValue, line.RawValueLength}, head);
  }
  // Both are reserved.
  return headers.TrailerCount == 0 && headers.pTrailers == nullptr;
}

bool AddMultiple(const HTTP_RESPONSE& response, std::string* head) {
  for (USHORT i = 0; i < response.ResponseInfoCount; ++i) {
    const HTTP_RESPONSE_INFO& info = response.pResponseInfo[i];
    if (info.pInfo == nullptr) return false;
    if (info.Type != HttpResponseInfoTypeMultipleKnownHeaders) continue;
    if (info.Length != sizeof(HTTP_MULTIPLE_KNOWN_HEADERS)) return false;
    const auto& multiple = *static_cast<const HTTP_MULTIPLE_KNOWN_HEADERS*>(info.pInfo);
    if (multiple.HeaderId >= HttpHeaderResponseMaximum) return false;
    for (USHORT line = 0; line < multiple.KnownHeaderCount; ++line) {
      const HTTP_KNOWN_HEADER& known = multiple.KnownHeaders[line];
      AddLine(ResponseHeaderName(multiple.HeaderId), {known.pRawValue, known.RawValueLength}, head);
    }
  }
  return true;
}

uint32_t ReadFileChunk(const HTTP_DATA_CHUNK& chunk, std::string* bytes) {
  const HANDLE file = chunk.FromFileHandle.FileHandle;
  const HTTP_BYTE_RANGE& range = chunk.FromFileHandle.ByteRange;
  LARGE_INTEGER size;
  if (GetFileSizeEx(file, &size) == 0) return GetLastError();
  uint64_t at = range.StartingOffset.QuadPart;
  uint64_t left = range.Length.QuadPart;
  const auto end = static_cast<uint64_t>(size.QuadPart);
  if (at > end) return ERROR_INVALID_PARAMETER;
  if (left == HTTP_BYTE_RANGE_TO_EOF) left = end - at;
  if (left > end - at) return ERROR_INVALID_PARAMETER;
  Kernel& kernel = Kernel::Get();
  kernel.NoteFile(file);
  kernel.ledger.Note("{\"fileFrom\":" + std::to_string(at) + ",\"bytes\":" + std::to_string(left) +
                     '}');
  std::string piece(64 * 1024, '\0');
  while (left > 0) {
    OVERLAPPED where{};
    where.Offset = static_cast<DWORD>(at);
    where.OffsetHigh = static_cast<DWORD>(at >> 32);
    where.hEvent = CreateEventW(nullptr, TRUE, FALSE, nullptr);
    DWORD got = 0;
    BOOL is_read =
        ReadFile(file, piece.data(), static_cast<DWORD>(std::min<uint64_t>(left, piece.size())),
                 &got, &where);
    if (is_read == 0 && GetLastError() == ERROR_IO_PENDING) {
      is_read = GetOverlappedResult(file, &where, &got, TRUE);
    }
    const DWORD error = GetLastError();
    CloseHandle(where.hEvent);
    if (is_read == 0) return error;
    if (got == 0) return ERROR_HANDLE_EOF;
    bytes->append(piece, 0, got);
    at += got;
    left -= got;
  }
  return NO_ERROR;
}

uint32_t AddFragment(const HTTP_DATA_CHUNK& chunk, std::string* bytes) {
  if (chunk.FromFragmentCache.pFragmentName == nullptr) return ERROR_INVALID_PARAMETER;
  const std::wstring name(chunk.FromFragmentCache.pFragmentName,
                          chunk.FromFragmentCache.FragmentNameLength / sizeof(wchar_t));
  const ResponseCache::Entry* entry = Kernel::Get().cache.FindFragment(name);
  if (entry == nullptr) return ERROR_PATH_NOT_FOUND;
  bytes->append(entry->body);
  return NO_ERROR;
}

}  // namespace

bool HasNoBody(uint16_t status) { return status < 200 || status == 204 || status == 304; }

bool HasHeader(const HTTP_RESPONSE& response, HTTP_HEADER_ID id) {
  return response.Headers.KnownHeaders[id].RawValueLength != 0;
}

std::string HeaderValue(const HTTP_RESPONSE& response, HTTP_HEADER_ID id) {
  const HTTP_KNOWN_HEADER& line = response.Headers.KnownHeaders[id];
  return line.RawValueLength == 0 ? std::string()
                                  : std::string(line.pRawValue, line.RawValueLength);
}

bool ComposeHead(const HTTP_RESPONSE& response, int64_t length, bool closes, std::string* head) {
  *head = "HTTP/1.1 " + std::to_string(response.StatusCode) + ' ';
  if (response.ReasonLength != 0) head->append(response.pReason, response.ReasonLength);
  head->append("\r\n");
  if (!AddKnown(response, head) || !AddUnknown(response, head) || !AddMultiple(response, head)) {
    return false;
  }
  if (length >= 0) AddLine("Content-Length", std::to_string(length), head);
  const std::string server = HeaderValue(response, HttpHeaderServer);
  AddLine("Server", server.empty() ? std::string(kServer) : server + ' ' + std::string(kServer),
          head);
  if (!HasHeader(response, HttpHeaderDate)) AddLine("Date", DateNow(), head);
  if (closes && !HasHeader(response, HttpHeaderConnection)) AddLine("Connection", "close", head);
  return true;
}

uint32_t GatherChunks(const HTTP_DATA_CHUNK* chunks, size_t count, std::string* bytes) {
  if (count != 0 && chunks == nullptr) return ERROR_INVALID_PARAMETER;
  for (size_t i = 0; i < count; ++i) {
    const HTTP_DATA_CHUNK& chunk = chunks[i];
    uint32_t error = NO_ERROR;
    if (chunk.DataChunkType == HttpDataChunkFromMemory) {
      if (chunk.FromMemory.pBuffer == nullptr && chunk.FromMemory.BufferLength != 0) {
        return ERROR_INVALID_PARAMETER;
      }
      bytes->append(static_cast<const char*>(chunk.FromMemory.pBuffer),
                    chunk.FromMemory.BufferLength);
    } else if (chunk.DataChunkType == HttpDataChunkFromFileHandle) {
      error = ReadFileChunk(chunk, bytes);
    } else if (chunk.DataChunkType == HttpDataChunkFromFragmentCache) {
      error = AddFragment(chunk, bytes);
    } else {
      error = ERROR_INVALID_PARAMETER;
    }
    if (error != NO_ERROR) return error;
  }
  return NO_ERROR;
}

}  // namespace httpapi_double
