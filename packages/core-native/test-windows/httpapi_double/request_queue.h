#pragma once

#include <deque>
#include <string>

#include "model.h"

namespace httpapi_double {

// Requests that wait for a call, or calls that wait for a request. Thread: with
// the kernel's lock.
struct RequestQueue {
  struct Receiver {
    CallRef call;
    HandleRef handle;
    HTTP_REQUEST* memory;
    ULONG bytes;
    ULONG flags;
  };

  std::wstring name;  // Empty when it has none.
  size_t handles = 0;
  size_t shut_down_handles = 0;  // Of these.
  std::deque<RequestRef> requests;
  std::deque<Receiver> receivers;

  // Properties.
  HTTP_ENABLED_STATE state = HttpEnabledStateActive;
  ULONG length = 1000;
  ULONG verbosity = Http503ResponseVerbosityBasic;

  // False when it takes no more: 503.
  bool Deliver(const RequestRef& request);
  // The next request, now or when there is one.
  void Receive(Receiver receiver);
  // Ends the calls for requests of one handle.
  void EndReceives(const QueueHandle& handle);
  // Of a connection that is gone.
  void Forget(const Request* request);
};

// Fills a caller's memory and ends the call.
void GiveRequest(const RequestRef& request, const RequestQueue::Receiver& receiver);

}  // namespace httpapi_double
