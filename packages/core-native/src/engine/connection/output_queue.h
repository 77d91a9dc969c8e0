#pragma once
// The queue of output that the kernel has not taken yet, and what is measured and done because of
// it.

#include <sys/uio.h>
#include <uv.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/block_store.h"
#include "engine/connection/connected_socket.h"
#include "files/open_file.h"

namespace httpsys::engine {

// Measures whether a client is too slow in taking its response, while the socket does not take all
// output. Acknowledged bytes count, because a socket buffer takes megabytes of which the client has
// read nothing. A member of the OutputQueue, so time without unsent output does not count. Thread:
// the lane.
class SendRateWatch {
 public:
  // How many times IsTooSlow() is called in one averaging time. The acknowledged bytes are read
  // only if the socket has taken too little since the last call.
  static constexpr uint64_t kLooks = 6;

  // Called every `average_ms` / kLooks. `taken` is the number of bytes the socket has taken since
  // the queue began; `ask` fills an Acknowledged and returns false if that is impossible. Returns
  // true if the client has acknowledged less than `rate` bytes per second for at least
  // `average_ms`.
  template <typename Ask>
  bool IsTooSlow(uint64_t now_ms, uint64_t taken, uint64_t rate, uint64_t average_ms, Ask ask) {
    const uint64_t step = taken - taken_;
    taken_ = taken;
    // A large step does not end a measurement that has begun: the client might take nothing after
    // it.
    const bool is_enough = step * 1000 >= rate * (average_ms / kLooks);
    if (is_enough && since_ms_ == 0) return false;
    if (since_ms_ != 0 && now_ms - since_ms_ < average_ms) return false;
    Acknowledged now;
    if (!ask(&now)) return false;
    const uint64_t elapsed_ms = since_ms_ == 0 ? 0 : now_ms - since_ms_;
    if (elapsed_ms == 0 || (now.bytes - acknowledged_) * 1000 >= rate * elapsed_ms) {
      since_ms_ = is_enough ? 0 : now_ms;
      acknowledged_ = now.bytes;
      return false;
    }
    // A slow receiver opens its window by whole segments, and segments of the loopback interface
    // are long. So allow one segment's time more, at most twice the averaging time in sum.
    const uint64_t segment_ms = now.segment_bytes * uint64_t{1000} / rate;
    return elapsed_ms >= average_ms + std::min(segment_ms, average_ms);
  }

  // Restarts the averaging time, because the client could not have taken more so far.
  void Restart() { since_ms_ = 0; }

 private:
  // When the averaging time began; 0 = no measurement, because the socket takes enough.
  uint64_t since_ms_ = 0;
  // The bytes that the client had acknowledged at since_ms_.
  uint64_t acknowledged_ = 0;
  // The argument `taken` of the last IsTooSlow().
  uint64_t taken_ = 0;
};

// Owns copies of small pieces, and refers to lent blocks and parts of files. Exists only while
// output waits for the socket. Thread: the lane.
class OutputQueue {
 public:
  static constexpr uint32_t kNoBlock = LentMemory::kNoBlock;
  // A piece counts in kept_bytes() with at most this many bytes: the size of the longest reply
  // record. A piece that a WebSocket compresses from one large block may be longer; the excess is
  // not counted.
  static constexpr size_t kPieceKeptMax = 256 * 1024;

  // Appends a copy. `more` is how many bytes the next calls will append: one allocation has room
  // for all of them.
  void Append(std::string_view bytes, size_t more = 0);
  // Appends bytes of a lent block by reference.
  void AppendBlock(uint32_t block_id, std::string_view bytes);
  // Appends bytes by reference; `owner` keeps them alive.
  void AppendShared(std::shared_ptr<const void> owner, std::string_view bytes);
  // Appends bytes of a file, from `offset` within the part on.
  void AppendFile(uint32_t block_id, std::shared_ptr<const files::FilePart> part, uint64_t offset);

  bool empty() const { return bytes_ == 0; }
  size_t bytes() const { return bytes_; }
  // The memory that the queue keeps, without lent blocks. A piece counts as at most kPieceKeptMax.
  size_t kept_bytes() const { return kept_bytes_; }
  // The bytes that were removed since the queue was made.
  uint64_t removed() const { return removed_; }
  SendRateWatch& rate() { return rate_; }
  // Fills up to `count` vectors from the front, and stops at the first file. Returns how many
  // vectors were filled.
  int Peek(iovec* vectors, int count) const;
  // A piece that is a part of a file; part = nullptr if it is not one.
  struct FilePiece {
    const files::FilePart* part = nullptr;
    uint64_t offset = 0;  // Offset of the next unsent byte in the file.
    uint64_t bytes = 0;   // Unsent bytes of the part.
  };
  // Returns the piece with `skip` pieces before it.
  FilePiece file_at(size_t skip) const;
  bool has_files() const { return files_ != 0; }
  // The bytes before the first file. The queue must have a file.
  size_t BytesBeforeFile() const;
  // Drops the rest of the front piece, which must be a part of a file. Returns its block, and in
  // *sent how many bytes of it were sent.
  uint32_t DropFront(uint64_t* sent);
  // Removes sent bytes from the front. Adds the ids of blocks that are sent completely to `done`.
  void Remove(size_t bytes, std::vector<uint32_t>* done);
  // Sets a mark behind the queued bytes. marks() counts it until the bytes before it are sent.
  void Mark() { marks_.push_back(removed_ + bytes_); }
  // The number of marks with unsent bytes before them.
  size_t marks() const { return marks_.size(); }
  // Fills `blocks` with the ids of all blocks in the queue.
  void CollectBlocks(std::vector<uint32_t>* blocks) const;

 private:
  struct Piece {
    uint32_t block_id = kNoBlock;
    bool is_file = false;
    std::string own;
    std::shared_ptr<const void> owner;  // Keeps the bytes alive. For a file: the FilePart.
    std::string_view lent;
    size_t offset = 0;

    bool is_own() const { return block_id == kNoBlock && owner == nullptr; }
    // The bytes of a piece that is not a file.
    std::string_view bytes() const { return is_own() ? std::string_view(own) : lent; }
    const files::FilePart& part() const {
      return *static_cast<const files::FilePart*>(owner.get());
    }
    size_t size() const { return is_file ? part().bytes : bytes().size(); }
  };

  size_t piece_count() const { return pieces_.size() - first_; }
  void PopFront();

  // A vector, because a deque with a single piece takes 4 KiB with libc++.
  std::vector<Piece> pieces_;
  size_t first_ = 0;  // Index of the first piece that is not sent.
  size_t bytes_ = 0;
  size_t kept_bytes_ = 0;
  size_t files_ = 0;  // Number of pieces that are parts of files.
  uint64_t removed_ = 0;
  SendRateWatch rate_;
  std::vector<uint64_t> marks_;  // Positions, counted from the first byte that was ever queued.
};

// Gives memory back to the kernel after many connections have ended with unsent output. malloc()
// would keep the memory of a flood of connections. One trim follows a flood, once its
// connections have been freed. Thread: the lane.
class HeapTrim {
 public:
  explicit HeapTrim(uv_loop_t* loop);
  HeapTrim& operator=(HeapTrim&&) = delete;
  // Must be called before the loop is closed.
  void Close();

  // Must be called when unsent output of a connection was dropped.
  void OnDropped();

 private:
  void StartAfterMany();

  uv_timer_t timer_;
  size_t dropped_ = 0;  // Calls of OnDropped() since the timer was started.
};

}  // namespace httpsys::engine
