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

// Process 3 has asked process 2 whether it runs, at a name that is process 5's when the time is
// over: process 2 has taken a lower name, was stopped, and process 5 has succeeded it.
TEST(PortModelTest, WhoHasTakenTheNameOfTheOneThatWasAskedIsNotSucceeded) {
  using Kind = ModelStep::Kind;
  ModelOptions options;
  options.processes = 5;
  options.steps = {
      {Kind::kRegister, 58397, 29142}, {Kind::kRegister, 83191, 66149},
      {Kind::kDeliver, 71821, 19198},  {Kind::kDeliver, 6368, 51638},
      {Kind::kStop, 97220, 20424},     {Kind::kRegister, 95828, 14380},
      {Kind::kContinue, 80442, 53896}, {Kind::kDeliver, 29047, 61556},
      {Kind::kRegister, 55155, 81863}, {Kind::kRegister, 85024, 68484},
      {Kind::kAdvance, 27154, 59753},  {Kind::kAdvance, 50360, 68405},
      {Kind::kQuery, 33806, 12770},    {Kind::kRegister, 46364, 8803},
      {Kind::kHostile, 18902, 48049},  {Kind::kDeliver, 35168, 64268},
      {Kind::kDeliver, 66628, 1430},   {Kind::kDeliver, 22969, 54701},
      {Kind::kStop, 61711, 61495},
  };
  EXPECT_EQ(PlayModel(options), "");
}

// Process 2 was stopped while process 3 came to the port: it does not know whom to tell that the
// coordinator is stopped, and would succeed it with what it knew before.
TEST(PortModelTest, AMemberThatWasStoppedTellsThoseItDoesNotKnowOfItsDoubt) {
  using Kind = ModelStep::Kind;
  ModelOptions options;
  options.processes = 4;
  options.steps = {
      {Kind::kRegister, 46068, 75082}, {Kind::kRegister, 10150, 27547},
      {Kind::kDeliver, 81363, 45358},  {Kind::kDeliver, 96091, 27205},
      {Kind::kDeliver, 46755, 73206},  {Kind::kDeliver, 86894, 76999},
      {Kind::kDeliver, 10346, 58550},  {Kind::kDeliver, 18239, 58099},
      {Kind::kDeliver, 15627, 57627},  {Kind::kDeliver, 61905, 92539},
      {Kind::kDeliver, 43468, 91731},  {Kind::kPause, 19218, 16192},
      {Kind::kRegister, 971, 82163},   {Kind::kDeliver, 28419, 35745},
      {Kind::kDeliver, 83927, 34526},  {Kind::kDeliver, 33756, 10217},
      {Kind::kDeliver, 88818, 14974},  {Kind::kUnregister, 40436, 43028},
      {Kind::kDeliver, 41091, 38005},  {Kind::kDeliver, 98444, 47499},
      {Kind::kDeliver, 90979, 51422},  {Kind::kDeliver, 56424, 59555},
      {Kind::kDeliver, 7174, 19034},   {Kind::kDeliver, 55579, 51541},
      {Kind::kDeliver, 98995, 42671},  {Kind::kDeliver, 17537, 54732},
      {Kind::kDeliver, 26604, 91287},  {Kind::kStop, 48491, 46341},
      {Kind::kStop, 26893, 99746},     {Kind::kRegister, 87001, 34142},
      {Kind::kDeliver, 77786, 89208},  {Kind::kDeliver, 9353, 86982},
      {Kind::kStop, 37513, 41739},     {Kind::kContinue, 30534, 69892},
      {Kind::kStop, 21195, 41708},     {Kind::kStop, 89546, 93491},
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
