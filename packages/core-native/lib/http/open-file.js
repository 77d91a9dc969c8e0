'use strict'

// The only place where files that are piped into responses are opened and closed: by the engine, which keeps them for the next response, or
// by Node, for one stream.

const fs = require('node:fs')
const { AsyncResource } = require('node:async_hooks')
const path = require('node:path')
const { setImmediate } = require('node:timers')
const { isMainThread } = require('node:worker_threads')
const { loadBinding } = require('../backend/binding')
const { kHidden } = require('../node-private/file-stream')
const { kLane } = require('./symbols')

/** The engine has no file under this id: the descriptor is the stream's own. */
const kOwn = 0

/**
 * Calls of fs.open() that may be under way: each brings a descriptor before the engine can give up another one. Three hundred requests at once
 * would otherwise use up those of a process that may have 256. More than the threads of Node's pool, as a rule, so that nobody waits longer.
 */
const kOpensMax = 64

/** @typedef {import('../../types/binding').Engine} Engine */
/** @typedef {import('../../types/internal').EngineResponse} EngineResponse */

/**
 * The file of a stream.
 *
 * @typedef {object} OpenedFile
 * @property {number} id of the engine's table, or kOwn
 * @property {number | null} size bytes; null: nobody has asked
 */

/** Where the engine writes what it knows of a file: the number of its descriptor, and its size. */
const facts = new Float64Array(2)

/** @type {OpenedFile} */
const kUnknown = { id: kOwn, size: null }

/** @returns {number} the descriptor of `facts`, as a small integer: what stands in the array is an object of its own for whoever keeps it */
const descriptorOf = () => facts[0] | 0

let opens = 0
/** @type {(() => void)[]} */
const waiting = []

const mayOpen = () => opens < kOpensMax

/** Lets those open their files who have waited. */
function openWaiting () {
  while (mayOpen() && waiting.length > 0) waiting.shift()?.()
}

/**
 * Calls fs.open().
 *
 * @param {string} at
 * @param {string | number} flags
 * @param {number} mode
 * @param {(error: Error | null, fd: number) => void} callback
 */
function openNow (at, flags, mode, callback) {
  fs.open(at, flags, mode, (error, fd) => {
    try {
      callback(error, fd)
    } finally {
      opens--
      openWaiting()
    }
  })
  opens++
}

/** @param {number} id @returns {OpenedFile} that of `facts` */
function fileOf (id) {
  return { id, size: facts[1] }
}

/** @param {EngineResponse} res @returns {Engine | null} of the lane that has the response; null: it keeps no files open */
function engineOf ({ req }) {
  const { socket } = /** @type {{ socket: import('../../types/internal').AnySocket | null }} */ (req)
  return loadBinding().capabilities.listensOnSockets ? socket?.[kLane]?.native ?? null : null
}

/**
 * Opens a file for reading. The callback comes in a later turn.
 *
 * @param {string | Buffer} at
 * @param {string | number} flags
 * @param {number} mode
 * @param {Engine | null} engine that may keep it; null: nobody else may have the descriptor
 * @param {(error: Error | null, fd?: number, file?: OpenedFile) => void} callback
 */
function openFile (at, flags, mode, engine, callback) {
  // fs.open() refuses a path with NUL.
  if (engine === null || typeof at !== 'string' || at.includes('\0')) {
    fs.open(at, flags, mode, (error, fd) => callback(error, fd, kUnknown))
    return
  }
  const absolute = path.isAbsolute(at) ? at : path.resolve(at)
  if (findOpen(engine, absolute, callback)) return
  const open = () => openNow(at, flags, mode, (error, fd) => {
    if (error !== null) return callback(error)
    const kept = engine.keepFile(absolute, fd, facts, !isMainThread)
    // The descriptor of anything but a regular file stays the stream's.
    if (kept === kOwn) return callback(null, fd, kUnknown)
    const file = fileOf(kept)
    const number = descriptorOf()
    // Node closes what a worker has opened and not closed by `fs` when the worker ends, whoever has that number by then.
    if (!isMainThread) fs.close(fd, () => {})
    callback(null, number, file)
  })
  if (mayOpen()) return open()
  // By then somebody else may have opened the same file.
  waiting.push(AsyncResource.bind(() => { if (!findOpen(engine, absolute, callback)) open() }, 'FSREQCALLBACK'))
}

/** @param {Engine} engine @param {string} absolute @param {(error: null, fd: number, file: OpenedFile) => void} callback @returns {boolean} the engine has the file */
function findOpen (engine, absolute, callback) {
  const found = engine.findFile(absolute, facts)
  if (found !== kOwn) setImmediate(callback, null, descriptorOf(), fileOf(found))
  return found !== kOwn
}

/**
 * Asks what a file is. The callback comes in a later turn; a synchronous call would wait for a file system on a network.
 *
 * @param {number} fd
 * @param {(stats: fs.Stats | null) => void} callback null: the system does not say
 */
function statFile (fd, callback) {
  fs.fstat(fd, (error, stats) => callback(error === null ? stats : null))
}

/**
 * The descriptor of a file that openFile() has opened, for reads of Node's. The engine does not give it up any more. Where it had done so,
 * the file is opened again, which may take its time.
 *
 * @param {number} fd
 * @param {Engine | null} engine
 * @param {number} id
 * @returns {number} or a negative errno: the file is not the same any more
 */
function pinFile (fd, engine, id) {
  return engine === null || id === kOwn ? fd : engine.pinFile(id)
}

/**
 * Whether an application may have moved the position of a descriptor that it has heard of. Unlike Node, a lane reads from the position 0.
 *
 * @param {number} fd
 * @param {Engine | null} engine null: nobody can ask, and whoever listens to the opening of files may have
 * @param {boolean} isHeard somebody listens
 * @returns {boolean}
 */
function hasMoved (fd, engine, isHeard) {
  return engine === null ? isHeard : engine.positionOf(fd) !== 0
}

/**
 * Opens once more what a descriptor of the engine is open on, for the application: whatever that does with the number, it is not one of the engine's.
 *
 * @param {number} fd
 * @param {string | Buffer} at the path that it was opened with
 * @returns {number} or kHidden, where the file cannot be opened any more
 */
function openAgain (fd, at) {
  // The name of the descriptor leads to the file also where its path names another one by now.
  for (const name of [`/dev/fd/${fd}`, at]) {
    try {
      const again = fs.openSync(name, 'r')
      if (isSameFile(fd, again)) return again
      fs.closeSync(again)
    } catch {}
  }
  return kHidden
}

/** @param {number} one @param {number} other both open @returns {boolean} */
function isSameFile (one, other) {
  const [a, b] = [one, other].map((fd) => fs.fstatSync(fd, { bigint: true }))
  return a.dev === b.dev && a.ino === b.ino
}

/** Gives a file back to the engine. @param {Engine | null} engine @param {number} id of its table, or kOwn */
function releaseFile (engine, id) {
  if (id !== kOwn) engine?.releaseFile(id)
}

/**
 * Closes what openFile() has opened, or the application. The callback comes in a later turn.
 *
 * @param {number} fd
 * @param {Engine | null} engine
 * @param {number} id
 * @param {(error: Error | null) => void} callback
 */
function closeFile (fd, engine, id, callback) {
  if (engine === null || id === kOwn) return fs.close(fd, callback)
  engine.releaseFile(id)
  setImmediate(callback, null)
}

module.exports = { closeFile, engineOf, hasMoved, kOwn, kUnknown, openAgain, openFile, pinFile, releaseFile, statFile }
