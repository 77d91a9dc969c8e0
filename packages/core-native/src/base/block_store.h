#pragma once
// Memory that moves between threads, named by a number.

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

// Memory from malloc(), because its last owner may be an ArrayBuffer whose finalizer calls free().
struct Block {
  std::unique_ptr<uint8_t, FreeDeleter> memory;
  size_t bytes = 0;
  size_t capacity = 0;  // The capacity of `memory`, if it may go to a BlockPool; otherwise 0.
};

// Blocks on their way to JavaScript (kBodyBlock, kOversize). Thread: any.
class BlockStore {
 public:
  uint32_t Put(Block block);
  // Returns an empty block if there is no such block.
  Block Take(uint32_t id);

 private:
  std::mutex mutex_;
  std::unordered_map<uint32_t, Block> blocks_;
  uint32_t next_id_ = 0;
};

// Memory of JavaScript into which a lane receives (Engine.lendBlock): V8 frees its own memory with
// less work than external memory. Thread: any.
class ReceiveBlocks {
 public:
  struct Loan {
    uint8_t* memory = nullptr;
    uint32_t id = 0;
  };

  // Lends limits::kBlockBytes of memory, which must stay valid until a kBodyBlock record gives `id`
  // back.
  void Lend(uint32_t id, uint8_t* memory);
  // Returns the memory lent last, which is most likely cached; empty if there is none.
  Loan Take();
  // Appends loans until there are `count`. Returns false if JavaScript lends no more at a time: the
  // others come back when it has read its records.
  bool TakeUpTo(size_t count, std::vector<Loan>* loans);
  // The number of loans that can be taken.
  size_t available() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Loan> loans_;
  size_t known_ = 0;  // Ids begin at 0, and each stays with its loan.
};

// Memory of JavaScript from which a lane sends (Engine.sendBlock). An id is used again only after
// all others, so that a kBlockDone that JavaScript has not read yet cannot mean a newer block.
// Thread: any.
class LentMemory {
 public:
  // The id of no block.
  static constexpr uint32_t kNoBlock = 0xffffffffu;

  struct View {
    const uint8_t* data = nullptr;
    size_t bytes = 0;
  };

  uint32_t Lend(const uint8_t* data, size_t bytes);
  // Finds a block for the lane. Returns false if there is no such block.
  bool Find(uint32_t id, View* view);
  // The lane has used the first bytes of a block, at most all: Find() does not find them any more.
  void Skip(uint32_t id, size_t bytes);
  // The lane does not use the block any more.
  void Return(uint32_t id);
  // Skips ids, so that a test sees what happens when they begin anew.
  void set_next_id(uint32_t id) { next_id_ = id; }

 private:
  std::mutex mutex_;
  std::unordered_map<uint32_t, View> views_;
  uint32_t next_id_ = 0;
};

}  // namespace httpsys
