#include "http2/used_streams.h"

#include <algorithm>

namespace httpsys::http2 {

UsedStreams::Verdict UsedStreams::OnFrame(int32_t id, bool is_headers) {
  // nghttp2 itself refuses even stream ids, stream 0, and DATA before HEADERS.
  if (id % 2 == 0) return Verdict::kFine;
  if (id > newest_) {
    if (!is_headers) return Verdict::kFine;
    if (id > newest_ + 2) {
      skipped_[next_skipped_++ % skipped_.size()] = {newest_ + 2, id - 2};
    }
    newest_ = id;
    return Verdict::kFine;
  }
  for (const Range& range : skipped_) {
    if (id >= range.first && id <= range.last) return Verdict::kSkipped;
  }
  if (id <= forgotten_ || std::find(resets_.begin(), resets_.end(), id) != resets_.end()) {
    return Verdict::kFine;
  }
  return Verdict::kClosed;
}

void UsedStreams::OnReset(int32_t id) {
  int32_t& place = resets_[next_reset_++ % resets_.size()];
  forgotten_ = std::max(forgotten_, place);
  place = id;
}

}  // namespace httpsys::http2
