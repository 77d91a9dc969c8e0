#pragma once

#include <string>

#include "model.h"

namespace httpapi_double {

// How tests steer the double and read what it saw: requests to a port of
// 127.0.0.1, whose number is in the environment variable HTTPAPI_DOUBLE_PORT
// once HttpInitialize() was called:
//   /report          objects and calls that are open, calls by function, what
//   was set and cached /fault/<plans>   fault_plan.h; "/fault/" ends them
//   That of HttpIsFeatureSupported is the answer no, that of GetProcAddress a
//   function of this library that is not there.
//   /slow/<ms>       every completion takes that long
//   /certificate/<hex>  of the clients of https:// prefixes, as DER;
//   "/certificate/" for none; /asked/<hex> the same of what they show when they
//   are asked /forget          empties the report's counters and
//   notes
// What holds from the start is in HTTPAPI_DOUBLE_FAULT and HTTPAPI_DOUBLE_SLOW.
// The process's last report is written to the file that HTTPAPI_DOUBLE_REPORT
// names when it ends.
inline constexpr char kControlVariable[] = "HTTPAPI_DOUBLE_PORT";
inline constexpr char kFaultVariable[] = "HTTPAPI_DOUBLE_FAULT";
inline constexpr char kSlowVariable[] = "HTTPAPI_DOUBLE_SLOW";
inline constexpr char kReportVariable[] = "HTTPAPI_DOUBLE_REPORT";

// JSON. With the kernel's lock.
std::string HandleControl(const std::string& target);
std::string Report();

}  // namespace httpapi_double
