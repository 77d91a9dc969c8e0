#include "win/receiver.h"

#include <algorithm>
#include <utility>

namespace httpsys::win {
namespace {

// Number of outstanding calls: a request that arrives while another one is handled needs one, too.
constexpr size_t kCalls = 8;
// First guess at a request's size; longer requests are received a second time.
constexpr size_t kReceiveBytes = 16 * 1024;
// Longest request that is received; HTTP.SYS refuses longer heads in any configuration.
constexpr size_t kReceiveBytesMax = 32 * 1024 * 1024;
// Maximum number of requests that one call may receive in succession before other work is done.
constexpr int kRequestsPerTurn = 64;

}  // namespace

Receiver::Receiver(std::shared_ptr<KernelQueue> queue, uint32_t server_id, OnRequest on_request)
    : queue_(std::move(queue)), server_id_(server_id), on_request_(std::move(on_request)) {
  for (size_t i = 0; i < kCalls; ++i) calls_.push_back(std::make_unique<Call>(this));
}

Receiver* Receiver::Of(Operation* operation) { return static_cast<Call*>(operation)->receiver; }

void Receiver::Start() {
  is_refused_ = is_full_ = false;
  for (const auto& call : calls_) {
    for (int i = 0; i < kRequestsPerTurn && !call->is_outstanding; ++i) {
      if (is_stopped_ || is_refused_ || is_full_ || !Receive(call.get())) break;
    }
  }
}

void Receiver::Stop() {
  if (std::exchange(is_stopped_, true)) return;
  for (const auto& call : calls_) {
    if (call->is_outstanding) queue_->CancelCall(call.get());
  }
}

// Starts a call. Returns true if it was completed at once.
bool Receiver::Receive(Call* call) {
  if (call->id == 0) call->buffer.resize(kReceiveBytes / sizeof(uint64_t));
  const CallResult result =
      queue_->Receive(call->id, call->memory(), call->buffer.size() * sizeof(uint64_t), call);
  if (result.error != ERROR_IO_PENDING) return OnReceived(call, result);
  call->is_outstanding = true;
  ++outstanding_;
  return false;
}

void Receiver::OnCompletion(Operation* operation, const CallResult& result) {
  auto* call = static_cast<Call*>(operation);
  call->is_outstanding = false;
  --outstanding_;
  OnReceived(call, result);
  // Receive a request that did not fit even if the receiver is stopped: no other process can.
  while (is_stopped_ && call->id != 0 && !call->is_outstanding) Receive(call);
}

// Handles the result of a call. Returns false if the kernel refuses to deliver requests.
bool Receiver::OnReceived(Call* call, const CallResult& result) {
  if (result.error == NO_ERROR) {
    call->id = 0;
    is_full_ = !on_request_(*this, *call->memory());
    return true;
  }
  if (result.error == ERROR_MORE_DATA) {
    // Only the beginning of the request did fit, with its id: receive it again, with enough memory.
    const HTTP_REQUEST_ID id = call->memory()->RequestId;
    const size_t bytes = std::max<size_t>(result.bytes, call->buffer.size() * sizeof(uint64_t) * 2);
    call->id = bytes <= kReceiveBytesMax ? id : 0;
    if (call->id != 0) call->buffer.resize((bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
    return true;
  }
  // If the client has left before the second call, the kernel has not refused.
  is_refused_ = call->id == 0 && result.error != ERROR_CONNECTION_INVALID;
  call->id = 0;
  return !is_refused_;
}

}  // namespace httpsys::win
