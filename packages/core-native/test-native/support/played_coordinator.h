#pragma once
// What a coordinator says that the test plays.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "support/members_fixture.h"

namespace httpsys::test {

// Reads kHello, and answers with kWelcome and an empty state.
inline void Welcome(Raw& member, uint64_t* id, uint64_t coordinator = 99) {
  peer::Hello hello;
  const std::optional<std::string> payload = member.Next(peer::FrameType::kHello);
  ASSERT_TRUE(payload.has_value() && peer::Decode(*payload, &hello));
  *id = hello.id;
  member.Send(peer::FrameType::kWelcome, peer::Welcome{peer::kProtocol, coordinator});
  member.Send(peer::FrameType::kMember, peer::Member{coordinator, 1, 0, peer::kProtocol, "played"});
  member.Send(peer::FrameType::kSync, peer::Sync{1});
}

// Reads the member's next registration.
inline void NextRegister(Raw& member, peer::Register* wanted) {
  const std::optional<std::string> asked = member.Next(peer::FrameType::kRegister);
  ASSERT_TRUE(asked.has_value() && peer::Decode(*asked, wanted));
}

}  // namespace httpsys::test
