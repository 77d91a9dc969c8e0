#pragma once
// The pieces of output that were gathered in one pass over replies, for all connections of a lane.

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/connection/output_queue.h"
#include "files/open_file.h"

namespace httpsys::engine {

// Lends bytes for one pass. Keep() must save the bytes that are needed longer. Thread: the lane.
class Lender {
 public:
  struct Kept {
    std::shared_ptr<const void> owner;
    std::string_view bytes;
  };

  // Returns the same bytes in memory that `owner` keeps alive. Called when the socket did not take
  // all of them.
  virtual Kept Keep(std::string_view bytes) = 0;

 protected:
  ~Lender() = default;
};

// The pieces of the current pass. A piece has a number above 0, and the pieces of a connection form
// a list. The bytes stay in the caller's memory until Clear(). Thread: the lane.
class PassPieces {
 public:
  struct Piece {
    const uint8_t* data = nullptr;  // nullptr = the bytes are in `copy`, or in a file.
    size_t bytes = 0;
    uint32_t next = 0;
    uint32_t block_id = OutputQueue::kNoBlock;
    uint32_t owner = 0;  // Index into owners_ of the object that keeps the bytes alive; 0 = none.
    bool is_released = false;
    bool is_lent = false;  // The owner is a Lender.
    char copy[12];

    // True if the piece is a part of a file: the owner is a FilePart.
    bool is_file() const { return data == nullptr && owner != 0; }
    // The bytes of a piece that is not a file.
    std::string_view view() const {
      return {data == nullptr ? copy : reinterpret_cast<const char*>(data), bytes};
    }
  };

  PassPieces() : pieces_(1), owners_(1) {}
  PassPieces& operator=(PassPieces&&) = delete;

  // Adds a piece of `bytes` bytes behind the piece `last`; 0 = it begins a list. Returns its
  // number.
  uint32_t Add(uint32_t last, size_t bytes);
  // Returns a piece. The reference is valid until the next Add().
  Piece& at(uint32_t piece) { return pieces_[piece]; }
  // Sets the object that keeps the bytes of the newest piece alive.
  void SetOwner(std::shared_ptr<const void> owner);
  // Sets the lender of the newest piece's bytes, until they have been sent or given to a queue.
  void SetLender(Lender* lender);
  size_t count() const { return pieces_.size() - 1; }
  // Frees the pieces of the list from `first` on and releases their owners, after their bytes have
  // been sent or given to a queue. The numbers of these pieces must no longer be in use.
  void Release(uint32_t first);
  void Clear();

  // -- Lists. `first` is the first piece of a list; `offset` bytes of that piece were sent.

  size_t BytesFrom(uint32_t first, size_t offset) const;
  // Fills vectors with the bytes of pieces up to the first file. Returns the number of vectors;
  // *next is the piece behind them.
  int Fill(uint32_t first, size_t offset, iovec* vectors, int most, uint32_t* next) const;
  // Removes `bytes` sent bytes from the front. Adds the blocks that are sent completely to `done`.
  void Advance(size_t bytes, uint32_t* first, size_t* offset, std::vector<uint32_t>* done) const;
  // Appends all bytes of the list to the queue.
  void MoveTo(OutputQueue* queue, uint32_t first, size_t offset) const;
  // Adds the ids of the list's blocks to `blocks`.
  void CollectBlocks(uint32_t first, std::vector<uint32_t>* blocks) const;

 private:
  struct Owner {
    std::shared_ptr<const void> owner;
    uint32_t pieces = 0;  // Number of pieces that need the owner.
  };

  std::vector<Piece> pieces_;  // Index 0 is unused.
  std::vector<Owner> owners_;  // Index 0 is unused.
};

}  // namespace httpsys::engine
