'use strict'

// Reservations decide which application may register which URL prefix. They keep one user's applications apart and
// are no security boundary: every process of that user can write the file and choose its application name.
//
// A prefix can be registered if the longest reservation that covers it (same scheme, host and port) names the
// application, or if no reservation covers it. A prefix can be reserved by an application with the delegate right of the
// longest reservation above it; if there is none, only by the owner of the file. docs/reservations.md is the reference.

const os = require('node:os')
const { ReservationFileError } = require('../base/errors')
const { refuseUnknown } = require('../options/option-names')
const { isAmong, principalProblem, principalsOf, whoAmI } = require('./principals')
const { ReservationTable } = require('./reservation-table')
const { fileStamp, readReservations, reservationsFile, rewriteReservations } = require('./reservations-file')
const { parseUrlPrefix } = require('./url-prefix')
const { watchPath } = require('../base/watch-path')

/** @import { Reservation } from './reservations-file' */
/** @import { Who } from './principals' */

/** Cache of the content of one file, which it reads again when the file has changed. */
class Store {
  /** Counts the changes of the file that were noticed. */
  generation = 0
  /** @type {Error | null} why the present file is invalid; null: it is valid */
  error = null
  /** Reservations from the last valid version of the file. */
  inForce = new ReservationTable()
  /** @type {string | null} */
  #stamp = null

  /** @param {string | null} file */
  constructor (file) {
    this.file = file
  }

  refresh () {
    if (this.file === null) return this
    let stamp
    try {
      stamp = fileStamp(this.file)
      if (stamp === this.#stamp) return this
      this.inForce = new ReservationTable(readReservations(this.file))
      this.error = null
    } catch (error) {
      stamp ??= `unreadable: ${/** @type {Error} */ (error).message}`
      if (stamp === this.#stamp) return this
      this.error = /** @type {Error} */ (error)
    }
    this.#stamp = stamp
    this.generation++
    return this
  }

  /** @throws ERR_HTTPSYS_URLACL */
  read () {
    this.refresh()
    if (this.error !== null) throw this.error
    return this.inForce
  }
}

let current = new Store(null)

function store () {
  const file = reservationsFile()
  if (current.file !== file) current = new Store(file)
  return current
}

/** @param {string[]} principals */
const listed = (principals) => principals.length === 0 ? 'nobody' : principals.join(', ')

/** @param {'EACCES' | 'EEXIST' | 'ENOENT'} code @param {string} message @param {Record<string, unknown>} details */
function systemError (code, message, details) {
  return Object.assign(new Error(message), { errno: -os.constants.errno[code], code, ...details })
}

/**
 * Returns the error for a prefix that reservations forbid to register.
 *
 * @param {string} prefix
 * @param {Who} [who] default: this process
 * @returns {Error | null} with code EACCES and the properties `prefix`, `reservation`, `file`; null: registering is permitted
 * @throws ERR_HTTPSYS_URLACL, ERR_HTTPSYS_PREFIX_SYNTAX, ERR_HTTPSYS_ENVIRONMENT
 */
function findRefusal (prefix, who = whoAmI()) {
  const { file } = store()
  const table = current.read()
  const canonical = parseUrlPrefix(prefix).prefix
  const refusal = (/** @type {string} */ reservation, /** @type {string} */ problem) =>
    systemError('EACCES', `"${canonical}" cannot be registered: ${problem}`, { syscall: 'listen', prefix: canonical, reservation, file })
  const other = table.ofOtherScheme(canonical)
  if (other !== undefined) return refusal(other, `"${other}" in ${file} reserves its port for another scheme`)
  const covering = table.covering(canonical)
  if (covering === undefined || isAmong(who, covering.register)) return null
  return refusal(covering.prefix, `"${covering.prefix}" is reserved for ${listed(covering.register)} in ${file}, and this is ` +
    `${principalsOf(who).slice(0, 2).join(' of ')}. Give the application that name with queueName or HTTPSYS_APP, ` +
    'or change the reservation with "httpsys delete urlacl" and "httpsys add urlacl"')
}

/**
 * Throws if reservations forbid a prefix. Must be called before the prefix is registered.
 *
 * @param {string} prefix
 * @param {Who} [who] default: this process
 * @throws EACCES if the prefix is reserved for other applications; ERR_HTTPSYS_URLACL if the file is invalid
 */
function checkRegistration (prefix, who) {
  const refusal = findRefusal(prefix, who)
  if (refusal !== null) throw refusal
}

/**
 * Lists the reserved prefixes of a port, canonical, from the last valid version of the file. If a request's longest
 * matching prefix is reserved but not registered by any server, it gets 503.
 *
 * @param {number} port
 * @returns {string[]}
 */
function reservationsOfPort (port) {
  return store().refresh().inForce.ofPort(port)
}

/** @returns {Reservation[]} a copy @throws ERR_HTTPSYS_URLACL */
function listReservations () {
  return structuredClone(store().read().reservations)
}

/**
 * Calls onChange() after every change of the file. Does not keep the process running.
 *
 * @param {(error: Error | null) => void} onChange with ERR_HTTPSYS_URLACL if the file is now invalid: for registered prefixes
 *   the previous reservations stay in force, and no further prefix can be registered
 * @returns {() => void} ends the watch
 */
function watchReservations (onChange) {
  const watched = store()
  if (watched.file === null) return () => {}
  let seen = watched.refresh().generation
  return watchPath(watched.file, () => {
    const { generation, error } = watched.refresh()
    if (generation === seen) return
    seen = generation
    onChange(error)
  })
}

/**
 * Reserves a prefix.
 *
 * @param {string} prefix
 * @param {{ register: string[], delegate?: string[], comment?: string }} rights
 * @param {{ as?: Who }} [options] by default as the administrator, who owns the file
 * @returns {Reservation}
 * @throws EEXIST if it is already reserved; EACCES without the right to reserve it; ERR_HTTPSYS_URLACL, ERR_HTTPSYS_PREFIX_SYNTAX
 */
function addReservation (prefix, rights, { as } = {}) {
  refuseUnknown('addReservation()', rights, ['register', 'delegate', 'comment'])
  const { register, delegate = [], comment } = rights
  const canonical = parseUrlPrefix(prefix).prefix
  for (const principal of [...register, ...delegate]) {
    const problem = principalProblem(principal)
    if (problem !== null) throw Object.assign(new TypeError(`${JSON.stringify(principal)} ${problem}`), { code: 'ERR_INVALID_ARG_VALUE' })
  }
  const reservation = { prefix: canonical, register, delegate, ...(comment === undefined ? {} : { comment }) }
  changeReservations(canonical, as, (table, file) => {
    const same = table.get(canonical)
    if (same !== undefined) {
      throw systemError('EEXIST', `"${canonical}" is already reserved for ${listed(same.register)} in ${file}; ` +
        'delete that reservation first', { prefix: canonical, file })
    }
    const other = table.ofOtherScheme(canonical)
    if (other !== undefined) {
      throw systemError('EEXIST', `"${canonical}" cannot be reserved: "${other}" in ${file} reserves its port for another scheme`,
        { prefix: canonical, file })
    }
    return [...table.reservations, reservation]
  })
  return reservation
}

/**
 * Deletes a reservation; reservations below it stay. Needs the same right as addReservation().
 *
 * @param {string} prefix
 * @param {{ as?: Who }} [options] by default as the administrator, who owns the file
 * @returns {Reservation}
 * @throws ENOENT if it is not reserved; EACCES without that right; ERR_HTTPSYS_URLACL, ERR_HTTPSYS_PREFIX_SYNTAX
 */
function deleteReservation (prefix, { as } = {}) {
  const canonical = parseUrlPrefix(prefix).prefix
  /** @type {Reservation | undefined} */
  let deleted
  changeReservations(canonical, as, (table, file) => {
    deleted = table.get(canonical)
    if (deleted === undefined) {
      throw systemError('ENOENT', `"${canonical}" is not reserved in ${file}; "httpsys show urlacl" lists what is`,
        { prefix: canonical, file })
    }
    return table.reservations.filter((existing) => existing !== deleted)
  })
  return /** @type {Reservation} */ (/** @type {unknown} */ (deleted))
}

/**
 * @param {string} prefix canonical
 * @param {Who | undefined} as
 * @param {(table: ReservationTable, file: string) => Reservation[]} change
 */
function changeReservations (prefix, as, change) {
  const file = reservationsFile()
  if (file === null) {
    throw new ReservationFileError('urlacl.json', 'this user has no home directory for it', 'Name a file with HTTPSYS_URLACL')
  }
  rewriteReservations(file, (reservations, owner) => {
    const table = new ReservationTable(reservations)
    const changed = change(table, file)
    const refused = ownerProblem(owner) ?? (as === undefined ? null : delegateProblem(table, prefix, as))
    if (refused !== null) throw systemError('EACCES', `The reservation of "${prefix}" in ${file} cannot be changed: ${refused}`, { prefix, file })
    return changed
  })
}

/**
 * Refuses other users than root and the file's owner: a write replaces the file, and the new file would belong to this user.
 *
 * @param {number | undefined} owner
 */
function ownerProblem (owner) {
  const uid = process.geteuid?.()
  if (owner === undefined || uid === undefined || uid === owner || uid === 0) return null
  return `the file belongs to uid ${owner}, and this is uid ${uid}`
}

/** @param {ReservationTable} table @param {string} prefix @param {Who} who */
function delegateProblem (table, prefix, who) {
  const above = table.above(prefix)
  if (above === undefined) return 'no reservation lies above it, so only the administrator, who owns the file, may do it'
  if (isAmong(who, above.delegate)) return null
  return `"${above.prefix}" above it gives the delegate right to ${listed(above.delegate)}, and this is app:${who.app}`
}

module.exports = {
  addReservation,
  checkRegistration,
  deleteReservation,
  findRefusal,
  listReservations,
  reservationsFile,
  reservationsOfPort,
  watchReservations,
  whoAmI
}
