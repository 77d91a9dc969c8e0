#include "base/rate_bucket.h"

#include <algorithm>

#include "base/limits.h"

namespace httpsys {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr uint64_t kMsPerSecond = 1000;
// Upper bounds for times and gaps, so that the products below fit 64 bits at every 32-bit rate.
constexpr uint64_t kSecondsMax = uint64_t{1} << 31;
constexpr uint64_t kGapBytesMax = uint64_t{1} << 33;

}  // namespace

RateBucket::RateBucket(uint64_t rate, uint64_t now_ns)
    : whole_rate_(std::clamp<uint64_t>(rate, 1, UINT32_MAX)), refilled_ns_(now_ns) {
  SetOwners(1, now_ns);
  granted_ = burst_bytes_;
}

void RateBucket::SetOwners(uint64_t owners, uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (rate_ != 0) Refill(now_ns);
  owners = std::max<uint64_t>(owners, 1);
  rate_ = std::max<uint64_t>(whole_rate_ / owners, 1);
  const uint64_t burst = std::max(whole_rate_ * limits::kBandwidthBurstMs / kMsPerSecond,
                                  limits::kBandwidthBurstBytesMin);
  burst_bytes_ = std::max<uint64_t>(burst / owners, 1);
  turn_bytes_ = std::clamp(rate_ * limits::kBandwidthTurnMs / kMsPerSecond,
                           limits::kBandwidthTurnBytesMin, limits::kBandwidthTurnBytesMax);
  LimitBurst();
}

void RateBucket::LimitBurst() { granted_ = std::min(granted_, taken_ + burst_bytes_); }

void RateBucket::Refill(uint64_t now_ns) {
  if (now_ns <= refilled_ns_) return;
  const uint64_t passed_ns = now_ns - refilled_ns_;
  refilled_ns_ = now_ns;
  const uint64_t seconds = std::min(passed_ns / kNsPerSecond, kSecondsMax);
  const uint64_t parts = passed_ns % kNsPerSecond * rate_ + rest_;
  granted_ += seconds * rate_ + parts / kNsPerSecond;
  rest_ = parts % kNsPerSecond;
  LimitBurst();
}

RateBucket::Taken RateBucket::Take(uint64_t want, uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  Refill(now_ns);
  const uint64_t turn = std::min(want, turn_bytes_);
  // Less than a turn's bytes are not worth a system call, unless the caller wants only those.
  if (granted_ >= taken_ + turn) {
    const uint64_t bytes = std::min(want, granted_ - taken_);
    taken_ += bytes;
    return {bytes, 0};
  }
  taken_ += turn;
  return {turn, taken_};
}

uint64_t RateBucket::WaitNs(uint64_t ticket, uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  Refill(now_ns);
  if (granted_ >= ticket) return 0;
  const uint64_t gap = std::min(ticket - granted_, kGapBytesMax);
  return (gap * kNsPerSecond + rate_ - 1) / rate_;
}

void RateBucket::Return(uint64_t bytes, uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  Refill(now_ns);
  granted_ += bytes;
  LimitBurst();
}

bool Allowance::Take(uint64_t now_ms, uint32_t most, uint32_t per_second) {
  const uint64_t now = now_ms / 1000;
  const uint64_t passed = now - std::min(now, second);
  second = now;
  used -= static_cast<uint32_t>(std::min<uint64_t>(used, passed * per_second));
  return ++used <= most;
}

}  // namespace httpsys
