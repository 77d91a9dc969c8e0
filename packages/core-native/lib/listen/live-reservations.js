'use strict'

// Reservations act on running servers: a prefix that is no longer permitted is dropped, and requests for a
// reserved one that nobody has registered get 503. A server that has lost its prefixes listens on: its port is
// not another program's to take, and whoever may have the prefix now joins it there.

const { findRefusal, reservationsOfPort, watchReservations } = require('../prefixes/reservations')
const { applicationOf } = require('./listen-args')

/** @typedef {import('./listener').Listener} Listener */

/** Listeners that have registered something. @type {Set<Listener>} */
const listeners = new Set()
/** Listeners that have not been told of the last change. @type {Set<Listener>} */
const postponed = new Set()
/** @type {(() => void) | null} */
let stopWatching = null

/** @param {Listener} listener that has registered something */
function watch (listener) {
  // The file may have changed since the registration was asked for.
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
  // The reservations that were in force stay so.
  if (error !== null) return process.emitWarning(error)
  for (const listener of listeners) {
    postponed.add(listener)
    // First: what is dropped gets 503 from then on, not 404.
    reserve(listener)
    catchUp(listener)
  }
}

/**
 * Drops what a change forbids, if there was one.
 *
 * @param {Listener} listener
 */
function catchUp (listener) {
  // Prefixes that other processes are being asked about can be taken back when they have answered; the code that asked calls again then.
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
