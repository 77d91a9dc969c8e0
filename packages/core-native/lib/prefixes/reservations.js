'use strict'

// Reservations: who may register which URL prefix. They keep applications of one user out of each other's way and
// are no security boundary: every process of that user can write the file and can choose its name.
//
// Registering needs the longest reservation that covers the prefix, with the same scheme, host and port, to name the
// application; where none does, everybody may. Reserving below a reservation needs its delegate right; where none
// covers the prefix, only the administrator may, who owns the file. docs/reservations.md is the reference.

const os = require('node:os')
const { ReservationFileError } = require('../base/errors')
const { refuseUnknown } = require('../options/option-names')
const { isAmong, principalProblem, principalsOf, whoAmI } = require('./principals')
const { ReservationTable } = require('./reservation-table')
const { fileStamp, readReservations, reservationsFile, rewriteReservations } = require('./reservations-file')
const { parseUrlPrefix } = require('./url-prefix')
const { watchPath } = require('../base/watch-path')

/** @typedef {import('./reservations-file').Reservation} Reservation */
/** @typedef {import('./principals').Who} Who */

/** The content of one file, read again when it has changed. */
class Store {
  /** Grows with every change that was noticed. */
  generation = 0
  /** @type {Error | null} why the file as it is now cannot be used */
  error = null
  /** The reservations of the last content of the file that could be used. */
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
 * Why a prefix may not be registered.
 *
 * @param {string} prefix
 * @param {Who} [who] default: this process
 * @returns {Error | null} with code EACCES and the properties `prefix`, `reservation`, `file`; null when it may be
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
 * Called before a prefix is registered.
 *
 * @param {string} prefix
 * @param {Who} [who] default: this process
 * @throws EACCES when it is reserved for others; ERR_HTTPSYS_URLACL when the file cannot be used
 */
function checkRegistration (prefix, who) {
  const refusal = findRefusal(prefix, who)
  if (refusal !== null) throw refusal
}

/**
 * The reserved prefixes of a port, canonical, of the last content of the file that could be used. A request that
 * matches one of them best is answered with 503 while nobody has registered that prefix.
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
 * Calls back after every change of the file, until it is ended. Does not keep the process running.
 *
 * @param {(error: Error | null) => void} onChange with ERR_HTTPSYS_URLACL when the file cannot be used as it is now:
 *   what was in force stays so for what is registered, and nothing further can be registered
 * @returns {() => void} ends it
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
 * @throws EEXIST when it is reserved; EACCES without the right to; ERR_HTTPSYS_URLACL, ERR_HTTPSYS_PREFIX_SYNTAX
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
 * Takes a reservation back; what lies below it stays reserved. Needs the right that reserving it needs.
 *
 * @param {string} prefix
 * @param {{ as?: Who }} [options] by default as the administrator, who owns the file
 * @returns {Reservation}
 * @throws ENOENT when it is not reserved; EACCES without the right to; ERR_HTTPSYS_URLACL, ERR_HTTPSYS_PREFIX_SYNTAX
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

/** Says why this user may not write the file: a write renames a new file into its place, which would belong to this user. @param {number | undefined} owner */
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
