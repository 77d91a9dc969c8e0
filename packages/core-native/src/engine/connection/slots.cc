#include "engine/connection/slots.h"

#include "engine/connection/connection.h"

namespace httpsys::engine {

void Slots::Take(Connection* connection) {
  uint32_t number;
  if (free_.empty()) {
    number = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  slots_[number] = {connection, false, false};
  connection->slot.number_ = number;
  connection->slot.is_announced_ = true;
}

void Slots::Close(Connection* connection) {
  connection->slot.is_announced_ = false;
  Close(connection->slot.number_);
}

void Slots::Close(uint32_t number) {
  slots_[number].connection = nullptr;
  slots_[number].is_closed = true;
  FreeIfDone(number);
}

Connection* Slots::Find(uint32_t number) const {
  return number < slots_.size() ? slots_[number].connection : nullptr;
}

bool Slots::Release(uint32_t number) {
  if (number >= slots_.size() || slots_[number].is_released) return false;
  slots_[number].is_released = true;
  FreeIfDone(number);
  return true;
}

void Slots::FreeIfDone(uint32_t number) {
  if (slots_[number].is_closed && slots_[number].is_released) free_.push_back(number);
}

}  // namespace httpsys::engine
