#include "fault_plan.h"

#include <charconv>

#include "text.h"

namespace httpapi_double {
namespace {

bool ReadNumber(std::string_view text, uint32_t* number) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), *number);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

}  // namespace

bool FaultPlan::Set(std::string_view text) {
  plans_.clear();
  if (text.empty()) return true;
  for (const std::string_view item : Split(text, ',')) {
    std::vector<std::string_view> parts = Split(item, ':');
    Plan plan;
    if (parts.back() == "late") {
      plan.fault.is_late = true;
      parts.pop_back();
    }
    if (parts.size() < 3 || parts.size() > 4) return false;
    plan.function = parts[0];
    if (!ReadNumber(parts[1], &plan.first) || !ReadNumber(parts[2], &plan.fault.code)) return false;
    if (parts.size() == 4 && !ReadNumber(parts[3], &plan.count)) return false;
    plans_.push_back(plan);
  }
  return true;
}

FaultPlan::Fault FaultPlan::Take(std::string_view function) {
  for (Plan& plan : plans_) {
    if (plan.function != function) continue;
    ++plan.calls;
    if (plan.calls >= plan.first && plan.calls - plan.first < plan.count) return plan.fault;
  }
  return {};
}

size_t FaultPlan::left() const {
  size_t left = 0;
  for (const Plan& plan : plans_) {
    if (plan.calls < plan.first + plan.count - 1) ++left;
  }
  return left;
}

}  // namespace httpapi_double
