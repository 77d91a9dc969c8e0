'use strict'

// http.ServerResponse with a short way to the lane: end() of the usual shapes becomes one reply record.
// Everything else takes Node's own methods, whose bytes arrive at the socket (socket.js). write() does
// too: Node keeps its bytes until the next tick, and a destroy() before that takes them back. Both ways
// may mix within one response, and objects whose prototype an application swapped lose the short one.

const diagnosticsChannel = require('node:diagnostics_channel')
const http = require('node:http')
const { Buffer } = require('node:buffer')
const { errnoOf } = require('../base/system-error')
const { nodeProcess } = require('../node-private/node-process')
const R = require('../records/records')
const { loadBinding } = require('../backend/binding')
const { kInlineBytesMax } = require('../records/reply-writer')
const {
  kOutHeaders, kRejectNonStandardBodyWrites, kWritableFinished, kEndCallbacks, kShapeMode,
  end: stockEnd, write: stockWrite
} = require('../node-private/node-internals')
const {
  countWaiting, finish, hasBody, hasTrailers, headIsSent, headOf, isChunked, isHeadSent, isLast, makeHead
} = require('../node-private/response')
const { hadError } = require('../node-private/socket')
const { tellCachePolicy } = require('./cache-policy')
const { checkValue, fieldOf, isStrict, outHeaders, stockSetHeader } = require('./out-headers')
const { beforeClose, onPipe } = require('./piped-file')
const { tellIdleTimeout } = require('./idle-time')
const { count, isLongHead, isShort } = require('./short-way')
const { kStreamBytesMin, mayCopy } = require('./stream-credit')
const { State } = require('./socket-state')
const { kLane, kSlot, kState, kWritten, kEnded, kResource } = require('./symbols')

const { kData, kBlock, kEnd } = R.ReplyType
const { ServerResponse } = http
const StockServerResponse = ServerResponse

const kNothing = Buffer.alloc(0)
/** The errno of a block that was dropped with its connection. */
const kCanceled = -errnoOf('ECANCELED')

/** @import { EngineRequest, EngineResponse, EngineResponseBase, EngineSocket } from '../../types/internal' */
/** @import { ResponseOptions } from '../../types/internal' */

/** Listeners by event: an empty prototype and a hidden class, unlike EventEmitter's dictionary. @constructor */
function Events () {}
Events.prototype = Object.create(null)

// Node's constructor publishes the request on this channel: with subscribers, the request must stay unchanged.
const responseCreated = diagnosticsChannel.channel('http.server.response.created')

/**
 * Named as Node's own, in stacks too; see incoming.js.
 *
 * @this {EngineResponse}
 * @param {EngineRequest} req
 * @param {Partial<ResponseOptions>} [options]
 */
const EngineServerResponse = function ServerResponse (req, options) {
  // Node's constructor treats 2.0 as older than 1.1 and reads the field TE, which makes the object of all headers. A minor version 1 avoids it.
  const isHttp2 = req[kResource] !== undefined && req.httpVersionMajor === 2 && !responseCreated.hasSubscribers
  if (isHttp2) req.httpVersionMinor = 1
  // EventEmitter would make a dictionary. If `_events` exists, EventEmitter sets kShapeMode (keys are never deleted), which is reset below.
  this._events = new Events()
  this._eventsCount = 0
  Reflect.apply(StockServerResponse, this, [req, options])
  if (isHttp2) req.httpVersionMinor = 0
  if (kShapeMode !== null) this[kShapeMode] = false
  this[kEnded] = false
}

class Methods extends /** @type {EngineResponseBase} */ (ServerResponse) {
  // Readable#pipe() emits 'pipe' after it has added its listeners, and before it reads.
  /** @param {string | symbol} event @param {...unknown} args for its listeners */
  emit (event, ...args) {
    if (event === 'pipe') onPipe(this, args[0], Methods.prototype)
    else if (event === 'close') beforeClose(this)
    return super.emit(event, ...args)
  }

  /** @param {string} name @param {number | string | readonly string[]} value @returns {this} */
  setHeader (name, value) {
    // If instrumentation has replaced Node's method, that function is called instead of the short way, here and in end().
    if (this._header || super.setHeader !== stockSetHeader || !isStrict(this)) return super.setHeader(name, value)
    const field = fieldOf(name)
    if (field === undefined) return super.setHeader(name, value)
    checkValue(field, name, value)
    const headers = this[kOutHeaders] ??= outHeaders()
    headers[field.key] = [name, value]
    return this
  }

  /** @param {unknown} [chunk] @param {BufferEncoding | (() => void)} [encoding] @param {() => void} [callback] @returns {this} */
  end (chunk, encoding, callback) {
    if (super.end !== stockEnd) return Reflect.apply(super.end, this, given(chunk, encoding, callback))
    if (callback !== undefined || (encoding && encoding !== 'utf8') || !isShort(this)) {
      return super.end(chunk, /** @type {BufferEncoding} */ (encoding), callback)
    }
    let body = null
    if (chunk) {
      const isText = typeof chunk === 'string'
      if (!(isText || chunk instanceof Uint8Array) || this[kRejectNonStandardBodyWrites] ||
          chunk.length * (isText ? 3 : 1) > kInlineBytesMax) {
        return super.end(chunk, /** @type {BufferEncoding} */ (encoding), callback)
      }
      body = chunk
    }
    if (this._header === null) {
      this._contentLength = body === null ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
      this._implicitHeader()
      if (!isShort(this)) return super.end(chunk, /** @type {BufferEncoding} */ (encoding), callback)
    }
    if (this._trailer !== '' || isLongHead(this)) return super.end(chunk, /** @type {BufferEncoding} */ (encoding), callback)
    if (!this._hasBody) body = null
    if (this[kEnded]) {
      // The lane has the end already, behind the last bytes of a file. A body that comes now ends the connection (State.kFileEnds).
      if (body !== null) return super.end(chunk, /** @type {BufferEncoding} */ (encoding), callback)
    } else {
      const socket = /** @type {EngineSocket} */ (this.socket) // See isShort().
      const isStream = (socket[kState] & State.kStream) !== 0
      if (isStream && body !== null && typeof body !== 'string' && body.length > kStreamBytesMin && !mayCopy(socket, body.length)) {
        return super.end(chunk, /** @type {BufferEncoding} */ (encoding), callback)
      }
      let flags = R.kReplyEnd
      if (this._hasBody && this.chunkedEncoding) flags |= R.kReplyChunked
      if (this._last) {
        flags |= R.kReplyClose
        socket[kState] |= State.kCloseSoon | State.kFinSent
      }
      const idleMs = this._last ? 0 : tellIdleTimeout(socket)
      const { writer } = socket[kLane]
      if ((socket[kState] & State.kHasPolicies) !== 0 && !this._headerSent) tellCachePolicy(socket, this)
      const bytes = this._headerSent
        ? writer.data(kData, socket[kSlot], flags, body ?? '', 'utf8', idleMs)
        : writer.response(socket[kSlot], flags, idleMs, /** @type {string} */ (this._header), body)
      this._headerSent = true
      count(socket, bytes)
      this[kEnded] = true
    }
    // Queued before _finish(): Node, too, queues 'finish' before listeners of 'prefinish' queue anything.
    nodeProcess.nextTick(emitFinish, this)
    this.finished = true
    this._finish()
    return this
  }
}

EngineServerResponse.prototype = Methods.prototype
// The constructor is Node's: undici, for one, compares it with the class it knows.
Object.defineProperty(EngineServerResponse.prototype, 'constructor', {
  value: http.ServerResponse, writable: true, configurable: true
})
Object.setPrototypeOf(EngineServerResponse, ServerResponse)

// Drops arguments that the caller left out: code that has replaced end() may count its arguments.
/** @param {...unknown} args @returns {unknown[]} without `undefined` at the end */
function given (...args) {
  while (args.length !== 0 && args[args.length - 1] === undefined) args.pop()
  return args
}

/**
 * Ends a response with a part of a file that the kernel reads, and returns true. Returns false, without effect on the body, if the
 * backend cannot do this, other code wants to see the bytes, or earlier bytes still wait.
 *
 * @param {EngineResponse} res that has a body
 * @param {number} fd may be closed when this returns
 * @param {number} id of the file in the engine's table, used instead of `fd`; 0: the file is not in the table
 * @param {number} start
 * @param {number} bytes at least one
 * @param {(errno: number, sent: number) => void} onFailed called if the file could not be read after so many bytes
 * (ENODATA: it has become shorter); the connection ends then
 */
function endWithFile (res, fd, id, start, bytes, onFailed) {
  const { socket } = res
  const lane = socket?.[kLane]
  if (lane === undefined || socket === null || !loadBinding().capabilities.sendsFiles ||
    !isShort(res) || hasTrailers(res)) {
    return false
  }
  if (res.end !== Methods.prototype.end || res.write !== stockWrite || ServerResponse.prototype.end !== stockEnd) {
    return false
  }
  if (headOf(res) === null) {
    makeHead(res)
    if (!isShort(res) || !hasBody(res)) return false
  }
  if (isLongHead(res)) return false
  if ((socket[kState] & State.kHasPolicies) !== 0 && !isHeadSent(res)) tellCachePolicy(socket, res)
  const block = lane.native.sendFile(lane.index, fd, start, bytes, id)
  if (block === undefined || block < 0) return false
  const { writer } = lane
  // HTTP.SYS caches only responses that are sent in one call.
  writer.gather()
  if (!isHeadSent(res)) {
    count(socket, writer.response(socket[kSlot], R.kReplyFile, 0, /** @type {string} */ (headOf(res)), null))
  }
  writer.command(kBlock, isChunked(res) ? R.kReplyChunked : 0, socket[kSlot], block)
  const flags = R.kReplyEnd | (isChunked(res) ? R.kReplyChunked : 0) | (isLast(res) ? R.kReplyClose : 0)
  writer.command(kEnd, flags, socket[kSlot], isLast(res) ? 0 : tellIdleTimeout(socket))
  writer.release()
  headIsSent(res)
  socket[kWritten] += bytes
  res[kEnded] = true
  res.finished = true
  // Keeps writableFinished false until the file was sent.
  countWaiting(res, bytes)
  lane.blocks.set(block, { write: new FileWrite(res, bytes, onFailed), chunk: kNothing })
  finish(res)
  return true
}

// The entry in lane.blocks of a file that is being sent.
class FileWrite {
  /** @param {EngineResponse} res @param {number} bytes @param {(errno: number, sent: number) => void} onFailed */
  constructor (res, bytes, onFailed) {
    this.res = res
    this.bytes = bytes
    this.onFailed = onFailed
  }

  /** @param {number} errno positive @param {number} sent */
  failed (errno, sent) {
    if (errno !== kCanceled) this.onFailed(errno, sent)
  }

  done () {
    const { res } = this
    countWaiting(res, -this.bytes)
    // Set after the file was sent and not earlier: until then, destroy() must cut it off.
    if (isLast(res) && res.socket !== null) res.socket[kState] |= State.kCloseSoon | State.kFinSent
    const resource = res.req[kResource]
    // 'finish' is emitted at once, because the next record may end the connection.
    if (resource) resource.runInAsyncScope(emitFinish, undefined, res)
    else emitFinish(res)
  }
}

// Calls the callbacks of each end() after the one that sent the answer.
/** @param {EngineResponse} res @param {NonNullable<typeof kEndCallbacks>} key */
function callBack (res, key) {
  const callbacks = /** @type {((error: null) => void)[]} */ (res[key])
  res[key] = null
  for (const callback of callbacks) callback(null)
}

/** @param {EngineResponse} res */
function emitFinish (res) {
  if (res.socket !== null && hadError(res.socket)) return
  if (kWritableFinished !== null) res[kWritableFinished] = true
  if (kEndCallbacks !== null && res[kEndCallbacks] !== null) callBack(res, kEndCallbacks)
  res.emit('finish')
}

module.exports = { EngineServerResponse, endWithFile }
