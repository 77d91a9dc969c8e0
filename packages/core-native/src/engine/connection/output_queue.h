#pragma once
// The queue of output that the kernel has not taken yet.

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/block_store.h"
#include "engine/connection/send_rate.h"
#include "files/open_file.h"

namespace httpsys::engine {

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
  // Fills up to `count` vectors from the front; returns how many. None are filled from the first
  // file on.
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
  // Sets a mark behind the bytes that are queued now.
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
    std::shared_ptr<const void> owner;  // The FilePart of a file.
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

}  // namespace httpsys::engine
