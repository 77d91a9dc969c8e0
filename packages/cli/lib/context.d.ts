import type { portsInUse, readServiceState } from '@httpsys/core-native/service-state'

/** What the commands use of the world. */
export interface Context {
  out: (text: string) => void
  err: (text: string) => void
  portsInUse: typeof portsInUse
  readServiceState: typeof readServiceState
}
