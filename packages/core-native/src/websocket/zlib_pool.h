#pragma once
// The zlib states of one lane.
//
// A state costs 40 KiB (inflating) or 270 KiB (deflating), so an idle WebSocket has none: its
// history is kept as a dictionary, which is no longer than the data seen. A limited number of
// states stays with their owners between messages; beyond the limit, a WebSocket that needs a state
// gets the one that was unused for longest.

#include <cstddef>
#include <cstdint>

#include "websocket/byte_buffer.h"

namespace httpsys::websocket {

// Maximum number of states that stay with their owners between messages. Restoring a dictionary
// costs a deflater 20 us and an inflater 3 us, so hundreds of busy WebSockets should not share.
inline constexpr size_t kLiveInflatersMax = 128;
inline constexpr size_t kLiveDeflatersMax = 512;
// Maximum number of unused states that are kept for the next owner.
inline constexpr size_t kSpareStatesMax = 4;
// Longest dictionary of a deflater: a WebSocket that loses its state loses at most that much
// history, and keeps at most that much memory. (An inflater must remember its whole window.)
inline constexpr size_t kDeflateDictionaryBytesMax = 8 * 1024;

// Parameters of deflateInit2(), with Node's defaults.
struct ZlibParameters {
  // 8 to 15. With 8, zlib deflates like 9, but with distances below 256, so that a client with a
  // window of 8 can inflate the result.
  int8_t window_bits = 15;
  // -1 to 9. Only for deflating, as the members below.
  int8_t level = -1;
  // 1 to 9.
  int8_t mem_level = 8;
  int8_t strategy = 0;
  bool operator==(const ZlibParameters&) const = default;
};

struct ZlibState;  // zlib_state.h
class ZlibPool;

// Base class of Inflater and Deflater: the owner of a zlib state.
class ZlibUser {
 public:
  ZlibUser& operator=(ZlibUser&&) = delete;

  // Gives the state back to the pool, and keeps the history for the next message as a dictionary.
  // Does nothing within a message.
  void Release();
  bool has_state() const { return state_ != nullptr; }
  size_t dictionary_bytes() const { return dictionary_.size(); }

 protected:
  ZlibUser(ZlibPool* pool, bool is_deflate, const ZlibParameters& parameters, bool takes_over)
      : pool_(pool), parameters_(parameters), is_deflate_(is_deflate), takes_over_(takes_over) {}
  ~ZlibUser();

  // Returns a state with the history of earlier messages, marked as used; nullptr if out of memory.
  ZlibState* Acquire();
  // Must be called after each message. Gives the state back to the pool if the next message does
  // not need its history. Otherwise, with `can_be_dictionary`, the pool may give the state to
  // another connection and keep its window as a dictionary.
  void EndMessage(bool can_be_dictionary);
  void Drop();

 private:
  friend class ZlibPool;
  // Keeps the history of a live state as a dictionary.
  void StoreDictionary();

  ZlibPool* pool_;
  ZlibState* state_ = nullptr;
  ByteBuffer dictionary_;
  ZlibParameters parameters_;
  bool is_deflate_;
  bool takes_over_;
};

// Owns the zlib states. All Inflaters and Deflaters that use it must be destroyed before it.
// Thread: the one that uses them.
class ZlibPool {
 public:
  explicit ZlibPool(size_t inflaters_max = kLiveInflatersMax,
                    size_t deflaters_max = kLiveDeflatersMax);
  ~ZlibPool();
  ZlibPool& operator=(ZlibPool&&) = delete;

  // Takes away states that were not used since the last call, and frees all spare ones. Must be
  // called by a timer of a few seconds; cheap when no state is in use.
  void ReleaseIdle();
  // The number of states that stay with their owners between messages.
  size_t live_states() const { return inflaters_.count + deflaters_.count; }

 private:
  friend class ZlibUser;
  // The states of one kind that stay with their owners between messages, in the order of last use.
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
