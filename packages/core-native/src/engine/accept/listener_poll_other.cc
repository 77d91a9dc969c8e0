// Watches listeners on systems other than Linux.

#include "engine/accept/listener_poll.h"

namespace httpsys::engine {

std::unique_ptr<ListenerPoll> MakeListenerPoll() { return MakePortableListenerPoll(); }

}  // namespace httpsys::engine
