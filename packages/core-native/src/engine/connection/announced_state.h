#pragma once

#include <memory>
#include <utility>

#include "records/addresses.h"

namespace httpsys::engine {

// What JavaScript will be told of one connection. Only Announcer writes it.
class AnnouncedState {
 public:
  AnnouncedState() = default;
  explicit AnnouncedState(std::unique_ptr<Addresses> addresses)
      : addresses_(std::move(addresses)) {}

 private:
  friend class Announcer;

  // The addresses until JavaScript is told of them; nullptr afterwards.
  std::unique_ptr<Addresses> addresses_;
};

}  // namespace httpsys::engine
