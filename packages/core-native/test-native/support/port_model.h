#pragma once
// A model of processes that share one port: PortParticipant as it is, with links, lanes, names and
// a clock that a schedule drives. After each step the model checks what must never happen, and at
// its end what must have happened.

#include <cstdint>
#include <string>
#include <vector>

namespace httpsys::test {

// One step of a schedule. Arguments are taken modulo what there is, so that any list of steps is a
// schedule: a failing one can be shrunk by leaving steps out.
struct ModelStep {
  enum class Kind : uint8_t {
    kDeliver,     // The next frame of link `a`.
    kApply,       // The lanes of process `a` take their next routes.
    kAdvance,     // `a` ms go by.
    kRegister,    // Process `a` registers prefix `b`, for a queue if `b` is large.
    kUnregister,  // Process `a` takes back what its server `b` has, perhaps with a successor to
                  // come.
    kKill,        // Process `a` is killed.
    kExit,        // Process `a` ends in order.
    kStart,       // A process takes the place of `a`, if that has ended.
    kPause,       // Process `a` does nothing for a while.
    kContinue,
    kDuplicate,  // The next frame of link `a` comes twice.
    kHostile,    // A visitor of the meeting place sends nonsense `b`, or nothing.
    kQuery,      // Somebody asks for the state of the port, and leaves or stays.
    kStop,       // The coordinator is stopped for some seconds, in which the others go on, and
                 // perhaps its successor ends just when it goes on; or it goes on before it is
                 // succeeded, and the others are stopped.
    kLast = kStop,
  };

  Kind kind = Kind::kDeliver;
  uint32_t a = 0;
  uint32_t b = 0;
};

struct ModelOptions {
  uint32_t processes = 3;  // 2 to 6.
  std::vector<ModelStep> steps;
};

// Plays a schedule. Empty, or what went wrong and at which step.
std::string PlayModel(const ModelOptions& options, uint64_t* steps_played = nullptr);
// The schedule of a seed.
ModelOptions ModelSchedule(uint64_t seed);
// The same failure, or another one, with as few steps as a simple search finds.
ModelOptions ShrinkModel(ModelOptions options);
// As the text of a program, for a test.
std::string ModelProgram(const ModelOptions& options);

}  // namespace httpsys::test
