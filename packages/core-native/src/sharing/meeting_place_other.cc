// Where names are kept on systems without a file of their own.

#include "sharing/name_place.h"

namespace httpsys::sharing {

const NamePlace& SystemPlace() { return DirectoryPlace(); }

}  // namespace httpsys::sharing
