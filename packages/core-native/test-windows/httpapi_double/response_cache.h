#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "url_prefix.h"

namespace httpapi_double {

// Responses by URL, and fragments by name. Thread: with the kernel's lock.
class ResponseCache {
 public:
  struct Entry {
    UrlPrefix url;
    std::string head;  // Without the empty line.
    std::string body;
    uint16_t status = 0;
    // Fields of the head, or empty.
    std::string content_type;
    std::string last_modified;
    std::string etag;
    uint64_t expires_ms = 0;  // 0 = never.
  };

  void Store(const std::string& url, Entry entry) { responses_[url] = std::move(entry); }
  // Nullptr when there is none, or none any more.
  const Entry* Find(const std::string& url);
  void StoreFragment(const std::wstring& name, Entry entry) { fragments_[name] = std::move(entry); }
  const Entry* FindFragment(const std::wstring& name);
  // Responses and fragments; `is_recursive` those below that path, too.
  void Flush(const UrlPrefix& prefix, bool is_recursive);

 private:
  std::map<std::string, Entry> responses_;
  std::map<std::wstring, Entry> fragments_;
};

}  // namespace httpapi_double
