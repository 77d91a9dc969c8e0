#pragma once

#include <set>
#include <string>

#include "model.h"

namespace httpapi_double {

// A queue's handle is no file here, so that the system cannot tell the double
// which completion port belongs to it, nor when its calls are cancelled. What
// the calling module imports for that from kernel32.dll is led here first:
// CreateIoCompletionPort, CancelIoEx and SetFileCompletionNotificationModes;
// and GetProcAddress, to know which functions of this DLL are looked up at run
// time. Handles that are no queue's go on to the system.
//
// Thread: with the kernel's lock. `caller` is an address in the module.
void InterceptImportsOf(const void* caller);

// The functions of this DLL that the intercepted modules import or have looked
// up.
const std::set<std::string>& ImportedFunctions();

}  // namespace httpapi_double
