#pragma once
// The small documents that a browser shows for an error or a redirect.

#include <cstdint>
#include <string>
#include <string_view>

namespace httpsys::static_files {

// Returns a document with this title, and a text in which nothing is markup.
[[nodiscard]] std::string HtmlDocument(std::string_view title, std::string_view text);

// Returns `text` with percent-encoding for bytes that a URL must not contain: bytes beyond ASCII,
// controls, quotes, angle brackets, braces, and a '%' that begins no %XX.
[[nodiscard]] std::string EncodeUrl(std::string_view text);

// Returns the reason phrase of one of the errors of static files.
[[nodiscard]] std::string_view ErrorText(int status);

}  // namespace httpsys::static_files
