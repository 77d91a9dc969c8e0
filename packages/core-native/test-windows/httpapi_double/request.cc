#include "request.h"

#include <algorithm>
#include <cstring>

#include "call.h"

namespace httpapi_double {

void Request::ServeBody() {
  if (body_call == nullptr) return;
  if (body_call->is_finished()) {
    body_call = nullptr;
    return;
  }
  const bool is_enough = fills_memory ? body.size() >= body_memory_bytes : !body.empty();
  if (!is_enough && !is_body_complete) return;
  const CallRef call = std::move(body_call);
  body_call = nullptr;
  if (body.empty()) return call->Finish(ERROR_HANDLE_EOF);
  const size_t bytes = std::min<size_t>(body.size(), body_memory_bytes);
  std::memcpy(body_memory, body.data(), bytes);
  body.erase(0, bytes);
  call->Finish(NO_ERROR, static_cast<uint32_t>(bytes));
}

}  // namespace httpapi_double
