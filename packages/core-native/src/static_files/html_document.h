#pragma once
// Small HTML documents for errors and redirects.

#include <cstdint>
#include <string>
#include <string_view>

namespace httpsys::static_files {

// Returns a document with this title and text; markup in the text is escaped.
[[nodiscard]] std::string HtmlDocument(std::string_view title, std::string_view text);

// Returns `text` with percent-encoding for bytes that a URL must not contain: bytes beyond ASCII,
// controls, quotes, angle brackets, braces, and a '%' that begins no %XX.
[[nodiscard]] std::string EncodeUrl(std::string_view text);

// Returns the reason phrase for an error status of static files.
[[nodiscard]] std::string_view ErrorText(int status);

}  // namespace httpsys::static_files
