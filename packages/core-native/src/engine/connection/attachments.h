#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/connection/attachment.h"

namespace httpsys::engine {

// The attachments of a lane. Attachments are added before the lane's thread starts, and stay until
// the lane is destroyed.
class Attachments {
 public:
  Attachment* Add(std::unique_ptr<Attachment> attachment) {
    return all_.emplace_back(std::move(attachment)).get();
  }

  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

  // True if a JavaScript environment has unread records. Thread: the lane.
  bool HasUnread() const {
    return std::any_of(begin(), end(), [](const auto& one) { return one->requests().HasUnread(); });
  }
  // True if there are replies that the lane has not read. Thread: the lane.
  bool HasReplies() const {
    return std::any_of(begin(), end(), [](const auto& one) { return one->replies().HasMore(); });
  }
  // True if every JavaScript environment with unread replies is still in a batch: the lane may wait
  // and read more replies at a time. The caller must have called TellSleeping(true) of all
  // attachments. Thread: the lane.
  bool MayGatherReplies() const {
    return std::all_of(begin(), end(), [](const auto& one) {
      return !one->replies().HasMore() || one->IsInBatch();
    });
  }
  // True if a connection that waits for memory of JavaScript can be resumed. Thread: the lane.
  bool HasDueReceivers() const {
    return std::any_of(begin(), end(), [](const auto& one) {
      return one->receiving().is_due() || one->HasDueReaders();
    });
  }
  // True while a JavaScript environment may add replies without waking the lane, outside of a
  // batch. Thread: the lane.
  bool IsTurnOpen() const {
    return std::any_of(begin(), end(), [](const auto& one) { return one->IsTurnOpen(); });
  }
  // True while a JavaScript environment reads records. Thread: any.
  bool IsDraining() const {
    return std::any_of(begin(), end(), [](const auto& one) { return one->signal().is_draining(); });
  }

 private:
  std::vector<std::unique_ptr<Attachment>> all_;
};

}  // namespace httpsys::engine
