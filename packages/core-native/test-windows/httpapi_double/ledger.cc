#include "ledger.h"

#include "text.h"

namespace httpapi_double {
namespace {

constexpr size_t kNotesMax = 10'000;

}  // namespace

void Ledger::Note(std::string json) {
  if (notes_.size() < kNotesMax) notes_.push_back(std::move(json));
}

std::string Ledger::Json() const {
  std::string json = "\"calls\":{";
  for (const auto& [function, count] : calls_) {
    if (json.back() != '{') json += ',';
    json += JsonText(function) + ':' + std::to_string(count);
  }
  json += "},\"notes\":[";
  for (const std::string& note : notes_) {
    if (json.back() != '[') json += ',';
    json += note;
  }
  return json + ']';
}

void Ledger::Clear() {
  calls_.clear();
  notes_.clear();
}

}  // namespace httpapi_double
