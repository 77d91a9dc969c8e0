#pragma once

#include <string>

#include "http_head.h"
#include "model.h"

namespace httpapi_double {

// A request from its head until its response has been sent. Thread: with the
// kernel's lock.
struct Request {
  uint64_t id = 0;
  // Nullptr when that is gone.
  Connection* connection = nullptr;
  // The handle that it was received through.
  QueueHandle* owner = nullptr;
  QueueRef queue;
  HTTP_URL_CONTEXT url_context = 0;
  // HTTP_AUTH_ENABLE_... of its URL group.
  ULONG auth_schemes = 0;
  RequestHead head;
  bool is_http2() const { return head.Has("x-double-version"); }
  bool is_retrieved = false;

  // What has arrived of the body and was not received yet.
  std::string body;
  bool is_body_complete = false;
  bool awaits_continue = false;
  // A call that waits for more of it.
  CallRef body_call;
  char* body_memory = nullptr;
  ULONG body_memory_bytes = 0;
  bool fills_memory = false;

  bool is_head_sent = false;
  bool is_answered = false;  // All of the response is on its way.
  bool is_opaque = false;
  bool has_framing = false;

  // Gives what there is to the call that waits.
  void ServeBody();
};

}  // namespace httpapi_double
