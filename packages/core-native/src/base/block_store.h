#pragma once
// Memory blocks that move between threads, identified by numbers.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace httpsys {

struct FreeDeleter {
  void operator()(void* memory) const { std::free(memory); }
};

// Memory from malloc(): its last owner may be an ArrayBuffer, whose finalizer calls free().
struct Block {
  std::unique_ptr<uint8_t, FreeDeleter> memory;
  size_t bytes = 0;
  size_t capacity = 0;  // Bytes of `memory` if a BlockPool may reuse it; otherwise 0.
};

// Blocks on their way from a lane to JavaScript, for kBodyBlock and kOversize records. Thread: any.
class BlockStore {
 public:
  uint32_t Put(Block block);
  // Removes a block and returns it; an empty block if the id is unknown.
  Block Take(uint32_t id);

 private:
  std::mutex mutex_;
  std::unordered_map<uint32_t, Block> blocks_;
  uint32_t next_id_ = 0;
};

// Memory that JavaScript lends, so that a lane can receive into it (Engine.lendBlock): V8 frees its
// own memory with less work than external memory. Thread: any.
class ReceiveBlocks {
 public:
  struct Loan {
    uint8_t* memory = nullptr;
    uint32_t id = 0;
  };

  // Lends limits::kBlockBytes of memory, which must stay valid until kBodyBlock returns `id`.
  void Lend(uint32_t id, uint8_t* memory);
  // Returns the last loan, which is most likely in a CPU cache; an empty loan if there is none.
  Loan Take();
  // Appends loans until `loans` has `count`. Returns false if there are too few, and JavaScript
  // cannot lend more before it has read its records.
  bool TakeUpTo(size_t count, std::vector<Loan>* loans);
  // The number of loans for Take().
  size_t available() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Loan> loans_;
  // Number of different blocks lent so far. Ids count from 0, and a block keeps its id.
  size_t known_ = 0;
};

// Memory that JavaScript lends, so that a lane can send from it (Engine.sendBlock). An id is reused
// only after all other ids, so that a kBlockDone record that JavaScript has not read yet cannot
// refer to a newer block. Thread: any.
class LentMemory {
 public:
  // An id that is never given to a block.
  static constexpr uint32_t kNoBlock = 0xffffffffu;

  struct View {
    const uint8_t* data = nullptr;
    size_t bytes = 0;
  };

  uint32_t Lend(const uint8_t* data, size_t bytes);
  // Finds a block for the lane. Returns false if there is no such block.
  bool Find(uint32_t id, View* view);
  // Removes the first `bytes` of a block, which the lane has used. Find() then returns the rest.
  void Skip(uint32_t id, size_t bytes);
  // Forgets a block after the lane's last use.
  void Return(uint32_t id);
  // Makes the next block get this id, for tests of the wrap-around.
  void set_next_id(uint32_t id) { next_id_ = id; }

 private:
  std::mutex mutex_;
  std::unordered_map<uint32_t, View> views_;
  uint32_t next_id_ = 0;
};

// A pool for the memory of large messages. A lane fills a block and JavaScript gets it as a Buffer;
// when V8 frees the Buffer, the lane fills the block again. Fresh memory would cost a page fault
// and zeroing for each page, more than all other work on the bytes.
// Keeps blocks only while blocks are requested from time to time. Outlives its lane, because V8 may
// free a Buffer at any time. Thread: any.
class BlockPool {
 public:
  // Returns a block that Fits() `bytes`, with its old content; an empty one if there is none.
  Block Take(size_t bytes);
  // Takes a block back, or frees it if there is no room.
  void Put(Block block);
  // Must be called from time to time. Frees the blocks that were not needed since the last call, or
  // all if no block was requested. Returns false if no call is needed before the next Take().
  bool Trim();

  // Returns true if memory of `capacity` bytes can hold a message of `bytes` without much waste.
  static bool Fits(size_t bytes, size_t capacity) {
    return capacity >= bytes && capacity - bytes <= bytes / 3;
  }

 private:
  std::mutex mutex_;
  // Kept blocks, oldest first. The memory of the newest is most likely still in a CPU cache.
  std::vector<Block> blocks_;
  size_t bytes_ = 0;         // The bytes of all blocks.
  size_t unused_bytes_ = 0;  // The smallest value of bytes_ since the last Trim().
  bool is_wanted_ = false;   // True if a block was requested since the last Trim().
  bool is_open_ = false;
};

}  // namespace httpsys
