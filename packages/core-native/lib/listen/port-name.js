'use strict'

// Takes the name under which the processes of a port meet. If another user's process has taken the name, a server that can do without
// sharing listens alone, with a warning; any other listen() fails at once with an error that names the process.

const path = require('node:path')
const { loadBinding } = require('../backend/binding')
const { CoordinatorError, PortNameError } = require('../base/errors')
const { checkRuntimeDirectory, runtimeDirectory } = require('../backend/runtime-directory')
const { pageUrl } = require('../base/pages')
const { systemError, systemErrorText } = require('../base/system-error')

/** @import { Listener } from './listener' */
/**
 * @typedef {object} Stranger
 * @property {number} [uid] absent: not known
 * @property {number} pid 0: not known, because the process does not listen on the name
 */

// Results of native.meet().
const kOurs = 0
const kMember = 1
const kTaken = 2
const kStrangers = 3

/** The ports that warnOfStranger() has warned of. @type {Set<number>} */
const warned = new Set()

/** @param {number} port @returns {string} the name as `ss -x` shows it */
function nameOf (port) {
  const name = loadBinding().portName?.(port) ?? ''
  return path.isAbsolute(name) ? name : `@${name}`
}

// Describes the process that has taken the name of a port, its user, and what an administrator can do.
/** @param {number} port @param {Stranger} stranger @returns {string} */
function describe (port, { uid, pid }) {
  const name = nameOf(port)
  const which = pid === 0 ? 'a process' : `process ${pid}`
  const who = uid === undefined ? `${which} that does not answer` : `${which} of user ${uid}`
  const look = pid === 0 ? `ss -xap | grep -F '${name.slice(1)}'` : `ps -fp ${pid}`
  return `the name ${name}, under which processes of this user share port ${port}, is taken by ${who}. As root, see who it is with ` +
    `"${look}"; end it, or set HTTPSYS_RUNTIME_DIRECTORY for all processes that share ports (${pageUrl('port-sharing.md')})`
}

/** @param {number} port @param {Stranger} stranger @param {string} prefix */
function portNameError (port, stranger, prefix) {
  return new PortNameError(port, describe(port, stranger), prefix, stranger)
}

// Warns once per port that a server listens without sharing its port: no other process can join it later.
/** @param {number} port @param {Stranger} stranger */
function warnOfStranger (port, stranger) {
  if (warned.has(port)) return
  warned.add(port)
  process.emitWarning(`Port ${port} is not shared with other processes: ${describe(port, stranger)}`, { code: 'HTTPSYS_PORT_UNSHARED' })
}

// Warns that a member has lost the port's name to another process. The member keeps serving the prefixes that it has.
/** @param {number} port @param {Stranger} stranger */
function warnOfLostName (port, stranger) {
  process.emitWarning(`Nothing further can be registered on port ${port}, where this process serves on: ${describe(port, stranger)}`,
    { code: 'HTTPSYS_PORT_UNSHARED' })
}

/** @param {number} errno @param {string} folder */
function folderError (errno, folder) {
  const error = systemError(errno, 'listen')
  error.message = `listen ${error.code}: no socket can be made in HTTPSYS_RUNTIME_DIRECTORY ${folder}: ${systemErrorText(errno)}`
  return error
}

/** @param {Listener} listener @param {boolean} isPlain listen(port) */
function canDoWithout ({ sharing }, isPlain) {
  return isPlain || sharing.exclusive
}

/**
 * Takes a port, to share it with other processes. If another user has its name and canDoWithout(), takes the port without sharing it.
 *
 * @param {Listener} listener
 * @param {{ port: number, isPlain: boolean, prefixes: { text: string }[] }} wanted
 * @returns {{ found: number, stranger: Stranger | null }} found: kOurs, kMember, kTaken or a negative errno. If stranger is set, the
 *   port was taken without its name; the caller must call warnOfStranger() when the server listens
 * @throws ERR_HTTPSYS_PORT_NAME, ERR_HTTPSYS_ENVIRONMENT
 */
function meet (listener, { port, isPlain, prefixes }) {
  checkRuntimeDirectory()
  const { native } = listener.open()
  const { found, uid, pid } = native.meet(port)
  const folder = runtimeDirectory()
  // A user who set HTTPSYS_RUNTIME_DIRECTORY wants to share. Without it, some systems have no meeting places, which is no error.
  if (found < 0 && folder !== null) throw folderError(found, folder)
  if (found !== kStrangers) return { found, stranger: null }
  const stranger = { uid, pid }
  if (!canDoWithout(listener, isPlain)) throw portNameError(port, stranger, prefixes[0]?.text ?? '')
  native.takeAlone(port)
  return { found: kOurs, stranger }
}

/**
 * Returns the stranger if a listen() failed only because the process at the port's name is another user's or does not answer.
 *
 * @param {Error | null} error
 * @returns {Stranger | null}
 */
function strangerOf (error) {
  const { uid, pid } = /** @type {Stranger} */ (error ?? {})
  if (error instanceof PortNameError) return { uid, pid }
  // pid 0: no process has ever answered at the name.
  return error instanceof CoordinatorError && pid === 0 ? { pid } : null
}

module.exports = { canDoWithout, kMember, kOurs, kTaken, meet, portNameError, strangerOf, warnOfLostName, warnOfStranger }
