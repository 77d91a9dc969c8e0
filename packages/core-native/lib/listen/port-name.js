'use strict'

// The name of a port, under which its processes meet, and what happens when another user has taken it: who needs
// nobody else on the port listens without sharing it, everybody else learns at once who is in the way.

const path = require('node:path')
const { loadBinding } = require('../backend/binding')
const { CoordinatorError, PortNameError } = require('../base/errors')
const { checkRuntimeDirectory, runtimeDirectory } = require('../backend/runtime-directory')
const { pageUrl } = require('../base/pages')
const { systemError, systemErrorText } = require('../base/system-error')

/**
 * @typedef {import('./listener').Listener} Listener
 *
 * @typedef {object} Stranger
 * @property {number} [uid] absent: not known
 * @property {number} pid 0: not known, it does not listen
 */

// Results of native.meet().
const kOurs = 0
const kMember = 1
const kTaken = 2
const kStrangers = 3

/** The ports that warnOfStranger() has warned of. @type {Set<number>} */
const warned = new Set()

/** @param {number} port @returns {string} as people find it in the lists of the system */
function nameOf (port) {
  const name = loadBinding().portName?.(port) ?? ''
  return path.isAbsolute(name) ? name : `@${name}`
}

// The text about whoever has the name of a port: the process and its user, and what its reader can do.
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

// Nobody can join it, and nobody has been kept from anything so far.
/** @param {number} port @param {Stranger} stranger */
function warnOfStranger (port, stranger) {
  if (warned.has(port)) return
  warned.add(port)
  process.emitWarning(`Port ${port} is not shared with other processes: ${describe(port, stranger)}`, { code: 'HTTPSYS_PORT_UNSHARED' })
}

// A member of the port goes on with what it has.
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
 * Takes a port: with others, or without them where the name is another user's and this listen() needs nobody.
 *
 * @param {Listener} listener
 * @param {{ port: number, isPlain: boolean, prefixes: { text: string }[] }} wanted
 * @returns {{ found: number, stranger: Stranger | null }} found: kOurs, kMember, kTaken or a negative errno; a stranger: it
 *   is kOurs without a name, of which warnOfStranger() is to tell when the server listens
 * @throws ERR_HTTPSYS_PORT_NAME, ERR_HTTPSYS_ENVIRONMENT
 */
function meet (listener, { port, isPlain, prefixes }) {
  checkRuntimeDirectory()
  const { native } = listener.open()
  const { found, uid, pid } = native.meet(port)
  const folder = runtimeDirectory()
  // Without one there are systems on which processes cannot meet; who has named one wants to share.
  if (found < 0 && folder !== null) throw folderError(found, folder)
  if (found !== kStrangers) return { found, stranger: null }
  const stranger = { uid, pid }
  if (!canDoWithout(listener, isPlain)) throw portNameError(port, stranger, prefixes[0]?.text ?? '')
  native.takeAlone(port)
  return { found: kOurs, stranger }
}

/**
 * Whether a listen() failed only because of somebody at the port's name who is none of ours, or of whom nothing is known.
 *
 * @param {Error | null} error
 * @returns {Stranger | null}
 */
function strangerOf (error) {
  const { uid, pid } = /** @type {Stranger} */ (error ?? {})
  if (error instanceof PortNameError) return { uid, pid }
  // Nobody has ever answered there.
  return error instanceof CoordinatorError && pid === 0 ? { pid } : null
}

module.exports = { canDoWithout, kMember, kOurs, kTaken, meet, portNameError, strangerOf, warnOfLostName, warnOfStranger }
