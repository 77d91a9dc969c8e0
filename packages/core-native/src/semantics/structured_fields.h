#pragma once
// Dictionaries of structured fields (RFC 9651, section 4.2.2).

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace httpsys::semantics {

enum class StructuredType : uint8_t {
  kInteger,
  kDecimal,
  kString,
  kToken,
  kBytes,
  kBoolean,
  kDate,
  kDisplayString,
  kInnerList,
};

// A member of a dictionary. The views point into the text of the scanner.
struct DictionaryMember {
  std::string_view key;
  StructuredType type = StructuredType::kBoolean;
  int64_t integer = 0;    // Value of kInteger and kDate.
  bool boolean = false;   // Value of kBoolean; true for a member that is only a key.
  std::string_view text;  // Value of kToken, or of kString (with backslashes, but without quotes).
};

// Scans the members of one line of a dictionary, in order. Checks the whole grammar, including
// parameters and inner lists, which DictionaryMember does not have. If a field has several lines,
// each must be a dictionary, and none may be empty unless all are (RFC 9651, section 4.2, joins the
// lines by commas). A key may occur several times; by RFC 9651 the last one counts. Linear in the
// bytes, allocates nothing. Thread: any, one at a time.
class DictionaryScanner {
 public:
  enum class Step : uint8_t { kMember, kEnd, kError };

  explicit DictionaryScanner(std::string_view line);

  // Reads the next member. After kEnd and kError every further call returns the same.
  [[nodiscard]] Step Next(DictionaryMember* member);

 private:
  bool Skip(char c);
  void SkipSpaces();
  bool ScanKey(std::string_view* key);
  bool ScanItem(DictionaryMember* member);
  bool ScanBareItem(DictionaryMember* member);
  bool ScanNumber(DictionaryMember* member);
  bool ScanString(DictionaryMember* member);
  bool ScanToken(DictionaryMember* member);
  bool ScanBytes();
  bool ScanBoolean(DictionaryMember* member);
  bool ScanDate(DictionaryMember* member);
  bool ScanDisplayString();
  bool ScanInnerList();
  bool ScanParameters();
  bool ScanSeparator();

  std::string_view rest_;
  Step state_ = Step::kMember;
};

}  // namespace httpsys::semantics
