#pragma once

#include <string>

#include "base/seeded_hash.h"
#include "cache/arena_reader.h"
#include "cache/vary.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Memory for looking for responses. Thread: any, one at a time.
struct FindMemory {
  cache::CopyBuffer buffer;
  cache::VaryRecord record;
};

// Looks for the response to a request whose URL has this key. If the responses of the URL vary,
// `key` becomes the key of the variant. With kHit, `found` is valid until the memory is used again.
[[nodiscard]] inline cache::FindResult FindResponse(const cache::ArenaReader& reader,
                                                    const http1::RequestHead& head,
                                                    std::string* key, FindMemory* memory,
                                                    cache::FoundEntry* found) {
  using cache::EntryKind;
  using cache::FindResult;
  const FindResult result =
      reader.Find(*key, HashText(*key, reader.seed()), &memory->buffer, found);
  if (result != FindResult::kHit || found->entry.kind == EntryKind::kResponse) return result;
  if (found->entry.kind != EntryKind::kVaryRecord || !memory->record.Decode(found->body)) {
    return FindResult::kRefused;
  }
  memory->record.MakeVariantKey(head.lines, key);
  const FindResult variant =
      reader.Find(*key, HashText(*key, reader.seed()), &memory->buffer, found);
  const bool is_response = found->entry.kind == EntryKind::kResponse;
  return variant == FindResult::kHit && !is_response ? FindResult::kRefused : variant;
}

}  // namespace httpsys::engine
