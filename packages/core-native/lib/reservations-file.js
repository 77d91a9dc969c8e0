'use strict'

// The file of the reservations: read with every field checked, because people edit it; written whole, under a
// lock, by rename. docs/reservations.md describes the format.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { threadId } = require('node:worker_threads')
const { EnvironmentError, ReservationFileError } = require('./errors')
const { explainJsonError } = require('./json-syntax')
const { nearest } = require('./nearest')
const { principalProblem } = require('./principals')
const { reservationKey } = require('./reservation-table')
const { parseUrlPrefix } = require('./url-prefix')

/**
 * @typedef {object} Reservation
 * @property {string} prefix canonical
 * @property {string[]} register who may register it and what lies below
 * @property {string[]} delegate who may reserve below it
 * @property {string} [comment]
 */

const kVersion = 1
// Reading takes milliseconds at these sizes; listen() waits for it.
const kFileBytesMax = 1024 * 1024
const kReservationsMax = 10_000
const kPrincipalsMax = 64
const kCommentCharsMax = 1000
// A writer takes milliseconds; what is this old was left behind by one that died.
const kLockStaleMs = 10_000
const kLockWaitMs = 2_000
const kLockRetryMs = 20
// Each one more needs another writer that stood still for kLockStaleMs.
const kAttempts = 3

/** @returns {string | null} null when this user has no home directory */
function reservationsFile () {
  const { HTTPSYS_URLACL: chosen, XDG_CONFIG_HOME: config } = process.env
  if (chosen) {
    // Relative, every working directory would have reservations of its own.
    if (!path.isAbsolute(chosen)) throw new EnvironmentError('HTTPSYS_URLACL', chosen, 'an absolute path')
    return chosen
  }
  try {
    return path.join(config && path.isAbsolute(config) ? config : path.join(os.homedir(), '.config'), 'httpsys', 'urlacl.json')
  } catch {
    return null
  }
}

/**
 * Changes whenever the content may have changed.
 *
 * @param {string} file
 * @returns {string} '' when there is no such file
 */
function fileStamp (file) {
  try {
    const { dev, ino, mtimeNs, size } = fs.statSync(file, { bigint: true })
    return [dev, ino, mtimeNs, size].join(' ')
  } catch (error) {
    if (isMissing(error) || isOutOfReach(error)) return ''
    throw unreadable(file, error)
  }
}

/** @param {unknown} error */
function isMissing (error) {
  return ['ENOENT', 'ENOTDIR'].includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? '')
}

/**
 * In a folder of somebody else, such as the home of the user that the process was before setuid(): these are not its
 * user's reservations. Who has named the file hears of it.
 *
 * @param {unknown} error of stat()
 */
function isOutOfReach (error) {
  return /** @type {NodeJS.ErrnoException} */ (error).code === 'EACCES' && !process.env.HTTPSYS_URLACL
}

/** @param {string} file @param {unknown} error */
function unreadable (file, error) {
  return new ReservationFileError(file, `it cannot be read (${/** @type {Error} */ (error).message})`,
    'Let this user read it, or name another file with HTTPSYS_URLACL', error)
}

/**
 * @param {string} file
 * @returns {Reservation[]} none when there is no such file
 * @throws ERR_HTTPSYS_URLACL
 */
function readReservations (file) {
  if (fileStamp(file) === '') return []
  let text
  try {
    text = readText(file)
  } catch (error) {
    if (isMissing(error)) return []
    throw error instanceof ReservationFileError ? error : unreadable(file, error)
  }
  return parseReservations(text, file)
}

/** @param {string} file */
function readText (file) {
  // Without O_NONBLOCK a FIFO in its place would stop the program.
  const fd = fs.openSync(file, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0))
  try {
    if (!fs.fstatSync(fd).isFile()) throw new ReservationFileError(file, 'it is not a regular file', 'Name a file of JSON')
    const buffer = Buffer.alloc(kFileBytesMax + 1)
    let length = 0
    for (let read; length < buffer.length; length += read) {
      read = fs.readSync(fd, buffer, length, buffer.length - length, null)
      if (read === 0) break
    }
    if (length > kFileBytesMax) {
      throw new ReservationFileError(file, `it is longer than ${kFileBytesMax} bytes`, 'Delete what is not needed')
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length))
  } catch (error) {
    if (/** @type {any} */ (error).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error
    throw new ReservationFileError(file, 'it is not UTF-8', 'Save it as UTF-8')
  } finally {
    fs.closeSync(fd)
  }
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
  const { prefix, register, delegate = [], comment } = /** @type {Record<string, any>} */ (entry)
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
  return { prefix: readPrefix(prefix, where, refuse), register, delegate, ...(comment === undefined ? {} : { comment }) }
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
 * @param {Record<string, boolean>} fields name: whether it must be there
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
 * Reads the file, has it changed and puts the result in its place, alone among the writers that come here. Blocks
 * for at most two seconds for each other writer that takes the file for abandoned.
 *
 * @param {string} file
 * @param {(reservations: Reservation[], owner: number | undefined) => Reservation[]} change
 *   `owner` is the uid of the file's owner, undefined when there is no file; may be asked again when the file has changed
 */
function rewriteReservations (file, change) {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  for (let attempt = 1; ; attempt++) {
    const target = targetOf(file)
    if (rewriteOnce(file, target, change)) return
    if (attempt === kAttempts) throw busy(lockOf(target))
  }
}

/**
 * @param {string} file
 * @param {string} target
 * @param {(reservations: Reservation[], owner: number | undefined) => Reservation[]} change
 * @returns {boolean} false: another writer has taken this one for dead, and nothing was written
 */
function rewriteOnce (file, target, change) {
  const lock = lockOf(target)
  const fd = takeLock(lock)
  try {
    const stat = fs.statSync(target, { throwIfNoEntry: false })
    const reservations = change(readReservations(target), stat?.uid)
    if (stat !== undefined && process.geteuid?.() === 0) fs.fchownSync(fd, stat.uid, stat.gid)
    // Who could read it still can; nobody but the owner writes.
    fs.fchmodSync(fd, 0o600 | ((stat?.mode ?? 0) & 0o044))
    const text = `${JSON.stringify({ version: kVersion, reservations }, null, 2)}\n`
    if (reservations.length > kReservationsMax || Buffer.byteLength(text) > kFileBytesMax) {
      throw new ReservationFileError(file, `it would be longer than ${kReservationsMax} reservations or ${kFileBytesMax} bytes`,
        'Delete what is not needed')
    }
    fs.writeFileSync(fd, text)
    fs.fsyncSync(fd)
    // What has the name now may be the half of another writer's file.
    if (!isAt(fd, lock)) return false
    fs.renameSync(lock, target)
    return true
  } catch (error) {
    if (isAt(fd, lock)) fs.rmSync(lock, { force: true })
    throw error
  } finally {
    fs.closeSync(fd)
  }
}

/** The new file is the lock: who could create it is the writer, until its rename. @param {string} target */
function lockOf (target) {
  return `${target}.new`
}

/** @param {string} lock */
function busy (lock) {
  return new ReservationFileError(lock, 'another process is writing it', 'Try again; delete it if no httpsys command is running')
}

/**
 * Where a symbolic link leads, unless its maker may have chosen a file that is this user's to write and not the maker's: root
 * writes the files of other users, too.
 *
 * @param {string} file
 */
function targetOf (file) {
  const link = fs.lstatSync(file, { throwIfNoEntry: false })
  const found = link?.isSymbolicLink() ? fs.statSync(file, { throwIfNoEntry: false }) : undefined
  // Without a file at its end the link itself is replaced.
  if (link === undefined || found === undefined) return file
  if (![0, process.geteuid?.(), found.uid].includes(link.uid)) {
    throw new ReservationFileError(file, `it is a symbolic link of user ${link.uid} to a file of user ${found.uid}`,
      'Name the file itself, or let its owner make the link')
  }
  return fs.realpathSync(file)
}

/** @param {number} fd @param {string} name @returns {boolean} whether the file has that name */
function isAt (fd, name) {
  const own = fs.fstatSync(fd, { bigint: true })
  const there = fs.lstatSync(name, { bigint: true, throwIfNoEntry: false })
  return there !== undefined && there.dev === own.dev && there.ino === own.ino
}

/** @param {string} lock @returns {number} descriptor */
function takeLock (lock) {
  const sleep = new Int32Array(new SharedArrayBuffer(4))
  for (let waited = 0; ; waited += kLockRetryMs) {
    try {
      return fs.openSync(lock, 'wx', 0o600)
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
    }
    // Not where a link leads, which anybody may have made.
    const held = fs.lstatSync(lock, { bigint: true, throwIfNoEntry: false })
    if (held !== undefined && Date.now() - Number(held.mtimeMs) > kLockStaleMs) removeStale(lock, held.ino)
    if (waited >= kLockWaitMs) throw busy(lock)
    Atomics.wait(sleep, 0, 0, kLockRetryMs)
  }
}

/**
 * Of several that find the same old lock one removes it: a rename succeeds once. One that comes late takes hold of the lock
 * of whoever was first, and gives it back.
 *
 * @param {string} lock
 * @param {bigint} ino
 */
function removeStale (lock, ino) {
  const aside = `${lock}.${process.pid}.${threadId}`
  try {
    fs.renameSync(lock, aside)
  } catch {
    return
  }
  try {
    // Fails where somebody else has made a lock meanwhile; its first owner finds out before it writes.
    if (fs.lstatSync(aside, { bigint: true }).ino !== ino) fs.linkSync(aside, lock)
  } catch {}
  fs.rmSync(aside, { force: true })
}

module.exports = { fileStamp, readReservations, reservationsFile, rewriteReservations }
