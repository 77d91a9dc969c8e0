#include "tls/error_queue.h"

#include <cerrno>
#include <string>

namespace httpsys::tls {
namespace {

const char* OrEmpty(const char* text) { return text == nullptr ? "" : text; }

int AppendLine(const char* line, size_t size, void* to) {
  static_cast<std::string*>(to)->append(line, size);
  return 1;
}

}  // namespace

void Fail(int error, Failure* failure) {
  failure->error = error;
  ERR_clear_error();
}

void FailWithQueue(Failure* failure) {
  const char* function = nullptr;
  const unsigned long code = ERR_peek_error_all(nullptr, nullptr, &function, nullptr, nullptr);
  failure->error = EPROTO;
  if (code != 0) {
    failure->reason = ERR_GET_REASON(code);
    failure->library = OrEmpty(ERR_lib_error_string(code));
    failure->function = OrEmpty(function);
    failure->reason_text = OrEmpty(ERR_reason_error_string(code));
  }
  ERR_print_errors_cb(AppendLine, &failure->text);
  ERR_clear_error();
}

}  // namespace httpsys::tls
