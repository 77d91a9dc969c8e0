'use strict'

// Gives a part of a file to a lane, which sends it, as a sequence of windows (ranges of bytes). A window that is out (given, and not reported
// back) cannot be taken back: other output of the connection waits for it.

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

/** Size of a window, bytes. A window costs no memory; JavaScript spends some ten microseconds on the report of each. */
const kWindowBytes = 1024 * 1024
/** Size of a window, bytes, on a socket with a timeout, which counts as silent while a window is sent. As much as Node's stream reads at once. */
const kTimedWindowBytes = 64 * 1024
/** At most this many windows are out: the lane sends one while JavaScript handles the report of the one before. */
const kWindowsMax = 2
/** Up to this size (bytes) a whole response is read at once if the file is in memory, and sent with its head in one record. Equal to kFileReadBytesMax. */
const kShortBytes = 8 * 1024
const kNothing = Buffer.alloc(0)
const short = Buffer.alloc(kShortBytes)
/** The errno with which the lane reports a window that was dropped with its connection. */
const kCanceled = -errnoOf('ECANCELED')

/** @import { EngineResponse, EngineSocket } from '../../types/internal' */

/** Windows that were dropped with their connection, until kClosed reports its end. @type {WeakMap<EngineSocket, FileWindows>} */
const dropped = new WeakMap()

/** Short responses that were sent, until tellLeft() reports them to their owner. @type {WeakMap<EngineSocket, FileWindows>} */
const left = new WeakMap()

/**
 * The object to which windows are reported.
 *
 * @typedef {object} WindowOwner
 * @property {(bytes: number) => void} windowDropped the connection has ended after so many bytes of a window; its end is reported next
 * @property {(bytes: number, errno: number) => void} windowLeft a window is back, of which so many bytes were sent; errno 0: all of them
 */

class FileWindows {
  /** Number of windows that are out. */
  out = 0
  /** Bytes of the file's part that are in no window so far. */
  left

  #res
  #socket
  #fd
  #id
  /** Offset in the file at which the next window begins. */
  #at
  /** Size of a window, bytes; the last window may be smaller. */
  #size
  /** Bytes of the windows that are out. */
  #given = 0
  #endsResponse
  #owner
  /**
   * Bytes sent of each dropped window that was not reported yet. Created when needed: thousands of slow clients keep this object for long.
   *
   * @type {number[] | null}
   */
  #dropped = null
  /** Value of the socket's kWritten if nothing but these windows was written; see isAlone. */
  #written = 0

  /**
   * @param {EngineResponse} res with a head, and ready for the short way (short-way.js)
   * @param {number} fd must stay open until the last give(): a window (range of bytes) that was given has a descriptor of its own
   * @param {number} id of the file in the engine's table, used instead of `fd`; 0: the file is not in the table
   * @param {number} start
   * @param {number} bytes at least one
   * @param {boolean} endsResponse true: the response ends with these bytes, so that the lane need not wait for JavaScript to end it
   * @param {WindowOwner} owner
   */
  constructor (res, fd, id, start, bytes, endsResponse, owner) {
    this.#res = res
    this.#socket = /** @type {EngineSocket} */ (res.socket)
    const isTimed = (this.#socket[kState] & State.kMaterialised) !== 0 && this.#socket.timeout
    this.#size = isTimed ? kTimedWindowBytes : kWindowBytes
    this.#fd = fd
    this.#id = id
    this.#at = start
    this.left = bytes
    this.#endsResponse = endsResponse
    this.#owner = owner
  }

  /** Gives the lane as many windows as may be out. @returns {boolean} false: the backend has refused a window, which is not out then */
  give () {
    const isShort = this.#endsResponse && this.left <= kShortBytes && this.#id !== kOwn
    if (isShort && !isHeadSent(this.#res) && this.#giveAll()) return true
    while (this.left > 0 && this.out < kWindowsMax) {
      if (!this.#giveOne(Math.min(this.left, this.#size))) return false
    }
    return true
  }

  /** True if the connection has not ended and nothing else was written to it since the last window was given. */
  get isAlone () {
    return this.#socket[kWritten] === this.#written && goesOn(this.#socket)
  }

  get socket () {
    return this.#socket
  }

  // Sends a short response with its file in one record. The owner gets the report in a later turn, as of other windows.
  #giveAll () {
    const bytes = short.subarray(0, this.left)
    const res = this.#res
    const socket = this.#socket
    const { native, writer } = socket[kLane]
    if (!native.readFileNow(this.#id, this.#at, bytes)) return false
    if ((socket[kState] & State.kHasPolicies) !== 0) tellCachePolicy(socket, res)
    count(socket, writer.response(socket[kSlot], R.kReplyEnd, tellIdleTimeout(socket),
      /** @type {string} */ (headOf(res)), bytes))
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
    // The head, the file and the end are sent in one call.
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

  /** This object is its own entry in lane.blocks, with `write` and `chunk`: an object for each window would be kept as long as the client is slow. */
  get write () {
    return this
  }

  get chunk () {
    return kNothing
  }

  /** Gives a sent window back to the owner. Windows come back in order. */
  done () {
    this.#return(0, Math.min(this.#given, this.#size))
  }

  /** Gives a window back that was not sent, or not all of it. @param {number} errno the system's @param {number} bytes that were sent */
  failed (errno, bytes) {
    const socket = this.#socket
    if (errno !== kCanceled || (socket[kState] & State.kLaneClosed) !== 0) return this.#return(errno, bytes)
    // The connection has ended, and kClosed follows. The owner gets these windows back after that record.
    this.#dropped ??= []
    this.#dropped.push(bytes)
    // Counted now: the application may look at `bytesRead` when the connection ends.
    this.#owner.windowDropped(bytes)
    dropped.set(socket, this)
  }

  /** Gives dropped windows back to the owner, once the end of the connection was reported. */
  closed () {
    const list = this.#dropped ?? []
    this.#dropped = null
    for (const bytes of list) this.#return(kCanceled, bytes, 0)
  }

  /** @param {number} errno @param {number} bytes that were sent @param {number} [untold] sent bytes that windowDropped() has not reported */
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

  /** Must be called when the last window is back: lets other output of the connection continue. */
  end () {
    this.#socket[kState] &= ~State.kFileOut
    finishCopied(this.#socket) // Completes an end() of the socket that was called meanwhile.
    resumeWrite(this.#socket)
  }
}

/** Reports to the owner that a short response was sent. @param {EngineSocket} socket */
function tellLeft (socket) {
  const windows = left.get(socket)
  if (windows === undefined) return
  left.delete(socket)
  windows.done()
}

/** Gives the windows back that were dropped with a connection, when it is closed. @param {EngineSocket} socket */
function dropWindows (socket) {
  const windows = dropped.get(socket)
  dropped.delete(socket)
  windows?.closed()
}

module.exports = { FileWindows, dropWindows, kCanceled, tellLeft }
