'use strict'

// Reservations act on running servers: a prefix that is no longer permitted is dropped, and requests for a
// reserved one that nobody has registered get 503.

const { findRefusal, reservationsOfPort, watchReservations, whoAmI } = require('../reservations')

/** @typedef {import('./listener').Listener} Listener */

/** Those with prefixes. @type {Set<Listener>} */
const listeners = new Set()
/** @type {(() => void) | null} */
let stopWatching = null

/** @param {Listener} listener that has registered prefixes */
function watch (listener) {
  listeners.add(listener)
  stopWatching ??= watchReservations(onChange)
  reserve(listener)
}

/** @param {Listener} listener */
function unwatch (listener) {
  if (!listeners.delete(listener) || listeners.size > 0) return
  stopWatching?.()
  stopWatching = null
}

/** @param {Error | null} error */
function onChange (error) {
  // What was in force stays so.
  if (error !== null) return process.emitWarning(error)
  for (const listener of listeners) {
    try {
      dropRefused(listener)
      reserve(listener)
    } catch (problem) {
      process.emitWarning(/** @type {Error} */ (problem))
    }
  }
}

/** @param {Listener} listener */
function dropRefused (listener) {
  const who = whoAmI({ queueName: listener.sharing.queueName || undefined })
  for (const parsed of listener.prefixes.list()) {
    const refusal = findRefusal(parsed.prefix, who)
    if (refusal === null || !listener.ports.has(parsed.port)) continue
    process.emitWarning(`${refusal.message}. The running server has lost it`, { code: 'HTTPSYS_PREFIX_DROPPED' })
    const id = listener.prefixes.idOf(parsed) ?? 0
    // A server without any prefix would take everything.
    if (listener.prefixes.size > 1) listener.prefixes.delete(parsed)
    listener.unregister([parsed.port], [{ id }])
    listener.configure()
  }
}

/** @param {Listener} listener */
function reserve (listener) {
  for (const port of listener.ports) listener.open().native.reserve(port, reservationsOfPort(port))
}

module.exports = { unwatch, watch }
