'use strict'

// Reservations in the order of the file, with an index by prefix: the check of a prefix walks up its path
// and does not visit every reservation, of which there may be ten thousand.

const { keyOf, parseUrlPrefix } = require('./url-prefix')

/** @import { Reservation } from './reservations-file' */

/** @param {string} prefix @returns {string} keyOf() of the prefix */
const reservationKey = (prefix) => keyOf(parseUrlPrefix(prefix))

class ReservationTable {
  /** @type {Map<string, Reservation>} by key */
  #byKey = new Map()
  /** @type {Map<number, { prefix: string, scheme: string }[]>} */
  #byPort = new Map()

  /** @param {Reservation[]} [reservations] of different keys */
  constructor (reservations = []) {
    this.reservations = reservations
    for (const reservation of reservations) {
      const { port, scheme } = parseUrlPrefix(reservation.prefix)
      this.#byKey.set(reservationKey(reservation.prefix), reservation)
      const ofPort = this.#byPort.get(port)
      if (ofPort === undefined) this.#byPort.set(port, [{ prefix: reservation.prefix, scheme }])
      else ofPort.push({ prefix: reservation.prefix, scheme })
    }
  }

  /** @param {string} prefix @returns {Reservation | undefined} the reservation of this very prefix */
  get (prefix) {
    return this.#byKey.get(reservationKey(prefix))
  }

  /**
   * Finds the longest reservation at or above a prefix, with the same scheme, host (so also of the same kind) and port.
   *
   * @param {string} prefix
   * @returns {Reservation | undefined}
   */
  covering (prefix) {
    return this.get(prefix) ?? this.above(prefix)
  }

  /** Finds the longest reservation above a prefix, as covering() does, but not of the prefix itself. @param {string} prefix @returns {Reservation | undefined} */
  above (prefix) {
    const key = reservationKey(prefix)
    const root = key.indexOf('/', key.indexOf('://') + 3)
    for (let end = key.length - 1; end > root;) {
      end = key.lastIndexOf('/', end - 1)
      const found = this.#byKey.get(key.slice(0, end + 1))
      if (found !== undefined) return found
    }
    return undefined
  }

  /**
   * Finds a conflict of schemes, because a port speaks one scheme.
   *
   * @param {string} prefix @returns {string | undefined} a reserved prefix of that port with the other scheme
   */
  ofOtherScheme (prefix) {
    const { port, scheme } = parseUrlPrefix(prefix)
    return this.#byPort.get(port)?.find((reserved) => reserved.scheme !== scheme)?.prefix
  }

  /** @param {number} port @returns {string[]} prefixes */
  ofPort (port) {
    return (this.#byPort.get(port) ?? []).map(({ prefix }) => prefix)
  }
}

module.exports = { ReservationTable, reservationKey }
