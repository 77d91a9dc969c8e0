#include "response_cache.h"

#include "model.h"

namespace httpapi_double {
namespace {

template <typename Map, typename Key>
const ResponseCache::Entry* FindIn(Map* entries, const Key& key) {
  const auto found = entries->find(key);
  if (found == entries->end()) return nullptr;
  if (found->second.expires_ms == 0 || found->second.expires_ms > GetTickCount64()) {
    return &found->second;
  }
  entries->erase(found);
  return nullptr;
}

bool IsBelow(const UrlPrefix& url, const UrlPrefix& prefix, bool is_recursive) {
  if (url.is_secure != prefix.is_secure || url.port != prefix.port) return false;
  const bool is_any_host = prefix.kind == UrlPrefix::Kind::kStrongWildcard ||
                           prefix.kind == UrlPrefix::Kind::kWeakWildcard;
  if (!is_any_host && url.host != prefix.host) return false;
  return url.path == prefix.path || (is_recursive && url.path.starts_with(prefix.path));
}

}  // namespace

const ResponseCache::Entry* ResponseCache::Find(const std::string& url) {
  return FindIn(&responses_, url);
}

const ResponseCache::Entry* ResponseCache::FindFragment(const std::wstring& name) {
  return FindIn(&fragments_, name);
}

void ResponseCache::Flush(const UrlPrefix& prefix, bool is_recursive) {
  const auto is_meant = [&](const auto& item) {
    return IsBelow(item.second.url, prefix, is_recursive);
  };
  std::erase_if(responses_, is_meant);
  std::erase_if(fragments_, is_meant);
}

}  // namespace httpapi_double
