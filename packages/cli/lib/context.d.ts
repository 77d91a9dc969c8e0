import type { flushCaches, portsInUse, readCacheState, readServiceState } from '@httpsys/core-native/service-state'

/** The parts of the world that the commands use. */
export interface Context {
  out: (text: string) => void
  err: (text: string) => void
  portsInUse: typeof portsInUse
  readServiceState: typeof readServiceState
  readCacheState: typeof readCacheState
  flushCaches: typeof flushCaches
  /** Resolves when a command that goes on is to end. */
  untilStopped: () => Promise<void>
}
