#include "support/port_model.h"

#include <unistd.h>

#include <algorithm>
#include <random>
#include <string_view>

#include "support/port_world.h"

namespace httpsys::test {

using model::Model;

// Prefixes that processes register in a narrow schedule.
constexpr uint32_t kNarrowPrefixes = 2;

std::string PlayModel(const ModelOptions& options, uint64_t* steps_played) {
  Model model(options.processes);
  for (size_t i = 0; i < options.steps.size() && model.failure().empty(); ++i) {
    model.Play(options.steps[i]);
  }
  if (model.failure().empty()) model.Settle();
  if (steps_played != nullptr) *steps_played += model.steps();
  return model.failure();
}

ModelOptions ModelSchedule(uint64_t seed) {
  std::mt19937_64 random(seed);
  ModelOptions options;
  options.processes = 2 + static_cast<uint32_t>(random() % 5);
  // Some defects show only after several coordinators have been stopped.
  const uint64_t stops = random() % 4 == 0 ? 10 + random() % 20 : random() % 5;
  // Others only when many want the same.
  const bool is_narrow = random() % 3 == 0;
  using Kind = ModelStep::Kind;
  // How often each happens; what a schedule is made of differs from one to the next.
  const std::array<std::pair<Kind, uint32_t>, 14> weights = {{
      {Kind::kDeliver, 600},
      {Kind::kApply, 250},
      {Kind::kAdvance, 150},
      {Kind::kRegister, 40},
      {Kind::kUnregister, 25},
      {Kind::kKill, random() % 12},
      {Kind::kExit, random() % 6},
      {Kind::kStart, 10},
      {Kind::kPause, random() % 6},
      {Kind::kContinue, 12},
      {Kind::kDuplicate, random() % 8},
      {Kind::kHostile, random() % 6},
      {Kind::kQuery, random() % 6},
      {Kind::kStop, stops},
  }};
  uint32_t total = 0;
  for (const auto& [kind, weight] : weights) total += weight;
  const size_t count = 100 + random() % 500;
  for (size_t i = 0; i < count; ++i) {
    uint32_t at = static_cast<uint32_t>(random() % total);
    ModelStep step;
    for (const auto& [kind, weight] : weights) {
      step.kind = kind;
      if (at < weight) break;
      at -= weight;
    }
    step.a = static_cast<uint32_t>(random() % 100'000);
    step.b = static_cast<uint32_t>(random() % 100'000);
    if (is_narrow && step.kind == Kind::kRegister) {
      step.b = step.b / model::kPrefixes * model::kPrefixes + step.b % kNarrowPrefixes;
    }
    options.steps.push_back(step);
  }
  return options;
}

ModelOptions ShrinkModel(ModelOptions options) {
  // The same failure is one with the same words, at whatever time and with whatever numbers.
  const auto words_of = [](std::string text) {
    std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
    return text;
  };
  const std::string failure = words_of(PlayModel(options));
  for (size_t size = options.steps.size() / 2; size > 0;) {
    bool is_shorter = false;
    for (size_t at = 0; at + size <= options.steps.size();) {
      ModelOptions less = options;
      const auto first = less.steps.begin() + static_cast<std::ptrdiff_t>(at);
      less.steps.erase(first, first + static_cast<std::ptrdiff_t>(size));
      if (words_of(PlayModel(less)) == failure) {
        options = std::move(less);
        is_shorter = true;
      } else {
        at += size;
      }
    }
    if (!is_shorter || size > options.steps.size()) size /= 2;
  }
  return options;
}

std::string ModelProgram(const ModelOptions& options) {
  static constexpr const char* kNames[] = {
      "kDeliver", "kApply", "kAdvance",  "kRegister",  "kUnregister", "kKill",  "kExit",
      "kStart",   "kPause", "kContinue", "kDuplicate", "kHostile",    "kQuery", "kStop"};
  std::string text =
      "ModelOptions options;\noptions.processes = " + std::to_string(options.processes) +
      ";\noptions.steps = {\n";
  for (const ModelStep& step : options.steps) {
    text.append("    {ModelStep::Kind::").append(kNames[static_cast<size_t>(step.kind)]);
    text.append(", " + std::to_string(step.a) + ", " + std::to_string(step.b) + "},\n");
  }
  return text + "};\nEXPECT_EQ(PlayModel(options), \"\");\n";
}

}  // namespace httpsys::test
