#include "engine/config/bandwidths.h"

#include <uv.h>

namespace httpsys::engine {

std::shared_ptr<RateBucket> Bandwidths::Of(uint32_t server_id, const ServerConfig& config,
                                           uint32_t prefix_id, uint16_t local_port) {
  Place place{server_id, prefix_id, local_port, {}, {}};
  if (config.has_prefixes()) {
    place.text = config.PrefixText(prefix_id);
    if (ParseUrlPrefix(place.text, &place.prefix) == PrefixError::kNone) {
      place.port = place.prefix.port;
    }
  } else {
    place.prefix_id = 0;
  }
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[{server_id, place.prefix_id}];
  entry.is_over = false;
  // Compare the texts, too: a new prefix may have the id of a removed one.
  if (entry.bucket != nullptr && entry.place.text == place.text) return entry.bucket;
  entry.place = std::move(place);
  entry.bucket = std::make_shared<RateBucket>(config.settings().max_bandwidth, uv_hrtime());
  Share(entry);
  return entry.bucket;
}

void Bandwidths::SetOwners(uint16_t port, CountOwners count) {
  const std::lock_guard lock(mutex_);
  if (count == nullptr) {
    counts_.erase(port);
  } else {
    counts_[port] = std::move(count);
  }
  for (const auto& [key, entry] : entries_) {
    if (entry.place.port == port) Share(entry);
  }
}

void Bandwidths::Forget(uint32_t server_id) {
  const std::lock_guard lock(mutex_);
  for (auto& [key, entry] : entries_) entry.is_over |= key.first == server_id;
  std::erase_if(entries_, [](const auto& item) {
    return item.second.is_over && item.second.bucket.use_count() == 1;
  });
}

void Bandwidths::Share(const Entry& entry) const {
  const auto found = counts_.find(entry.place.port);
  entry.bucket->SetOwners(found == counts_.end() ? 1 : found->second(entry.place), uv_hrtime());
}

}  // namespace httpsys::engine
