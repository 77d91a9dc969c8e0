// The place of names on systems that have no meeting_place_*.cc of their own.

#include "sharing/name_place.h"

namespace httpsys::sharing {

const NamePlace& SystemPlace() { return DirectoryPlace(); }

}  // namespace httpsys::sharing
