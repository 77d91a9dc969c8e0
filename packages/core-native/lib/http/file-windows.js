'use strict'

// A part of a file that a lane sends, which is given to it one window after another. What was given cannot be taken back: whoever wants to
// send something else waits for the windows that are out.

const { Buffer } = require('node:buffer')
const { setImmediate } = require('node:timers')
const { errnoOf } = require('../base/system-error')
const R = require('../records/records')
const { headIsSent, headOf, isChunked, isHeadSent } = require('../node-private/response')
const { restartTimeout } = require('../node-private/socket')
const { tellCachePolicy } = require('./cache-policy')
const { State } = require('./socket-state')
const { finishCopied, resumeWrite } = require('./socket-output')
const { tellIdleTimeout } = require('./idle-time')
const { count, goesOn } = require('./short-way')
const { kEnded, kLane, kSlot, kState, kWritten } = require('./symbols')
const { kOwn } = require('./open-file')

const { kBlock, kEnd } = R.ReplyType

/** Bytes of a window. A report for each costs JavaScript some ten microseconds; what is out cannot be taken back, but costs no memory. */
const kWindowBytes = 1024 * 1024
/** The same where the application has set a timeout for the socket, which is silent while a window leaves: what Node's stream reads at once. */
const kTimedWindowBytes = 64 * 1024
/** Windows that are out: while the lane sends one, JavaScript hears of the one before. */
const kWindowsMax = 2
/** A whole response up to this size is read at once if it is in memory, and leaves with its head, in one record: kFileReadBytesMax of the engine. */
const kShortBytes = 8 * 1024
const kNothing = Buffer.alloc(0)
const short = Buffer.alloc(kShortBytes)
/** The lane's number for a window that was dropped with its connection. */
const kCanceled = -errnoOf('ECANCELED')

/** @typedef {import('../../types/internal').EngineResponse} EngineResponse */
/** @typedef {import('../../types/internal').EngineSocket} EngineSocket */

/** Windows that were dropped, until the end of their connection is told. @type {WeakMap<EngineSocket, FileWindows>} */
const dropped = new WeakMap()

/** Short responses that have left, until they are told. @type {WeakMap<EngineSocket, FileWindows>} */
const left = new WeakMap()

/**
 * Hears of windows.
 *
 * @typedef {object} WindowOwner
 * @property {(bytes: number) => void} windowDropped so many bytes of a window have left, and the connection has ended, which is told next
 * @property {(bytes: number, errno: number) => void} windowLeft so many bytes of a window have left; 0, or why not all: the system's error
 */

class FileWindows {
  /** Windows that have not come back. */
  out = 0
  /** Bytes that no window has so far. */
  left

  #res
  #socket
  #fd
  #id
  /** Where the next window begins. */
  #at
  /** Bytes of a window; the last one may have fewer. */
  #size
  /** Bytes of the windows that are out. */
  #given = 0
  #endsResponse
  #owner
  /** For each window that was dropped and is not told of, what has left of it. Thousands of slow clients keep theirs for long: no list is made before. @type {number[] | null} */
  #dropped = null
  /** What the socket has been given when nobody else writes to it. */
  #written = 0

  /**
   * @param {EngineResponse} res whose head is made, and which is short (short-way.js)
   * @param {number} fd open for as long as windows are given
   * @param {number} id of the file in the engine's table, in place of the descriptor; 0: it has none
   * @param {number} start
   * @param {number} bytes at least one
   * @param {boolean} endsResponse nothing may come behind these bytes, so that the lane need not wait for JavaScript to end the response
   * @param {WindowOwner} owner
   */
  constructor (res, fd, id, start, bytes, endsResponse, owner) {
    this.#res = res
    this.#socket = /** @type {EngineSocket} */ (res.socket)
    this.#size = (this.#socket[kState] & State.kMaterialised) !== 0 && this.#socket.timeout ? kTimedWindowBytes : kWindowBytes
    this.#fd = fd
    this.#id = id
    this.#at = start
    this.left = bytes
    this.#endsResponse = endsResponse
    this.#owner = owner
  }

  /** Gives what may be given. @returns {boolean} false: the backend has refused a window, and none is out for it */
  give () {
    if (this.#endsResponse && this.left <= kShortBytes && this.#id !== kOwn && !isHeadSent(this.#res) && this.#giveAll()) return true
    while (this.left > 0 && this.out < kWindowsMax) {
      if (!this.#giveOne(Math.min(this.left, this.#size))) return false
    }
    return true
  }

  /** Nobody but this has written to the connection since the last window was given, or ended it. */
  get isAlone () {
    return this.#socket[kWritten] === this.#written && goesOn(this.#socket)
  }

  /** The connection on which the windows are. */
  get socket () {
    return this.#socket
  }

  // Gives a short response with its file. Who waits for the window hears of it in a later turn, as of the others.
  #giveAll () {
    const bytes = short.subarray(0, this.left)
    const res = this.#res
    const socket = this.#socket
    const { native, writer } = socket[kLane]
    if (!native.readFileNow(this.#id, this.#at, bytes)) return false
    if ((socket[kState] & State.kHasPolicies) !== 0) tellCachePolicy(socket, res)
    count(socket, writer.response(socket[kSlot], R.kReplyEnd, tellIdleTimeout(socket), /** @type {string} */ (headOf(res)), bytes))
    headIsSent(res)
    res[kEnded] = true
    socket[kState] |= State.kFileOut | State.kFileEnds
    this.#written = socket[kWritten]
    this.#given = this.left
    this.left = 0
    this.out++
    left.set(socket, this)
    setImmediate(tellLeft, socket)
    return true
  }

  /** @param {number} bytes @returns {boolean} */
  #giveOne (bytes) {
    const res = this.#res
    const socket = this.#socket
    const lane = socket[kLane]
    if ((socket[kState] & State.kHasPolicies) !== 0 && !isHeadSent(res)) tellCachePolicy(socket, res)
    const block = lane.native.sendFile(lane.index, this.#fd, this.#at, bytes, this.#id)
    if (block === undefined || block < 0) return false
    const { writer } = lane
    const chunked = isChunked(res) ? R.kReplyChunked : 0
    const isLast = bytes === this.left
    // The head, the file and the end leave in one call.
    writer.gather()
    if (!isHeadSent(res)) {
      count(socket, writer.response(socket[kSlot], R.kReplyFile, 0, /** @type {string} */ (headOf(res)), null))
      headIsSent(res)
    }
    writer.command(kBlock, chunked, socket[kSlot], block)
    if (isLast && this.#endsResponse) {
      writer.command(kEnd, R.kReplyEnd | chunked, socket[kSlot], tellIdleTimeout(socket))
      res[kEnded] = true
      socket[kState] |= State.kFileEnds
    }
    writer.release()
    socket[kState] |= State.kFileOut
    socket[kWritten] += bytes
    this.#written = socket[kWritten]
    if ((socket[kState] & State.kMaterialised) !== 0) restartTimeout(socket)
    this.#at += bytes
    this.#given += bytes
    this.left -= bytes
    this.out++
    lane.blocks.set(block, this)
    return true
  }

  /** The windows are their own entry among the blocks that are on their way: an object for each would be kept for as long as the client is slow. */
  get write () {
    return this
  }

  get chunk () {
    return kNothing
  }

  /** A window has left. They come back in their order. */
  done () {
    this.#return(0, Math.min(this.#given, this.#size))
  }

  /** A window has not left, or not all of it. @param {number} errno the system's @param {number} bytes that have left */
  failed (errno, bytes) {
    const socket = this.#socket
    if (errno !== kCanceled || (socket[kState] & State.kLaneClosed) !== 0) return this.#return(errno, bytes)
    // The connection has ended, which the next records tell: whoever waits for these windows hears of them behind its end.
    this.#dropped ??= []
    this.#dropped.push(bytes)
    // The application sees with that end how far it came.
    this.#owner.windowDropped(bytes)
    dropped.set(socket, this)
  }

  /** The end of the connection was told. */
  closed () {
    const list = this.#dropped ?? []
    this.#dropped = null
    for (const bytes of list) this.#return(kCanceled, bytes, 0)
  }

  /** @param {number} errno @param {number} bytes that have left @param {number} [untold] those of which the owner has not heard */
  #return (errno, bytes, untold = bytes) {
    const size = Math.min(this.#given, this.#size)
    const socket = this.#socket
    this.out--
    this.#given -= size
    this.#written += bytes - size
    socket[kWritten] += bytes - size
    if ((socket[kState] & State.kMaterialised) !== 0) restartTimeout(socket)
    this.#owner.windowLeft(untold, errno)
  }

  /** The last window is back: others may write. */
  end () {
    this.#socket[kState] &= ~State.kFileOut
    finishCopied(this.#socket) // An end of the socket that was called meanwhile.
    resumeWrite(this.#socket)
  }
}

/** Tells of a short response that has left. @param {EngineSocket} socket */
function tellLeft (socket) {
  const windows = left.get(socket)
  if (windows === undefined) return
  left.delete(socket)
  windows.done()
}

/** The connection is closed, and a file was being sent on it. @param {EngineSocket} socket */
function dropWindows (socket) {
  const windows = dropped.get(socket)
  dropped.delete(socket)
  windows?.closed()
}

module.exports = { FileWindows, dropWindows, kCanceled, tellLeft }
