'use strict'

// Applies changed reservations to running servers. A server loses a prefix that is no longer permitted, and requests for
// a reserved prefix without a server get 503. A server that has lost all prefixes keeps listening: no other program
// can take its port, and the server that may now have the prefix joins it there.

const { findRefusal, reservationsOfPort, watchReservations } = require('../prefixes/reservations')
const { applicationOf } = require('./listen-args')

/** @import { Listener } from './listener' */

/** Listeners with registered prefixes. @type {Set<Listener>} */
const listeners = new Set()
/** Listeners to which the last change of reservations has not been applied yet. @type {Set<Listener>} */
const postponed = new Set()
/** @type {(() => void) | null} */
let stopWatching = null

/** @param {Listener} listener with registered prefixes */
function watch (listener) {
  // The file may have changed since the registration was requested, so look at it again.
  if (!listeners.has(listener)) postponed.add(listener)
  listeners.add(listener)
  stopWatching ??= watchReservations(onChange)
  reserve(listener)
  catchUp(listener)
}

/** @param {Listener} listener */
function unwatch (listener) {
  postponed.delete(listener)
  if (!listeners.delete(listener) || listeners.size > 0) return
  stopWatching?.()
  stopWatching = null
}

/** @param {Error | null} error */
function onChange (error) {
  // On an error, the previous reservations stay in force.
  if (error !== null) return process.emitWarning(error)
  for (const listener of listeners) {
    postponed.add(listener)
    // Reserve before dropping, so that requests for a dropped prefix get 503, not 404.
    reserve(listener)
    catchUp(listener)
  }
}

/**
 * Drops the prefixes that the last change of reservations forbids. Does nothing if no change is pending for the listener.
 *
 * @param {Listener} listener
 */
function catchUp (listener) {
  // A pending registration cannot be withdrawn before the other processes have answered; its caller calls catchUp() again then.
  if (listener.asking.size > 0 || !postponed.delete(listener)) return
  try {
    dropRefused(listener)
  } catch (problem) {
    process.emitWarning(/** @type {Error} */ (problem))
  }
}

/** @param {Listener} listener */
function dropRefused (listener) {
  const { prefixes, ports, sharing } = listener
  const who = applicationOf(sharing)
  const refused = prefixes.held()
    .filter(({ port }) => ports.has(port))
    .map((parsed) => ({ parsed, refusal: findRefusal(parsed.prefix, who) }))
    .filter(({ refusal }) => refusal !== null)
  if (refused.length === 0) return
  const dropped = refused.map(({ parsed, refusal }) => {
    process.emitWarning(`${refusal?.message}. The running server has lost it`, { code: 'HTTPSYS_PREFIX_DROPPED' })
    return { id: prefixes.lose(parsed) }
  })
  listener.unregister([...new Set(refused.map(({ parsed }) => parsed.port))], dropped)
  listener.configure()
}

/** @param {Listener} listener */
function reserve (listener) {
  for (const port of listener.ports) listener.reserve(port, reservationsOfPort(port))
}

module.exports = { catchUp, unwatch, watch }
