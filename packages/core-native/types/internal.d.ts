/** What rooms of lib know of each other where one may not import the other (docs/internals/architecture.md#rooms). */

import { Prefixes } from '../lib/prefixes/prefixes'

/** A server's Listener (lib/listen/listener.js), as far as lib/http uses it: lib/listen is above lib/http. */
export interface EngineListener {
  /** By which the engine knows the server; 0 when it does not. */
  id: number
  /** Open connections in HTTP mode. */
  sockets: Set<any>
  prefixes: Prefixes
  own: { stripPrefix: boolean }
  /** Within server.close(). */
  isClosing: boolean
  /** From server.close() until the next listen() that succeeds. */
  isClosed: boolean
  /** How often it has listened again after close(). */
  timesReopened: number
  /** Whether idle connections end once it is closed. */
  endsIdle: boolean
  /** Closed, and requests of connections that JavaScript has not heard of may still come. */
  leaving: object | null
  /** Tells the lanes of settings that may have changed. */
  configure (): void
  /** A listen() has failed. */
  listenFailed (): void
}
