// Exported: the cache of responses and fragments.

#include <algorithm>
#include <cstring>

#include "api_call.h"
#include "response_text.h"
#include "text.h"

namespace httpapi_double {
namespace {

ULONG AddFragment(Kernel* kernel, PCWSTR name, HTTP_DATA_CHUNK* chunk, HTTP_CACHE_POLICY* policy) {
  ResponseCache::Entry entry;
  if (name == nullptr || chunk == nullptr || policy == nullptr ||
      policy->Policy >= HttpCachePolicyMaximum || !ParseUrlPrefix(name, true, &entry.url)) {
    return ERROR_INVALID_PARAMETER;
  }
  const uint32_t error = GatherChunks(chunk, 1, &entry.body);
  if (error != NO_ERROR) return error;
  kernel->ledger.Note("{\"fragment\":" + JsonText(Narrow(name)) +
                      ",\"policy\":" + std::to_string(policy->Policy) +
                      ",\"seconds\":" + std::to_string(policy->SecondsToLive) + '}');
  if (policy->Policy == HttpCachePolicyNocache) return NO_ERROR;
  if (policy->Policy == HttpCachePolicyTimeToLive) {
    entry.expires_ms = GetTickCount64() + uint64_t{policy->SecondsToLive} * 1000;
  }
  kernel->cache.StoreFragment(name, std::move(entry));
  return NO_ERROR;
}

ULONG ReadFragment(Kernel* kernel, PCWSTR name, const HTTP_BYTE_RANGE* range, void* memory,
                   ULONG bytes, ULONG* count) {
  if (name == nullptr || memory == nullptr) return ERROR_INVALID_PARAMETER;
  const ResponseCache::Entry* entry = kernel->cache.FindFragment(name);
  if (entry == nullptr) return ERROR_PATH_NOT_FOUND;
  uint64_t at = 0;
  uint64_t length = HTTP_BYTE_RANGE_TO_EOF;
  if (range != nullptr) {
    at = range->StartingOffset.QuadPart;
    length = range->Length.QuadPart;
  }
  if (at > entry->body.size()) return ERROR_INVALID_PARAMETER;
  *count = static_cast<ULONG>(std::min<uint64_t>(length, entry->body.size() - at));
  if (*count > bytes) return ERROR_INSUFFICIENT_BUFFER;
  std::memcpy(memory, entry->body.data() + at, *count);
  return NO_ERROR;
}

}  // namespace
}  // namespace httpapi_double

using namespace httpapi_double;

extern "C" {

HTTPAPI_LINKAGE ULONG WINAPI HttpFlushResponseCache(HANDLE queue, PCWSTR url, ULONG flags,
                                                    LPOVERLAPPED overlapped) {
  return Begin("HttpFlushResponseCache", queue, overlapped, nullptr,
               [&](Kernel& kernel, const HandleRef&, const CallRef& call) {
                 UrlPrefix prefix;
                 if (url == nullptr || (flags & ~HTTP_FLUSH_RESPONSE_FLAG_RECURSIVE) != 0 ||
                     !ParseUrlPrefix(url, true, &prefix)) {
                   return call->Finish(ERROR_INVALID_PARAMETER);
                 }
                 kernel.ledger.Note("{\"flush\":" + JsonText(Narrow(url)) +
                                    ",\"flags\":" + std::to_string(flags) + '}');
                 kernel.cache.Flush(prefix, (flags & HTTP_FLUSH_RESPONSE_FLAG_RECURSIVE) != 0);
                 call->Finish(NO_ERROR);
               });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpAddFragmentToCache(HANDLE queue, PCWSTR name,
                                                    PHTTP_DATA_CHUNK chunk,
                                                    PHTTP_CACHE_POLICY policy,
                                                    LPOVERLAPPED overlapped) {
  return Begin("HttpAddFragmentToCache", queue, overlapped, nullptr,
               [&](Kernel& kernel, const HandleRef&, const CallRef& call) {
                 call->Finish(AddFragment(&kernel, name, chunk, policy));
               });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpReadFragmentFromCache(HANDLE queue, PCWSTR name,
                                                       PHTTP_BYTE_RANGE range, PVOID memory,
                                                       ULONG bytes, PULONG got,
                                                       LPOVERLAPPED overlapped) {
  return Begin("HttpReadFragmentFromCache", queue, overlapped, got,
               [&](Kernel& kernel, const HandleRef&, const CallRef& call) {
                 ULONG count = 0;
                 const ULONG error = ReadFragment(&kernel, name, range, memory, bytes, &count);
                 call->Finish(error, count);
               });
}

}  // extern "C"
