// Watches signals of the process without being one of its listeners.

#ifndef HTTPSYS_NAPI_SIGNAL_WATCH_H_
#define HTTPSYS_NAPI_SIGNAL_WATCH_H_

#include <napi.h>

namespace httpsys {

// JavaScript: watchSignal(signal number, callback), which returns a function that ends it, or
// undefined when the system refuses. The callback runs on the environment's event loop, which it
// does not keep alive. While a signal is watched its default action does not happen;
// `process.listenerCount(signal)` does not count the watch, because programs decide by that number
// who ends them.
Napi::Value WatchSignal(const Napi::CallbackInfo& info);

}  // namespace httpsys

#endif  // HTTPSYS_NAPI_SIGNAL_WATCH_H_
