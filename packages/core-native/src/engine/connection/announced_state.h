#pragma once

#include <memory>
#include <utility>

#include "records/addresses.h"

namespace httpsys::engine {

// The part of a connection that JavaScript has yet to receive. Only Announcer writes it.
class AnnouncedState {
 public:
  AnnouncedState() = default;
  explicit AnnouncedState(std::unique_ptr<Addresses> addresses)
      : addresses_(std::move(addresses)) {}

 private:
  friend class Announcer;

  // The addresses of client and server until kOpen has them; nullptr afterwards.
  std::unique_ptr<Addresses> addresses_;
};

}  // namespace httpsys::engine
