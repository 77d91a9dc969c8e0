#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/connection/connection.h"
#include "engine/requests/native_answer.h"

namespace httpsys::engine {

// Bodies that streams of HTTP/2 have been given and have not taken. All streams with the same body
// share one copy: a client decides by its windows how many of them wait, and for how long.
// Thread: the lane.
class SharedBodies {
 public:
  // Shorter bodies are copied for each stream.
  static constexpr size_t kBytesMin = 16 * 1024;

  SharedBodies() = default;
  SharedBodies(const SharedBodies&) = delete;
  SharedBodies& operator=(const SharedBodies&) = delete;

  // Returns a copy of the body if the connection is a stream, and makes `body` a view of the copy;
  // nullptr = nothing is shared. `stamp` as for Share().
  std::shared_ptr<const std::string> ForStream(const Connection* connection, uint32_t stamp,
                                               std::string_view* body) {
    if (connection->stream == nullptr || body->size() < kBytesMin) return nullptr;
    std::shared_ptr<const std::string> shared = Share(stamp, *body);
    *body = *shared;
    return shared;
  }
  // Returns a piece of an answer, which `shared` keeps if it is a part of that.
  static NativeAnswer::Piece PieceOf(const std::shared_ptr<const std::string>& shared,
                                     std::string_view bytes) {
    const std::less_equal<const char*> is_ordered;
    const bool is_part = shared != nullptr && is_ordered(shared->data(), bytes.data()) &&
                         is_ordered(bytes.data() + bytes.size(), shared->data() + shared->size());
    NativeAnswer::Piece piece;
    if (is_part) piece.owner = shared;
    piece.bytes = bytes;
    return piece;
  }
  // Returns a copy of the body. `stamp` is that of the entry (EntryTerms::stamp); several bodies
  // may have the same one.
  std::shared_ptr<const std::string> Share(uint32_t stamp, std::string_view body) {
    std::weak_ptr<const std::string>& kept = bodies_[stamp];
    std::shared_ptr<const std::string> shared = kept.lock();
    if (shared != nullptr && *shared == body) return shared;
    shared = std::make_shared<const std::string>(body);
    kept = shared;
    if (bodies_.size() >= limit_) Forget();
    return shared;
  }

 private:
  // Forgets those that nobody has any more; so rarely that it costs next to nothing each time.
  void Forget() {
    std::erase_if(bodies_, [](const auto& entry) { return entry.second.expired(); });
    limit_ = 2 * bodies_.size() + kLimitMin;
  }

  static constexpr size_t kLimitMin = 64;

  size_t limit_ = kLimitMin;
  std::unordered_map<uint32_t, std::weak_ptr<const std::string>> bodies_;
};

}  // namespace httpsys::engine
