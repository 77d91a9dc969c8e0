// The phases of a connection's input, and which of them may follow which.

#include "engine/connection/input_phase.h"

#include <gtest/gtest.h>

#include "engine/connection/connection.h"

namespace httpsys::engine {
namespace {

InputPhase PhaseAt(size_t index) { return static_cast<InputPhase>(index); }

TEST(InputPhaseTest, EveryPhaseMayFollowItselfAndEndTheConnection) {
  for (size_t i = 0; i < kInputPhases; ++i) {
    EXPECT_TRUE(MayFollow(PhaseAt(i), PhaseAt(i))) << i;
    EXPECT_TRUE(MayFollow(PhaseAt(i), InputPhase::kOver)) << i;
  }
}

TEST(InputPhaseTest, EveryPhaseIsReachedFromTheFirstOneOfAConnectionOrOfAStream) {
  PhaseSet reached = PhasesOf({InputPhase::kHead, InputPhase::kStream});
  for (size_t round = 0; round < kInputPhases; ++round) {
    for (size_t i = 0; i < kInputPhases; ++i) {
      if ((reached >> i & 1) != 0) reached |= NextPhases(PhaseAt(i));
    }
  }
  EXPECT_EQ(reached, (PhaseSet{1} << kInputPhases) - 1);
}

TEST(InputPhaseTest, ATunnelIsNeverReadAsHttpAgain) {
  for (const InputPhase tunnel : {InputPhase::kOpaque, InputPhase::kWebSocket,
                                  InputPhase::kRelayOpaque, InputPhase::kHttp2}) {
    EXPECT_EQ(NextPhases(tunnel), PhasesOf({InputPhase::kOver}));
  }
}

TEST(InputPhaseTest, AStreamBeginsInItsOwnPhaseAndNoConnectionWithoutARelayEntersIt) {
  for (size_t i = 0; i < kInputPhases; ++i) {
    const InputPhase phase = PhaseAt(i);
    if (phase != InputPhase::kStream && !IsRelayed(phase)) {
      EXPECT_FALSE(MayFollow(phase, InputPhase::kStream)) << i;
    }
  }
}

TEST(InputPhaseTest, AConnectionEntersWhatTheTableAllows) {
  Connection connection(-1, Addresses{});
  connection.Enter(InputPhase::kAwaitUpgrade);
  connection.Enter(InputPhase::kUndecided);
  connection.Enter(InputPhase::kWebSocket);
  EXPECT_EQ(connection.phase(), InputPhase::kWebSocket);
}

TEST(InputPhaseDeathTest, AConnectionThatEntersAnythingElseAborts) {
  Connection connection(-1, Addresses{});
  connection.Enter(InputPhase::kAwaitUpgrade);
  connection.Enter(InputPhase::kUndecided);
  connection.Enter(InputPhase::kWebSocket);
  EXPECT_DEATH(connection.Enter(InputPhase::kHead), "MayFollow");
}

}  // namespace
}  // namespace httpsys::engine
