'use strict'

// Opens and closes the files that responses consist of, all in one place. The engine keeps a file open for later responses; a file that it
// cannot keep is opened for one response.

const fs = require('node:fs')
const { AsyncResource } = require('node:async_hooks')
const path = require('node:path')
const { setImmediate } = require('node:timers')
const { isMainThread } = require('node:worker_threads')
const { loadBinding } = require('../backend/binding')
const { kHidden } = require('../node-private/file-stream')
const { kLane } = require('./symbols')

/** The id of a file that is not in the engine's table: the descriptor belongs to one stream. */
const kOwn = 0

/**
 * At most this many calls of fs.open() are under way. Each opens a descriptor before the engine can give up another one, so that 300 requests
 * at once could exceed a process's limit of 256. As a rule Node's pool has fewer threads, so that the limit delays no call.
 */
const kOpensMax = 64

/** @import { Engine } from '../../types/binding' */
/** @import { AnySocket, EngineResponse } from '../../types/internal' */

/**
 * The file of a stream.
 *
 * @typedef {object} OpenedFile
 * @property {number} id of the engine's table, or kOwn
 * @property {number | null} size bytes; null: unknown
 */

/** The engine writes two numbers about a file here: its descriptor, and its size. */
const facts = new Float64Array(2)

/** @type {OpenedFile} */
const kUnknown = { id: kOwn, size: null }

/** @returns {number} the descriptor in `facts`, as a small integer: the array's number would be a heap object for as long as it is kept */
const descriptorOf = () => facts[0] | 0

let opens = 0
/** Calls of fs.open() that wait because of kOpensMax. @type {(() => void)[]} */
const waiting = []

const mayOpen = () => opens < kOpensMax

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
      while (mayOpen() && waiting.length > 0) waiting.shift()?.()
    }
  })
  opens++
}

/** @param {number} id @returns {OpenedFile} the file that `facts` describes */
function fileOf (id) {
  return { id, size: facts[1] }
}

/** @param {EngineResponse} res @returns {Engine | null} the engine of the response's lane; null: the backend keeps no files open */
function engineOf ({ req }) {
  const { socket } = /** @type {{ socket: AnySocket | null }} */ (req)
  return loadBinding().capabilities.listensOnSockets ? socket?.[kLane]?.native ?? null : null
}

/**
 * Opens a file for reading. The callback comes in a later turn.
 *
 * @param {string | Buffer} at
 * @param {string | number} flags
 * @param {number} mode
 * @param {Engine | null} engine that may keep the file open; null: the descriptor must be the caller's alone
 * @param {(error: Error | null, fd?: number, file?: OpenedFile) => void} callback
 */
function openFile (at, flags, mode, engine, callback) {
  // These cases are left to fs.open(), which refuses a path with NUL.
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
    // In a worker the engine keeps a copy, so `fd` is closed now. Node would close that number when the worker ends, even if another file has
    // it by then.
    if (!isMainThread) fs.close(fd, () => {})
    callback(null, number, file)
  })
  if (mayOpen()) return open()
  // By the time that this call may begin, another call may have opened the same file.
  waiting.push(AsyncResource.bind(() => { if (!findOpen(engine, absolute, callback)) open() }, 'FSREQCALLBACK'))
}

/**
 * @param {Engine} engine
 * @param {string} absolute
 * @param {(error: null, fd: number, file: OpenedFile) => void} callback
 * @returns {boolean} whether the engine has the file open
 */
function findOpen (engine, absolute, callback) {
  const found = engine.findFile(absolute, facts)
  if (found !== kOwn) setImmediate(callback, null, descriptorOf(), fileOf(found))
  return found !== kOwn
}

/**
 * Calls fs.fstat(). The callback comes in a later turn; a synchronous call would wait for a file system on a network.
 *
 * @param {number} fd
 * @param {(stats: fs.Stats | null) => void} callback null: fstat() has failed
 */
function statFile (fd, callback) {
  fs.fstat(fd, (error, stats) => callback(error === null ? stats : null))
}

/**
 * The descriptor of a file that openFile() has opened, for reads by Node. The engine keeps it open from now on. If the engine has closed it
 * before, the file is opened again, synchronously.
 *
 * @param {number} fd
 * @param {Engine | null} engine
 * @param {number} id
 * @returns {number} the descriptor, or a negative errno: the path names another file now
 */
function pinFile (fd, engine, id) {
  return engine === null || id === kOwn ? fd : engine.pinFile(id)
}

/**
 * Whether the application may have moved the position of a descriptor. Unlike Node, a lane reads from position 0.
 *
 * @param {number} fd
 * @param {Engine | null} engine null: the position is unknown, and `isHeard` decides
 * @param {boolean} isHeard the application listens for the opening of the file
 * @returns {boolean}
 */
function hasMoved (fd, engine, isHeard) {
  return engine === null ? isHeard : engine.positionOf(fd) !== 0
}

/**
 * Opens the file of an engine's descriptor once more, for the application: closing this descriptor does no harm to the engine.
 *
 * @param {number} fd
 * @param {string | Buffer} at the path that it was opened with
 * @returns {number} the new descriptor, or kHidden if the file cannot be opened any more
 */
function openAgain (fd, at) {
  // /dev/fd leads to the open file even if its path names another file by now.
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
 * Closes a file that openFile() or the application has opened. The callback comes in a later turn.
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
