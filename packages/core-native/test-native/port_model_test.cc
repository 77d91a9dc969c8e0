// Random schedules of processes that share a port, played on a model of everything around them.
//
//   HTTPSYS_MODEL_STEPS  how many steps are played (default: 100,000)
//   HTTPSYS_MODEL_SEED   where the seeds begin (default: the clock); a failure names its own

#include "support/port_model.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace httpsys::test {
namespace {

constexpr uint64_t kSteps = 100'000;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

// The survivor, process 4, has not read what the coordinator had told before it was killed, when
// the newcomer, process 2, takes the place.
TEST(PortModelTest, ANewcomerThatTakesThePlaceLearnsWhatSurvivorsExpectBack) {
  using Kind = ModelStep::Kind;
  ModelOptions options;
  options.processes = 4;
  options.steps = {
      {Kind::kRegister, 68520, 42225}, {Kind::kRegister, 35839, 83926},
      {Kind::kDeliver, 30553, 0},      {Kind::kDeliver, 21999, 0},
      {Kind::kKill, 8008, 0},          {Kind::kRegister, 4273, 79344},
      {Kind::kAdvance, 56240, 0},
  };
  EXPECT_EQ(PlayModel(options), "");
}

TEST(PortModelTest, RandomSchedulesNeverBreakWhatIsPromised) {
  const auto clock = std::chrono::system_clock::now().time_since_epoch().count();
  uint64_t seed = FromEnvironment("HTTPSYS_MODEL_SEED", static_cast<uint64_t>(clock) & 0xffffffff);
  const uint64_t most = FromEnvironment("HTTPSYS_MODEL_STEPS", kSteps);
  std::printf("HTTPSYS_MODEL_SEED=%llu\n", static_cast<unsigned long long>(seed));
  uint64_t steps = 0;
  uint64_t schedules = 0;
  for (; steps < most; ++seed, ++schedules) {
    const ModelOptions options = ModelSchedule(seed);
    const std::string failure = PlayModel(options, &steps);
    if (failure.empty()) continue;
    const ModelOptions less = ShrinkModel(options);
    FAIL() << "seed " << seed << ", schedule " << schedules << ", " << failure
           << "\nshrunk: " << PlayModel(less) << "\n"
           << ModelProgram(less);
  }
  std::printf("%llu steps in %llu schedules\n", static_cast<unsigned long long>(steps),
              static_cast<unsigned long long>(schedules));
}

}  // namespace
}  // namespace httpsys::test
