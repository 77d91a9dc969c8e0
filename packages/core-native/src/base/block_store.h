#pragma once
// Memory that changes its owner between the threads by a number.

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

// malloc'd, because its last owner may be an ArrayBuffer whose finalizer only knows free().
struct Block {
  std::unique_ptr<uint8_t, FreeDeleter> memory;
  size_t bytes = 0;
  size_t capacity = 0;  // Of `memory`, when it may go to a BlockPool.
};

// Blocks on their way to JavaScript (kBodyBlock, kOversize). Thread: any.
class BlockStore {
 public:
  uint32_t Put(Block block);
  // Empty when there is no such block.
  Block Take(uint32_t id);

 private:
  std::mutex mutex_;
  std::unordered_map<uint32_t, Block> blocks_;
  uint32_t next_id_ = 0;
};

// Memory of JavaScript that a lane receives into (Engine.lendBlock): V8 frees its own memory with
// less work than memory that comes from elsewhere. Thread: any.
class ReceiveBlocks {
 public:
  struct Loan {
    uint8_t* memory = nullptr;
    uint32_t id = 0;
  };

  // limits::kBlockBytes of memory, which stay until a kBodyBlock record gives `id` back.
  void Lend(uint32_t id, uint8_t* memory);
  // The one lent last, whose memory is most likely cached. Empty when there is none.
  Loan Take();

 private:
  std::mutex mutex_;
  std::vector<Loan> loans_;
};

// Memory of JavaScript that a lane sends from (Engine.sendBlock). Ids are never used twice, so that
// a kBlockDone that JavaScript has not read yet cannot mean a newer block. Thread: any.
class LentMemory {
 public:
  struct View {
    const uint8_t* data = nullptr;
    size_t bytes = 0;
  };

  uint32_t Lend(const uint8_t* data, size_t bytes);
  // The lane's view of a block; false when there is no such block.
  bool Find(uint32_t id, View* view);
  // The lane is done with it.
  void Return(uint32_t id);

 private:
  std::mutex mutex_;
  std::unordered_map<uint32_t, View> views_;
  uint32_t next_id_ = 0;
};

}  // namespace httpsys
