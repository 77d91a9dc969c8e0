#pragma once
// The numbers by which JavaScript knows the connections of a lane.

#include <cstdint>
#include <vector>

#include "engine/connection/connection.h"

namespace httpsys::engine {

// A slot is free again when its connection is closed and JavaScript has released the number, in
// either order. Thread: the lane.
class Slots {
 public:
  // Gives the connection a slot, also when it has one: the caller closes that one then.
  void Take(Connection* connection);
  // JavaScript hears that the connection has ended.
  void Close(Connection* connection);
  void Close(uint32_t number);
  // The open connection of a slot, or nullptr. JavaScript may ask for any number.
  Connection* Find(uint32_t number) const;
  // JavaScript has forgotten the slot.
  void Release(uint32_t number);

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
