/** What listens on which port, as `httpsys show servicestate` shows it. */

import type { CacheEntry } from './index'

export type { CacheEntry }

export interface Registration {
  prefix: string
  /** The name of its request queue; empty for one without a name. */
  queue: string
  // generated: registration counters, from schema/counters.js
  /** Requests given to JavaScript since the registration of the prefix. */
  requests: number
  /** Requests that wait for JavaScript now. */
  queued: number
  /** How many may wait. */
  queueLimit: number
  /** Requests answered with 503 because the queue was full or `queueTimeout` was over. */
  refused: number
  // end of registration counters
}

/** One JavaScript environment: the main thread of a process, or a worker. */
export interface Member {
  pid: number
  id: string
  /** Of the worker; 0 for the main thread. */
  thread: number
  program: string
  protocol: number
  registrations: Registration[]
  // generated: member counters, from schema/counters.js
  /** Connections that are open and known to JavaScript. */
  connections: number
  /** Connections given to other members. */
  handedOver: number
  /** Connections got from other members. */
  received: number
  /** Answers given from the output caches of other members, whose servers do not count them. */
  cacheAnswers: number
  // end of member counters
}

export interface ServiceState {
  port: number
  protocol: number
  /** The pid of the member that keeps the port's table. */
  coordinator: number
  members: Member[]
  /** Listening addresses. */
  sockets: string[]
}

/** Ports with members: this user's, and others', which cannot be asked. Linux only. */
export function portsInUse (options?: { file?: string, uid?: number }): {
  own: number[]
  others: { port: number, uid: number }[]
}

/**
 * Asks the members of a port of this user. Rejects with the system's error (ECONNREFUSED when nothing listens there) or
 * ERR_HTTPSYS_SERVICE_STATE. Control characters in texts are replaced.
 */
export function readServiceState (port: number, options?: {
  ask?: (port: number, callback: (errno: number, state?: ServiceState) => void) => void
  timeoutMs?: number
}): Promise<ServiceState>

/** One JavaScript environment with an output cache. */
export interface CacheMember {
  pid: number
  thread: number
  program: string
  /** Entries that it has just forgotten. */
  flushed: number
  entries: CacheEntry[]
}

/** Lists what the output caches of a port have stored for a URL and everything below it; without `url` all. Rejects as readServiceState(). */
export function readCacheState (port: number, options?: { url?: string, limit?: number }): Promise<CacheMember[]>

/** Makes them forget it; without `url` everything. Rejects as readServiceState(). */
export function flushCaches (port: number, options?: { url?: string, recursive?: boolean }): Promise<CacheMember[]>
