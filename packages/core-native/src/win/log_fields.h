#pragma once

#include <cstdint>
#include <string>

#include "records/addresses.h"
#include "win/http_api.h"

namespace httpsys::win {

// The data that HTTP.SYS logs about a request; without it, HTTP.SYS logs nothing. Must stay alive
// until the call that uses it has completed. Thread: any, one at a time.
class LogFields {
 public:
  LogFields(const HTTP_REQUEST& request, const engine::Addresses& addresses,
            std::string_view method);
  LogFields& operator=(LogFields&&) = delete;

  HTTP_LOG_DATA* With(uint16_t status);

 private:
  std::wstring stem_;
  std::string query_;
  std::string client_;
  std::string server_;
  std::string method_;
  std::string host_;
  std::string agent_;
  std::string referrer_;
  LogFieldsData data_{};
};

}  // namespace httpsys::win
