#pragma once
// zlib's states of one I/O thread. A state costs 40 KiB (inflating) or 270 KiB (deflating), so a
// WebSocket that is not in use has none: what it must remember is kept as a dictionary, which is no
// longer than what it has seen. States in use stay with their owners up to a number; beyond it the
// one unused for longest goes to who needs it.

#include <cstddef>
#include <cstdint>

#include "websocket/byte_buffer.h"

namespace httpsys::websocket {

// States that stay with their owners. Putting a dictionary back costs a deflater 20 us and an
// inflater 3 us, so it is deflaters that a few hundred busy WebSockets should not take turns at.
inline constexpr size_t kLiveInflatersMax = 128;
inline constexpr size_t kLiveDeflatersMax = 512;
// Unused states kept for whoever comes next.
inline constexpr size_t kSpareStatesMax = 4;
// Longest dictionary of a deflater: a state taken away costs that much compression and memory at
// most. (An inflater must remember all that its window holds.)
inline constexpr size_t kDeflateDictionaryBytesMax = 8 * 1024;

// As in deflateInit2(). The defaults are Node's.
struct ZlibParameters {
  // 8..15. 8 deflates as 9 does, whose distances stay below 256 all the same.
  int8_t window_bits = 15;
  // The rest is for deflating. -1..9
  int8_t level = -1;
  // 1..9
  int8_t mem_level = 8;
  int8_t strategy = 0;
  bool operator==(const ZlibParameters&) const = default;
};

struct ZlibState;  // zlib_state.h
class ZlibPool;

// Who has a state; the base of Inflater and Deflater.
class ZlibUser {
 public:
  ZlibUser(const ZlibUser&) = delete;
  ZlibUser& operator=(const ZlibUser&) = delete;

  // Gives the state back now, between messages; what the next message needs stays as a dictionary.
  // Within a message nothing happens.
  void Release();
  bool has_state() const { return state_ != nullptr; }
  size_t dictionary_bytes() const { return dictionary_.size(); }

 protected:
  ZlibUser(ZlibPool* pool, bool is_deflate, const ZlibParameters& parameters, bool takes_over)
      : pool_(pool), parameters_(parameters), is_deflate_(is_deflate), takes_over_(takes_over) {}
  ~ZlibUser();

  // A state that knows what came before, marked as used. nullptr: no memory.
  ZlibState* Acquire();
  // After a message: the state may be taken away now, or is given back when nothing of it is
  // needed.
  void EndMessage(bool can_be_dictionary);
  // Forgets state and dictionary.
  void Drop();

 private:
  friend class ZlibPool;
  // Of a live state.
  void StoreDictionary();

  ZlibPool* pool_;
  ZlibState* state_ = nullptr;
  ByteBuffer dictionary_;
  ZlibParameters parameters_;
  bool is_deflate_;
  bool takes_over_;
};

// Thread: the one that uses its Inflaters and Deflaters, which must be gone before it.
class ZlibPool {
 public:
  explicit ZlibPool(size_t inflaters_max = kLiveInflatersMax,
                    size_t deflaters_max = kLiveDeflatersMax);
  ~ZlibPool();
  ZlibPool(const ZlibPool&) = delete;
  ZlibPool& operator=(const ZlibPool&) = delete;

  // Takes the states away that were not used since the last call, and frees all spare ones. Meant
  // for a timer of a few seconds; cheap when nothing is live.
  void ReleaseIdle();
  // States of owners that are between messages.
  size_t live_states() const { return inflaters_.count + deflaters_.count; }

 private:
  friend class ZlibUser;
  // Live states of one kind, by when they were used.
  struct LiveStates {
    size_t count_max = 0;
    size_t count = 0;
    ZlibState* newest = nullptr;
    ZlibState* oldest = nullptr;
  };

  LiveStates& ListOf(bool is_deflate) { return is_deflate ? deflaters_ : inflaters_; }
  ZlibState* Get(bool is_deflate, const ZlibParameters& parameters);
  void Put(ZlibState* state);
  void Link(ZlibState* state);
  void Unlink(ZlibState* state);
  ZlibState* TakeSpare(bool is_deflate, const ZlibParameters& parameters);
  void FreeSpares();

  LiveStates inflaters_;
  LiveStates deflaters_;
  ZlibState* spares_ = nullptr;
  size_t spare_count_ = 0;
  uint32_t turn_ = 0;
};

}  // namespace httpsys::websocket
