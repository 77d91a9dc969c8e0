#include "request_queue.h"

#include <vector>

#include "call.h"
#include "queue_handle.h"
#include "request.h"
#include "request_packing.h"

namespace httpapi_double {

bool RequestQueue::Deliver(const RequestRef& request) {
  if (shut_down_handles == handles || state != HttpEnabledStateActive) return false;
  while (!receivers.empty()) {
    const Receiver receiver = receivers.front();
    receivers.pop_front();
    if (receiver.call->is_finished()) continue;
    GiveRequest(request, receiver);
    return true;
  }
  if (requests.size() >= length) return false;
  requests.push_back(request);
  return true;
}

void RequestQueue::Receive(Receiver receiver) {
  if (receiver.handle->is_shut_down()) return receiver.call->Finish(ERROR_OPERATION_ABORTED);
  if (requests.empty()) {
    receivers.push_back(std::move(receiver));
    return;
  }
  const RequestRef request = requests.front();
  requests.pop_front();
  GiveRequest(request, receiver);
}

void RequestQueue::EndReceives(const QueueHandle& handle) {
  std::vector<CallRef> ended;
  std::erase_if(receivers, [&](const Receiver& receiver) {
    if (receiver.handle.get() != &handle) return false;
    ended.push_back(receiver.call);
    return true;
  });
  for (const CallRef& call : ended) call->Finish(ERROR_OPERATION_ABORTED);
}

void RequestQueue::Forget(const Request* request) {
  std::erase_if(requests, [request](const RequestRef& other) { return other.get() == request; });
}

void GiveRequest(const RequestRef& request, const RequestQueue::Receiver& receiver) {
  request->owner = receiver.handle.get();
  const bool copies_body = (receiver.flags & HTTP_RECEIVE_REQUEST_FLAG_COPY_BODY) != 0;
  ULONG needed = 0;
  const ULONG error =
      PackRequest(request.get(), copies_body, receiver.memory, receiver.bytes, &needed);
  request->is_retrieved = error == NO_ERROR;
  receiver.call->Finish(error, needed);
}

}  // namespace httpapi_double
