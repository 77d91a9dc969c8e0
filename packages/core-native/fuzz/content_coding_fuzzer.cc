// Input: what is available (1 byte), and the value of an Accept-Encoding field. Traps when a
// promise of content_coding.h is broken.

#include <cstdint>
#include <string>
#include <string_view>

#include "pieces.h"
#include "semantics/content_coding.h"
#include "semantics/list_members.h"

namespace {

using httpsys::fuzz::Check;
using httpsys::fuzz::Copy;
using namespace httpsys::semantics;

std::string Reversed(std::string_view value) {
  ListMembers members(value);
  std::string_view member;
  std::string reversed;
  while (members.Next(&member)) reversed = std::string(member) + "," + reversed;
  return reversed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  CodingSet available;
  for (uint8_t i = 0; i < kContentCodings; ++i) {
    if ((data[0] >> i & 1) != 0) available.Add(static_cast<ContentCoding>(i));
  }
  const Copy copy({reinterpret_cast<const char*>(data) + 1, size - 1});
  const auto choice = ChooseCoding(copy.view(), available);
  // A quote that is not closed makes one member of what follows, in whichever order.
  const bool has_quote = copy.view().find('"') != std::string_view::npos;
  if (!has_quote) Check(ChooseCoding(Reversed(copy.view()), available) == choice);
  const std::string refusal = "br;q=0,gzip;q=0,zstd;q=0,identity;q=0,";
  Check(!ChooseCoding(refusal + std::string(copy.view()), available).has_value());
  if (!choice.has_value()) return 0;
  Check(*choice == ContentCoding::kIdentity || available.Has(*choice));
  // A coding that was not chosen makes no difference.
  Check(ChooseCoding(copy.view(), CodingSet({*choice})) == choice);
  return 0;
}
