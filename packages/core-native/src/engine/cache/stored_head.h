#pragma once
// Heads of responses as entries of the cache have them: status line and fields, each with a line
// end, without the empty line behind them.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "http1/header_line.h"

namespace httpsys::engine {

// Appends the head of an entry. Fields that concern one connection are left out (RFC 9111, section
// 3.1). The lane writes `Age` anew for each answer, with `renews_date` `Date` instead: the entry
// does not have it then. `status_line` has no line end. Thread: any.
void AppendStoredHead(std::string_view status_line, std::span<const http1::HeaderLine> lines,
                      bool renews_date, std::string* to);

// Appends the head of an entry that a response with 304 confirms: its fields take the place of
// those of the same names (RFC 9111, section 3.2), except for fields that describe the stored
// content. Thread: any.
void AppendUpdatedHead(std::string_view stored, std::span<const http1::HeaderLine> lines,
                       std::string* to);

// Appends the head of the variant of an entry in a content coding, whose body has so many bytes. A
// strong entity tag becomes weak: the variant has the same meaning and other bytes (RFC 9110,
// section 8.8.1). Ranges are those of the plain body, so that the variant does not offer any.
// Thread: any.
void AppendCodedHead(std::string_view stored, std::string_view coding, uint64_t body_bytes,
                     std::string* to);

// Takes the next line of an entry's head without its line end. Returns false at the end.
bool TakeHeadLine(std::string_view* head, std::string_view* line);
// Splits a line of an entry's head. Values have no white space around them.
http1::HeaderLine SplitHeadLine(std::string_view line);
// Returns the value of the first line of a field, or an empty text. `name` is in lower case.
std::string_view HeadValue(std::string_view head, std::string_view name);

}  // namespace httpsys::engine
