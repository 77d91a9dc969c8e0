#pragma once

#include <cstdint>

#include "records/records.h"
#include "win/http_api.h"

namespace httpsys::win {

// Decides how long HTTP.SYS may answer with a stored response without this process. HTTP.SYS stores
// only responses that are sent in one call. Thread: any, one at a time.
class CachePolicy {
 public:
  // Sets the policy. Returns false if it is unknown.
  bool Set(uint32_t policy, uint32_t seconds) {
    static_assert(int{records::kCacheUserInvalidates} == int{HttpCachePolicyUserInvalidates});
    static_assert(int{records::kCacheTimeToLive} == int{HttpCachePolicyTimeToLive});
    if (policy > HttpCachePolicyTimeToLive) return false;
    policy_.Policy = static_cast<HTTP_CACHE_POLICY_TYPE>(policy);
    policy_.SecondsToLive = seconds;
    return true;
  }
  // Returns the policy; nullptr = HTTP.SYS must not cache the response.
  HTTP_CACHE_POLICY* get() { return policy_.Policy == HttpCachePolicyNocache ? nullptr : &policy_; }

 private:
  HTTP_CACHE_POLICY policy_{HttpCachePolicyNocache, 0};
};

}  // namespace httpsys::win
