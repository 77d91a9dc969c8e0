// Watches listeners on systems without a file of their own.

#include "engine/accept/listener_poll.h"

namespace httpsys::engine {

std::unique_ptr<ListenerPoll> MakeListenerPoll() { return MakePortableListenerPoll(); }

}  // namespace httpsys::engine
