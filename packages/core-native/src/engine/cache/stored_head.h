#pragma once
// Heads of responses as cache entries store them: status line and fields, each with a line end,
// without the empty line at the end.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "http1/header_line.h"

namespace httpsys::engine {

// Appends the head of an entry, without the fields that concern one connection (RFC 9111, section
// 3.1), and without `Age` (with `renews_date`: without `Date`), which the lane writes anew for each
// answer. `status_line` has no line end. Thread: any.
void AppendStoredHead(std::string_view status_line, std::span<const http1::HeaderLine> lines,
                      bool renews_date, std::string* to);

// Appends the head of an entry that a 304 confirms: the fields of the 304, `lines`, replace stored
// ones of the same names (RFC 9111, section 3.2), except fields about the content. Thread: any.
void AppendUpdatedHead(std::string_view stored, std::span<const http1::HeaderLine> lines,
                       std::string* to);

// Appends the head of an entry's variant in a content coding with a body of `body_bytes`. A strong
// entity tag becomes weak: the variant has the same meaning, but other bytes (RFC 9110, section
// 8.8.1). The head offers no ranges, because ranges count the bytes of the plain body. Thread: any.
void AppendCodedHead(std::string_view stored, std::string_view coding, uint64_t body_bytes,
                     std::string* to);

// Removes the first line from an entry's head, without its line end. Returns false if none is left.
bool TakeHeadLine(std::string_view* head, std::string_view* line);
// Splits a line of an entry's head. Values have no white space around them.
http1::HeaderLine SplitHeadLine(std::string_view line);
// Returns the value of the first line of a field; empty = no such field. `name` is in lower case.
std::string_view HeadValue(std::string_view head, std::string_view name);

}  // namespace httpsys::engine
