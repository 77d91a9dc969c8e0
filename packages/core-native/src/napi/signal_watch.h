// Watches signals of the process without adding a listener to it.

#ifndef HTTPSYS_NAPI_SIGNAL_WATCH_H_
#define HTTPSYS_NAPI_SIGNAL_WATCH_H_

#include <napi.h>

namespace httpsys {

// JavaScript: watchSignal(signal number, callback). Returns a function that ends the watch, or
// undefined if the system refuses. The callback runs on the environment's event loop, which the
// watch does not keep alive. A watched signal has no default action.
// `process.listenerCount(signal)` does not count the watch: programs use that number to decide
// whether they must end the process themselves.
Napi::Value WatchSignal(const Napi::CallbackInfo& info);

}  // namespace httpsys

#endif  // HTTPSYS_NAPI_SIGNAL_WATCH_H_
