#pragma once

#include <cstdint>
#include <string>

#include "base/seeded_hash.h"
#include "cache/arena_reader.h"
#include "cache/coding_policy.h"
#include "cache/vary.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Reusable memory for look-ups of responses. Thread: any, one at a time.
struct FindMemory {
  cache::CopyBuffer buffer;
  cache::CopyBuffer coded;
  cache::VaryRecord record;
};

// Looks for the response to the request `head`. `key` is the key of its URL; if responses of the
// URL vary, it becomes the key of the variant. With kHit, `found` is valid until the memory's next
// use.
[[nodiscard]] inline cache::FindResult FindResponse(const cache::ArenaReader& reader,
                                                    const http1::RequestHead& head,
                                                    std::string* key, FindMemory* memory,
                                                    cache::FoundEntry* found) {
  using cache::EntryKind;
  using cache::FindResult;
  for (size_t depth = 0; depth <= cache::kVaryDepthMax; ++depth) {
    const FindResult result =
        reader.Find(*key, HashText(*key, reader.seed()), &memory->buffer, found);
    if (result != FindResult::kHit || found->entry.kind == EntryKind::kResponse) return result;
    if (found->entry.kind != EntryKind::kVaryRecord || !memory->record.Decode(found->body)) break;
    memory->record.MakeVariantKey(head.lines, key);
  }
  return FindResult::kRefused;
}

// Result of FindCoded().
enum class FoundCoding : uint8_t {
  kNone,     // No variant was made from this entry.
  kNoGain,   // The coding does not make the response smaller.
  kVariant,  // `found` is valid until the memory is used again.
};

// Looks for the variant in `coding` of the entry that has this key and the terms `plain`.
[[nodiscard]] inline FoundCoding FindCoded(const cache::ArenaReader& reader, std::string key,
                                           const cache::EntryTerms& plain,
                                           semantics::ContentCoding coding, FindMemory* memory,
                                           cache::FoundEntry* found) {
  cache::MakeCodedKey(coding, &key);
  const cache::FindResult result =
      reader.Find(key, HashText(key, reader.seed()), &memory->coded, found);
  const cache::EntryHead& entry = found->entry;
  if (result != cache::FindResult::kHit || entry.kind != cache::EntryKind::kCoded ||
      !cache::IsVariantOf(entry.terms, plain)) {
    return FoundCoding::kNone;
  }
  return found->body.empty() ? FoundCoding::kNoGain : FoundCoding::kVariant;
}

}  // namespace httpsys::engine
