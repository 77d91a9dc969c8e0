'use strict'

// Implements req.maxRequestBodySize: the length of the longest body that one request may have. The lane enforces the limit of the server,
// which is the highest limit that a request can get; this file enforces lower limits. A request has a BodyLimit only if its limit was set,
// or if its server has a ceiling and its body may be longer than maxRequestBodySize. All other requests cost nothing here.

const http = require('node:http')
const R = require('../records/records')
const { BodyBegunError, BodyTooLargeError, CapabilityError } = require('../base/errors')
const { isConsumed, isDumped } = require('../node-private/request')
const { nodeProcess } = require('../node-private/node-process')
const { connectionReset } = require('./client-error')
const { runOutside } = require('./outside')
const { materialise } = require('./socket')
const { logRefusedBody, onSocketError } = require('./socket-listeners')
const { State, isLight, ownMessage } = require('./socket-state')
const { kBodyLimit, kIncoming, kLane, kListener, kOutgoing, kRefusal, kServedByNode, kSlot, kState } = require('./symbols')
const { outOfRange, wrongType } = require('../base/validate')

const kName = 'maxRequestBodySize'

/** @import { EngineRequest, EngineServer, EngineSocket } from '../../types/internal' */

/** The limit of one request, and the number of bytes of its body that were received. */
class BodyLimit {
  /** True once the application has begun to read the body: the limit cannot change any more. */
  hasBegun = false
  /** True if the body is longer than the limit: the application gets no more of it. */
  isRefused = false

  /**
   * @param {number} bytes 0: no limit
   * @param {number} received bytes of the body that were received before
   * @param {EngineRequest['read']} read the request's method, which read() below replaces
   */
  constructor (bytes, received, read) {
    this.bytes = bytes
    this.received = received
    this.read = read
  }

  /** Whether a body of this size is too long. @param {number} bytes NaN: unknown, so not too long */
  isBelow (bytes) {
    return this.bytes !== 0 && bytes > this.bytes
  }
}

/** @param {EngineRequest} req @returns {EngineSocket} the engine's socket if the engine made the request; otherwise any socket, or none */
function socketOf (req) {
  return /** @type {EngineSocket} */ (req.socket)
}

// -- The property.

/**
 * @param {EngineServer | null | undefined} server of a socket that is not the engine's
 * @returns {boolean} whether it is a server of this package whose requests Node's own code serves
 */
function isServedByNode (server) {
  return !!server && (server[kListener] !== undefined ||
  /** @type {{ [kServedByNode]?: boolean }} */ (server)[kServedByNode] === true)
}

/** @param {EngineRequest} req @returns {boolean} whether a byte of its body was given to the application, or is about to be */
function isBeingRead (req) {
  const limit = req[kBodyLimit]
  if (limit !== undefined && limit.hasBegun) return true
  if (req.readableDidRead || req.readableFlowing === true) return true
  // Decoded text counts as being read, because the number of its bytes is unknown.
  if (req.readableEncoding !== null && req.readableLength !== 0) return true
  // A request without a body may be consumed before its handler begins, but it has ended then.
  return isConsumed(req) && !req.readableEnded
}

/** @param {unknown} bytes @param {EngineServer} server @returns {number} */
function checkBytes (bytes, server) {
  if (typeof bytes !== 'number') throw wrongType(`req.${kName}`, 'of type number', bytes)
  const { maxRequestBodySize, maxRequestBodySizeCeiling } = server[kListener].own
  const most = maxRequestBodySizeCeiling || maxRequestBodySize
  if (Number.isSafeInteger(bytes) && (most === 0 ? bytes >= 0 : bytes >= 1 && bytes <= most)) return bytes
  const allowed = most === 0
    ? 'an integer >= 0'
    : `an integer >= 1 && <= ${most}, as the server's option ` +
      (maxRequestBodySizeCeiling !== 0 ? '"maxRequestBodySizeCeiling" says' : `"${kName}" says; its option "maxRequestBodySizeCeiling" allows more`)
  throw outOfRange(`req.${kName}`, allowed, bytes)
}

/** @this {EngineRequest} @returns {number | undefined} bytes, 0: no limit; undefined: the request is not one of a server of this package */
function getLimit () {
  const limit = this[kBodyLimit]
  if (limit !== undefined) return limit.bytes
  const socket = socketOf(this)
  if (socket?.[kLane] !== undefined) return socket.server?.[kListener].own.maxRequestBodySize
  return isServedByNode(socket?.server) ? 0 : undefined
}

/** @this {EngineRequest} @param {unknown} value */
function setLimit (value) {
  const socket = socketOf(this)
  if (socket?.[kLane] === undefined || socket.server === undefined) {
    if (isServedByNode(socket?.server)) throw new CapabilityError(`req.${kName}`, 'limitsRequestBodies', 'node')
    Object.defineProperty(this, kName, { value, writable: true, enumerable: true, configurable: true })
    return
  }
  const bytes = checkBytes(value, socket.server)
  if (isBeingRead(this)) throw new BodyBegunError()
  const limit = this[kBodyLimit]
  if (limit === undefined) limitBody(this, bytes)
  else limit.bytes = bytes
}

// Defined on Node's prototype, because Express gives requests its own prototype, which inherits only from Node's.
Object.defineProperty(http.IncomingMessage.prototype, kName, { configurable: true, get: getLimit, set: setLimit })

/** @param {EngineRequest} req whose body is not being read yet @param {number} bytes */
function limitBody (req, bytes) {
  req[kBodyLimit] = new BodyLimit(bytes, req.readableLength, req.read)
  socketOf(req)[kState] |= State.kBodyLimited
  Object.defineProperty(req, 'read', { value: read, writable: true, configurable: true })
}

// -- Reading.

/** The method read() of a request with a limit. @this {EngineRequest} @param {...unknown} args */
function read (...args) {
  const limit = /** @type {BodyLimit} */ (this[kBodyLimit])
  if (!limit.hasBegun && !isDumped(this) && !this.destroyed) begin(this, limit)
  return limit.isRefused ? null : Reflect.apply(limit.read, this, args)
}

// Must be called when the application begins to read: refuses a body that is known to be too long before any of it is read.
/** @param {EngineRequest} req @param {BodyLimit} limit */
function begin (req, limit) {
  limit.hasBegun = true
  const announced = 'transfer-encoding' in req.headers ? 0 : Number(req.headers['content-length'] ?? 0)
  if (limit.isBelow(limit.received) || limit.isBelow(announced)) refuse(req, limit)
}

/**
 * Counts a received piece of a body.
 *
 * @param {EngineSocket} socket
 * @param {EngineRequest} req
 * @param {number} bytes
 * @returns {boolean} whether the application gets the piece
 */
function mayHave (socket, req, bytes) {
  if ((socket[kState] & State.kBodyLimited) === 0) return true
  const limit = req[kBodyLimit]
  if (limit === undefined) return true // Another request of the connection has the limit, for which the bit is set.
  if (limit.isRefused) return false
  limit.received += bytes
  // A stream that flows may give a piece to its listeners without read().
  if (!limit.hasBegun && req.readableFlowing === true) begin(req, limit)
  else if (limit.hasBegun && limit.isBelow(limit.received)) refuse(req, limit)
  return !limit.isRefused
}

/**
 * @param {EngineSocket} socket
 * @param {EngineRequest} req
 * @returns {boolean} whether its body was longer than its limit: such a request gets no 'end'
 */
function isBodyRefused (socket, req) {
  return (socket[kState] & State.kBodyLimited) !== 0 && req[kBodyLimit]?.isRefused === true
}

// -- Refusing.

/** @param {EngineRequest} req @param {BodyLimit} limit */
function refuse (req, limit) {
  limit.isRefused = true
  req.complete = false // The application sees an incomplete body, even if all of it was received before it began to read.
  const socket = socketOf(req)
  socket[kState] |= State.kFailed // Later requests of the connection are not begun.
  if ((socket[kState] & State.kLaneClosed) === 0) {
    socket[kLane].writer.command(R.ReplyType.kRefuseBody, 0, socket[kSlot])
  }
  // Ends the connection later, outside this async context: the application is in the middle of a call of read().
  const error = new BodyTooLargeError(`req.${kName}`)
  onceAnswered(socket, req, () => nodeProcess.nextTick(runOutside, () => fail(socket, req, error)))
}

/**
 * Runs `run` when earlier requests of the connection are answered, and `req`, too, if the application has ended its response by then.
 *
 * @param {EngineSocket} socket
 * @param {EngineRequest} req
 * @param {() => void} run
 */
function onceAnswered (socket, req, run) {
  const waiting = socket[kOutgoing]?.find((res) => res.req === req)
  if (waiting === undefined) run()
  else waiting.once('socket', () => waiting.writableEnded ? waiting.once('finish', run) : run())
}

/** @param {EngineSocket} socket @param {EngineRequest} req whose body the lane has refused @param {Error} error */
function endRefused (socket, req, error) {
  onceAnswered(socket, req, () => fail(socket, req, error))
}

/** @param {EngineSocket} socket @param {EngineRequest} req whose response is the next to be sent, or was sent @param {Error} error */
function fail (socket, req, error) {
  if (socket.destroyed) return
  if (isLight(socket)) materialise(socket)
  socket[kRefusal] ??= /** @type {import('./client-error').ParseError} */ (error)
  if (ownMessage(socket)?.req === req) return onSocketError.call(socket, error)
  if (socket.server.listenerCount('clientError') === 0) logRefusedBody(socket, false)
  socket.destroy(error)
  // The end of the connection destroys requests that still wait for their response. Others are destroyed here.
  const incoming = socket[kIncoming]
  const isWaiting = Array.isArray(incoming) ? incoming.includes(req) : incoming === req
  if (!isWaiting) req.destroy(connectionReset())
}

module.exports = { endRefused, isBodyRefused, limitBody, mayHave }
