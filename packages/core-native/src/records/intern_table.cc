#include "records/intern_table.h"

#include <algorithm>

#include "base/seeded_hash.h"

namespace httpsys {
namespace {

bool EqualsLowercase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((text[i] | 0x20) != lower[i]) return false;
  }
  return true;
}

}  // namespace

InternTable::InternTable(uint64_t seed) : seed_(seed | 1), entries_(kEntries), seen_(kSeen) {}

bool InternTable::IsSecret(std::string_view name) {
  switch (name.size()) {
    case 6:
      return EqualsLowercase(name, "cookie");
    case 10:
      return EqualsLowercase(name, "set-cookie");
    case 13:
      return EqualsLowercase(name, "authorization");
    case 19:
      return EqualsLowercase(name, "proxy-authorization");
    default:
      return false;
  }
}

InternTable::Result InternTable::FindLine(std::string_view name, std::string_view value) {
  if (name.size() + value.size() > limits::kInternTextBytesMax || IsSecret(name)) return {};
  return Find(Kind::kLine, HashText(value, HashText(name, seed_)), name, value);
}

InternTable::Result InternTable::FindName(std::string_view name) {
  if (name.size() > limits::kInternTextBytesMax) return {};
  return Find(Kind::kName, HashText(name, ~seed_), name, {});
}

InternTable::Result InternTable::FindTarget(std::string_view target) {
  // A target with a query rarely comes back, so it gets no id.
  if (target.size() > limits::kInternTextBytesMax || target.find('?') != std::string_view::npos)
    return {};
  return Find(Kind::kTarget, HashText(target, seed_ * kHashMultiplier), {}, target);
}

InternTable::Result InternTable::Find(Kind kind, uint64_t hash, std::string_view name,
                                      std::string_view value) {
  const size_t first = hash % limits::kInternSets * limits::kInternWays;
  for (size_t i = first; i < first + limits::kInternWays; ++i) {
    Entry& entry = entries_[i];
    if (entry.hash != hash || entry.kind != kind || entry.name_bytes != name.size() ||
        entry.text.size() != name.size() + value.size()) {
      continue;
    }
    const std::string_view text = entry.text;
    if (text.substr(0, name.size()) != name || text.substr(name.size()) != value) continue;
    entry.last_record = record_;
    return {true, false, entry.id};
  }
  return SeenBefore(hash) ? Define(kind, hash, name, value) : Result{};
}

bool InternTable::SeenBefore(uint64_t hash) {
  uint32_t& seen = seen_[(hash >> 20) % kSeen];
  const auto tag = static_cast<uint32_t>(hash >> 32) | 1;
  if (seen == tag) return true;
  seen = tag;
  return false;
}

InternTable::Result InternTable::Define(Kind kind, uint64_t hash, std::string_view name,
                                        std::string_view value) {
  if (definitions_left_ == 0) return {};
  const size_t first = hash % limits::kInternSets * limits::kInternWays;
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first);
  // Evict the least recently used entry, compared by age because the counter may wrap.
  const auto victim =
      std::max_element(begin, begin + limits::kInternWays, [&](const Entry& a, const Entry& b) {
        return (a.kind == Kind::kNone ? UINT32_MAX : record_ - a.last_record) <
               (b.kind == Kind::kNone ? UINT32_MAX : record_ - b.last_record);
      });
  // The record that is being written may already use this id.
  if (victim->kind != Kind::kNone && victim->last_record == record_) return {};
  --definitions_left_;
  if (victim->kind == Kind::kNone) victim->id = next_id_++;
  victim->hash = hash;
  victim->last_record = record_;
  victim->kind = kind;
  victim->name_bytes = static_cast<uint16_t>(name.size());
  victim->text.assign(name);
  victim->text.append(value);
  return {true, true, victim->id};
}

}  // namespace httpsys
