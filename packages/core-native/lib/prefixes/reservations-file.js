'use strict'

// Reads and writes the reservations file. Every field is checked, because people edit the file; a write replaces all of it.
// docs/reservations.md describes the format.

const fs = require('node:fs')
const { ReservationFileError } = require('../base/errors')
const { explainJsonError } = require('../base/json-syntax')
const { nearest } = require('../base/nearest')
const { principalProblem } = require('./principals')
const { reservationKey } = require('./reservation-table')
const { readText, rewriteFile, settingsFile } = require('../base/settings-file')
const { parseUrlPrefix } = require('./url-prefix')

/**
 * @typedef {object} Reservation
 * @property {string} prefix canonical
 * @property {string[]} register principals that may register the prefix and prefixes below it
 * @property {string[]} delegate principals that may reserve prefixes below it
 * @property {string} [comment]
 */

const kVersion = 1
// Limits of the file, of its number of reservations, and of the fields of each. Reading then takes only milliseconds, for which listen() waits.
const kFileBytesMax = 1024 * 1024
const kReservationsMax = 10_000
const kPrincipalsMax = 64
const kCommentCharsMax = 1000

/** @returns {string | null} null when this user has no home directory */
function reservationsFile () {
  return settingsFile('HTTPSYS_URLACL', 'urlacl.json')
}

/**
 * Returns a stamp of the file, which differs whenever its content may have changed.
 *
 * @param {string} file
 * @returns {string} '' when there is no such file
 */
function fileStamp (file) {
  try {
    const { dev, ino, mtimeNs, size } = fs.statSync(file, { bigint: true })
    return [dev, ino, mtimeNs, size].join(' ')
  } catch (error) {
    if (isMissing(error)) return ''
    // The default file may be in a folder that this user cannot enter, such as the home of the user that the process had before setuid():
    // then it counts as missing.
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EACCES' && !process.env.HTTPSYS_URLACL) return ''
    throw unreadable(file, error)
  }
}

/** @param {unknown} error */
function isMissing (error) {
  return ['ENOENT', 'ENOTDIR'].includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? '')
}

/** @param {string} file @param {unknown} error */
function unreadable (file, error) {
  return new ReservationFileError(file, `it cannot be read (${/** @type {Error} */ (error).message})`,
    'Let this user read it, or name another file with HTTPSYS_URLACL', error)
}

/** @param {string} file @returns {Reservation[]} empty if there is no such file @throws ERR_HTTPSYS_URLACL */
function readReservations (file) {
  if (fileStamp(file) === '') return []
  let text
  try {
    text = readText(file, kFileBytesMax, ReservationFileError)
  } catch (error) {
    if (isMissing(error)) return []
    throw error instanceof ReservationFileError ? error : unreadable(file, error)
  }
  return parseReservations(text, file)
}

/** @param {string} text @param {string} file @returns {Reservation[]} */
function parseReservations (text, file) {
  /** @param {string} problem @param {string} cure @returns {never} */
  const refuse = (problem, cure) => { throw new ReservationFileError(file, problem, cure) }
  if (text.trim() === '') return []
  let content
  try {
    content = JSON.parse(text)
  } catch (error) {
    refuse(explainJsonError(text) ?? /** @type {Error} */ (error).message, 'Correct it there')
  }
  checkFields(content, 'the file', { version: true, reservations: true }, refuse)
  if (content.version !== kVersion) {
    refuse(`version is ${JSON.stringify(content.version)}`, `This version of httpsys reads version ${kVersion}`)
  }
  const { reservations } = content
  if (!Array.isArray(reservations) || reservations.length > kReservationsMax) {
    refuse('reservations is no array', `Make it an array of at most ${kReservationsMax} objects`)
  }
  const known = new Map()
  return reservations.map((/** @type {unknown} */ entry, /** @type {number} */ index) => {
    const where = `reservations[${index}]`
    const reservation = readReservation(entry, where, refuse)
    const key = reservationKey(reservation.prefix)
    const first = known.get(key)
    if (first !== undefined) refuse(`${where}.prefix is the same as ${first}.prefix`, 'Delete one of the two')
    known.set(key, where)
    return reservation
  })
}

/**
 * @param {unknown} entry
 * @param {string} where
 * @param {(problem: string, cure: string) => never} refuse
 * @returns {Reservation}
 */
function readReservation (entry, where, refuse) {
  checkFields(entry, where, { prefix: true, register: true, delegate: false, comment: false }, refuse)
  const { prefix, register, delegate = [], comment } = /** @type {Record<string, unknown>} */ (entry)
  for (const [name, principals] of Object.entries({ register, delegate })) {
    if (!Array.isArray(principals) || principals.length > kPrincipalsMax) {
      refuse(`${where}.${name} is no array`, `Make it an array of at most ${kPrincipalsMax} strings such as "app:shop"`)
    }
    for (const [index, principal] of principals.entries()) {
      const problem = principalProblem(principal)
      if (problem !== null) refuse(`${where}.${name}[${index}] is ${brief(principal)}`, `It ${problem}`)
    }
  }
  if (comment !== undefined && (typeof comment !== 'string' || comment.length > kCommentCharsMax)) {
    refuse(`${where}.comment is ${brief(comment)}`, `Make it a string of at most ${kCommentCharsMax} characters`)
  }
  const principals = /** @type {{ register: string[], delegate: string[] }} */ ({ register, delegate }) // The loop has checked the types.
  return { prefix: readPrefix(prefix, where, refuse), ...principals, ...(comment === undefined ? {} : { comment }) }
}

/** @param {unknown} text @param {string} where @param {(problem: string, cure: string) => never} refuse */
function readPrefix (text, where, refuse) {
  if (typeof text !== 'string') return refuse(`${where}.prefix is ${brief(text)}`, 'Make it a URL prefix such as "http://*:8080/shop/"')
  try {
    return parseUrlPrefix(text).prefix
  } catch (error) {
    return refuse(`${where}.prefix: ${/** @type {Error} */ (error).message}`, 'Correct it there')
  }
}

/**
 * @param {unknown} value
 * @param {string} where
 * @param {Record<string, boolean>} fields by name, whether the field is required
 * @param {(problem: string, cure: string) => never} refuse
 */
function checkFields (value, where, fields, refuse) {
  const names = Object.keys(fields)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    refuse(`${where} is ${brief(value)}`, `Make it an object with ${names.map((name) => `"${name}"`).join(', ')}`)
  }
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(fields, name)) continue
    const meant = nearest(name, names)
    refuse(`${where} has a field ${brief(name)}`, meant === undefined ? `It can have ${names.join(', ')}` : `Did you mean "${meant}"?`)
  }
  for (const name of names) {
    if (fields[name] && !Object.hasOwn(value, name)) refuse(`${where} has no "${name}"`, 'Add it')
  }
}

/** @param {unknown} value */
function brief (value) {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

/**
 * Reads the file and replaces it by the result of change(), under a lock that excludes other callers of this function.
 *
 * @param {string} file
 * @param {(reservations: Reservation[], owner: number | undefined) => Reservation[]} change
 *   `owner` is the uid of the file's owner, undefined if there is no file; called again if the lock was lost to another writer
 */
function rewriteReservations (file, change) {
  rewriteFile(file, ReservationFileError, (target, owner) => {
    const reservations = change(readReservations(target), owner)
    const text = `${JSON.stringify({ version: kVersion, reservations }, null, 2)}\n`
    if (reservations.length > kReservationsMax || Buffer.byteLength(text) > kFileBytesMax) {
      throw new ReservationFileError(file, `it would be longer than ${kReservationsMax} reservations or ${kFileBytesMax} bytes`,
        'Delete what is not needed')
    }
    return text
  })
}

module.exports = { fileStamp, readReservations, reservationsFile, rewriteReservations }
