#pragma once

#include <cstddef>
#include <string_view>

namespace httpapi_double {

// Names by HTTP_HEADER_ID, as they are sent; "" behind the last.
std::string_view RequestHeaderName(size_t id);
std::string_view ResponseHeaderName(size_t id);
// HttpHeaderRequestMaximum for a name that is unknown.
size_t FindRequestHeader(std::string_view name);

}  // namespace httpapi_double
