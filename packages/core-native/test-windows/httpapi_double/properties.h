#pragma once

#include <cstdint>
#include <string>

#include "model.h"

namespace httpapi_double {

// What a property can be set on.
enum class PropertyOwner : uint8_t { kSession, kGroup, kQueue };

// NO_ERROR when the pages of the property's owner and structure allow these
// bytes; otherwise ERROR_INVALID_PARAMETER. `json` describes them for the
// report.
uint32_t CheckProperty(PropertyOwner owner, HTTP_SERVER_PROPERTY property, const void* info,
                       ULONG bytes, std::string* json);

}  // namespace httpapi_double
