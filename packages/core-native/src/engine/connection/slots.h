#pragma once
// The table of slots: the numbers by which one JavaScript environment knows the connections and
// streams of its servers in a lane.

#include <cstdint>
#include <vector>

namespace httpsys::engine {

struct Connection;

// A slot is free again once its connection is closed and JavaScript has released the number, in
// either order. Thread: the lane.
class Slots {
 public:
  // Gives the connection a new slot. If it has one already, the caller must Close() the old number.
  void Take(Connection* connection);
  // Marks the connection's slot as closed: Find() does not return the connection any more.
  void Close(Connection* connection);
  void Close(uint32_t number);
  // Returns the open connection of a slot, or nullptr. Any number is allowed.
  Connection* Find(uint32_t number) const;
  // Called when JavaScript no longer uses the slot's number. Returns false if there is no such
  // slot, or if it is released already.
  [[nodiscard]] bool Release(uint32_t number);

 private:
  struct Slot {
    Connection* connection = nullptr;
    bool is_closed = true;
    bool is_released = true;
  };

  void FreeIfDone(uint32_t number);

  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
};

}  // namespace httpsys::engine
