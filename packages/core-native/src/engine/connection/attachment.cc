#include "engine/connection/attachment.h"

#include <random>
#include <utility>

namespace httpsys::engine {
namespace {

uint64_t RandomSeed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

Attachment::Attachment(ControlBlock control, std::vector<std::span<uint8_t>> segments,
                       ConsumerSignal* signal, std::shared_ptr<BlockPool> pool,
                       const std::atomic<bool>* is_held)
    : control_(control),
      signal_(signal),
      requests_(std::move(segments), std::move(pool)),
      replies_(control, is_held),
      claimed_(&control_[records::kRequestsClaimed]),
      records_(&requests_, RandomSeed()) {
  requests_.set_reading(&control_[records::kDispatchResume]);
}

uint64_t Attachment::BlockedMs(uint64_t now_ms) {
  const uint64_t begun = requests_.begun();
  if (begun != begun_ || !requests_.HasUnread()) {
    begun_ = begun;
    begun_at_ms_ = now_ms;
    return 0;
  }
  return now_ms - begun_at_ms_;
}

}  // namespace httpsys::engine
