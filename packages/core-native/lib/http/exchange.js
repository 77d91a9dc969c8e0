'use strict'

// Handles a request and its response, from the kRequest record to the tick after 'finish', and keeps the
// responses of a connection in order.

const diagnosticsChannel = require('node:diagnostics_channel')
const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks')
const { Buffer } = require('node:buffer')
const { nodeProcess } = require('../node-private/node-process')
const R = require('../records/records')
const { loadBinding } = require('../backend/binding')
const {
  kOutgoingUniqueHeaders, kNeedDrain, kDetachAbortSignal, kOptimizeEmptyRequests, drainTicks, contextsAreFrames
} = require('../node-private/node-internals')
const {
  addHeaderLines, dumpUnconsumed, dumpUnread, isBuffering, isDumped, isUnheard, joinDuplicates, setUpgrade, settleSilently
} = require('../node-private/request')
const {
  allowChunks, answerOf, assignsAsNode, detachesAsNode, expectContinue, flush, giveSocket, hasWaitingOutput, isHeard, isLast,
  onPendingData, setAnswer, setConnectionLimits, setKeepAlive, setRequestsReached, takeSocket
} = require('../node-private/response')
const { acceptsUpgrade, decidesUpgrades, highWaterMarkOf, joinsDuplicates, rejectsBodyWrites, requiresHost } = require('../node-private/server')
const { forgetRead, restartTimeout } = require('../node-private/socket')
const { forbidStoring } = require('./cache-policy')
const { closeUnread, consumed, materialise } = require('./socket')
const { closeIfIdle, onLateRequest } = require('./closing')
const { isBodyRefused, limitBody, mayHave } = require('./body-limit')
const { answerBegins, answerEnds, emitClose, endResource, flushHeldEnd } = require('./connection-end')
const { State, isLight, publish } = require('./socket-state')
const { removeListeners, forgetResponse, showData } = require('./socket-listeners')
const { resetKeepAliveTimer, startKeepAliveTimer, tellIdleTimeout } = require('./idle-time')
const { forwardPrefix, namePrefix } = require('./request-prefix')
const { served } = require('./served')
const {
  kLane, kSlot, kState, kIncoming, kReceiving, kOutgoing, kUnacknowledged, kRead, kRequestCount, kOutgoingData,
  kResource, kEndHeld, kEnded, kListener, kParent, kEndsIn
} = require('./symbols')

const { kEnd, kShutdown, kUpgradeAccept, kUpgradeDecline } = R.ReplyType
const { Claim, Mask, Shift, Word } = R

// At most this many entries of rawHeaders (names and values) become headers if maxHeadersCount is not set. As in Node.
const kHeaderPairsDefault = 2000
// rawHeaders ends at the limit, rounded up to a multiple of this number of entries, as Node's parser delivers them.
const kRawHeadersStep = 62
// A flag above the 24 flag bits of a record, set by onRequest() if the application does not see all header lines.
const kIsCut = 1 << 24
const kContinueExpression = /(?:^|\W)100-continue(?:$|\W)/i
const kWebSocketExpression = /^websocket$/i
const kResourceOptions = { requireManualDestroy: true }

const requestStart = diagnosticsChannel.channel('http.server.request.start')
const responseFinish = diagnosticsChannel.channel('http.server.response.finish')

/** @import { EngineRequest, EngineResponse, EngineServer, EngineSocket } from '../../types/internal' */
/** @import { ProcessInDomain } from './outside' */
/** @import { Lane } from '../records/lane' */

/** The async resource of the request whose record is being handled. @type {AsyncResource | null} */
let current = null

/** Runs a function in the async context in which an exception was thrown. @type {((run: () => void) => void) | null} */
let thrownIn = null

/** The domain of node:domain in which an exception was thrown. @type {import('node:domain').Domain | null} */
let thrownDomain = null

/** True while ticks of a record run: an exception then comes from a tick. */
let isOfTick = false

// Must be called before an exception leaves an async scope: remembers the current context, which ends with the scope.
function keepContext () {
  if (contextsAreFrames()) thrownIn = AsyncLocalStorage.snapshot()
  thrownDomain = /** @type {ProcessInDomain} */ (nodeProcess).domain ?? null
}

/** @param {() => void} report @param {boolean} isTick the exception comes from a tick, whose context is still entered */
function onThrown (report, isTick) {
  const context = thrownIn
  const domain = thrownDomain
  thrownIn = null
  thrownDomain = null
  const isTicks = isTick || isOfTick
  isOfTick = false
  if (isTicks || current === null) return report()
  // Reports in the request's own context, as Node does.
  current.runInAsyncScope(() => {
    if (domain !== null && /** @type {ProcessInDomain} */ (nodeProcess).domain !== domain) domain.enter()
    if (context === null) report()
    else context(report)
  })
}

/** Forgets the request of the previous record. Must be called before a record that may belong to no request. */
function forgetContext () {
  current = null
}

// Pieces of a body of at least this many bytes get memory of their own, which can be transferred. Buffer.from() uses shared memory for
// up to 4 KB (Node 20) or 32 KB (Node 24).
const kOwnBytes = 4096

// Copies bytes for the application, which may keep them: the record's memory is reused.
/** @param {Buffer} bytes @param {number} from @param {number} length */
function copy (bytes, from, length) {
  if (length < kOwnBytes) return Buffer.from(bytes.subarray(from, from + length))
  const own = Buffer.allocUnsafeSlow(length)
  bytes.copy(own, 0, from, from + length)
  return own
}

// -- Requests ------------------------------------------------------------------------------------

/**
 * Whether the lane has claimed the current request back.
 *
 * @param {Lane} lane
 * @param {EngineSocket} socket
 * @returns {boolean}
 */
function isClaimed (lane, socket) {
  const claim = lane.native.takeClaim(lane.index)
  // A refused request has waited for longer than queueTimeout, and the lane has answered it.
  if (claim === Claim.kRefused) socket[kState] |= State.kFailed
  return claim !== Claim.kNone
}

/** @param {Lane} lane @param {EngineSocket} socket @param {Int32Array} words @param {Buffer} bytes @param {number} at */
function onRequest (lane, socket, words, bytes, at) {
  if (socket.destroyed || (socket[kState] & State.kFailed) !== 0) return
  const w = at >>> 2
  let flags = words[w + Word.kRecordFlags] >>> Shift.kRecordFlags
  const { control } = lane
  // Makes the position that dispatch() has stored visible to the lane before this thread looks for claimed requests. Needed only if the
  // lane has no memory barrier for all threads (ClaimedRequests in src/records/claimed_requests.h).
  if ((flags & R.kFlagClaimable) !== 0) Atomics.store(control, R.kDispatchResume, control[R.kDispatchResume])
  if (control[R.kRequestsClaimed] !== 0 && isClaimed(lane, socket)) return
  const packed = words[w + Word.kRequestMethod] // The method, the minor version and the number of lines share this word.
  const lines = packed >>> Shift.kRequestLines
  const target = words[w + Word.kRequestTarget]
  const textBytes = words[w + Word.kRequestTextBytes]
  const bodyBytes = words[w + Word.kRequestBodyBytes]
  const textAt = at + R.kRequestFixedBytes + (lines << 3)
  const { server } = socket
  const listener = server[kListener]
  socket[kState] = (socket[kState] | State.kServed) & ~State.kIdleCounted
  // The request had arrived before the lane could close the idle connection, so the connection stays open.
  if (socket[kEndsIn] !== null) socket[kEndsIn] = null
  served.requests++
  socket[kRead] += words[w + Word.kRequestWireBytes] + bodyBytes

  const text = textBytes === 0 ? '' : bytes.toString('latin1', textAt, textAt + textBytes)
  const req = new listener.IncomingMessage(socket)
  let skip = 0
  if (target < 0) { // kInternBit
    req.url = lane.values[target & 0x7fffffff]
  } else {
    skip = target
    req.url = text.slice(0, target)
  }
  if ((flags & (R.kFlagStream | R.kFlagRelayedStream)) !== 0) {
    req.httpVersionMajor = 2
    req.httpVersionMinor = 0
    req.httpVersion = '2.0'
    if ((flags & R.kFlagRelayedStream) !== 0) socket[kState] |= State.kRelayedStream
  } else {
    const minor = (packed >>> Shift.kRequestMinorVersion) & Mask.kRequestMinorVersion
    req.httpVersionMajor = 1
    req.httpVersionMinor = minor
    req.httpVersion = minor === 1 ? '1.1' : '1.0'
  }
  joinDuplicates(req, joinsDuplicates(server))
  if (listener.prefixes.haveNames) namePrefix(req, listener.prefixes, words[w + Word.kRequestPrefixId])
  req.method = listener.methods[packed & Mask.kRequestMethod]
  setUpgrade(req, false)
  const raw = lane.readLines(words, w + (R.kRequestFixedBytes >>> 2), lines, text, skip)
  if (listener.prefixes.haveNames) forwardPrefix(raw, listener.prefixes, words[w + Word.kRequestPrefixId])
  const told = raw.length
  const kept = limitLines(server, raw)
  if (kept < told) flags |= kIsCut
  addHeaderLines(req, raw, kept)

  const resource = listener.resource.runInAsyncScope(newResource)
  req[kResource] = resource
  current = resource
  if (bodyBytes === 0) {
    resource.runInAsyncScope(begin, undefined, server, socket, req, flags, null)
    return
  }
  const body = copy(bytes, textAt + textBytes, bodyBytes)
  let res
  let isThrown = true
  try {
    res = resource.runInAsyncScope(begin, undefined, server, socket, req, flags & ~R.kFlagComplete, body)
    isThrown = false
  } finally {
    // A listener has thrown. If the message is complete, the connection remains usable.
    if (isThrown && (flags & R.kFlagComplete) !== 0) socket[kReceiving] = null
  }
  if (res === null || (flags & R.kFlagComplete) === 0) return
  // Ticks run between the last piece of a body and its end, as with Node's parser.
  isOfTick = true
  try {
    drainTicks?.()
    isOfTick = false
  } finally {
    socket[kReceiving] = null
    if (!isBodyRefused(socket, req)) resource.runInAsyncScope(complete, undefined, req, res)
  }
}

/** @param {EngineServer} server @returns {number} most entries of rawHeaders that become headers; 0 or less: no limit */
function headerPairsMax ({ maxHeadersCount }) {
  return typeof maxHeadersCount === 'number' ? maxHeadersCount << 1 : kHeaderPairsDefault
}

/** @param {EngineServer} server @param {string[]} raw shortened to what Node keeps @returns {number} entries that become headers */
function limitLines (server, raw) {
  const most = headerPairsMax(server)
  if (most <= 0 || raw.length <= most) return raw.length
  raw.length = Math.min(raw.length, Math.ceil(most / kRawHeadersStep) * kRawHeadersStep)
  return most
}

function newResource () {
  return new AsyncResource('HTTPINCOMINGMESSAGE', kResourceOptions)
}

/** @param {EngineServer} server @param {EngineSocket} socket @param {EngineRequest} req @param {number} flags @param {Buffer | null} body @returns {EngineResponse | null} the response, null after an upgrade */
function begin (server, socket, req, flags, body) {
  let isThrown = true
  try {
    const res = start(server, socket, req, flags, body)
    isThrown = false
    return res
  } finally {
    if (isThrown) keepContext()
  }
}

/** @param {EngineServer} server @param {EngineSocket} socket @param {EngineRequest} req @param {number} flags @param {Buffer | null} body @returns {EngineResponse | null} as begin() */
function start (server, socket, req, flags, body) {
  // On Node, too, a request gets the domain of this scope. Without node:domain the member does not exist.
  if (/** @type {ProcessInDomain} */ (/** @type {unknown} */ (req)).domain === null) Reflect.set(req, 'domain', /** @type {ProcessInDomain} */ (nodeProcess).domain ?? null)
  resetKeepAliveTimer(server, socket)
  if ((flags & R.kFlagUpgrade) !== 0) {
    if (req.method === 'CONNECT' || isUpgradeWanted(server, req)) {
      upgrade(server, socket, req, body)
      return null
    }
    publish(socket, kUpgradeDecline)
    body = null // The lane still has these bytes and parses them now.
  }
  if ((flags & R.kFlagComplete) === 0) {
    socket[kReceiving] = req
    const { maxRequestBodySize, maxRequestBodySizeCeiling } = server[kListener].own
    if (maxRequestBodySizeCeiling !== 0) limitBody(req, maxRequestBodySize)
  }
  let res
  socket[kState] |= State.kInHandler
  try {
    res = deliver(server, socket, req, flags)
  } finally {
    socket[kState] &= ~State.kInHandler
    if (body !== null && !isDumped(req) && mayHave(socket, req, body.length)) req.push(body)
  }
  if ((flags & R.kFlagComplete) !== 0) complete(req, res)
  return res
}

// Since Node 22.21 the option shouldUpgradeCallback decides; its default looks for a listener of 'upgrade'.
/** @param {EngineServer} server @param {EngineRequest} req */
function isUpgradeWanted (server, req) {
  if (!decidesUpgrades(server)) return server.listenerCount('upgrade') > 0
  setUpgrade(req, true)
  unalign(server, req)
  const isWanted = acceptsUpgrade(server, req)
  setUpgrade(req, isWanted)
  return isWanted
}

// Must be called when the message is complete. If it is answered and its stream is unused, its end is pushed only
// if the application uses the stream before the response closes; see afterFinish().
/** @param {EngineRequest} req @param {EngineResponse} res */
function complete (req, res) {
  req.complete = true
  if (res.finished && isUnheard(req) && !isBuffering(req)) {
    req[kEndHeld] = true
    return
  }
  pushEnd(req)
}

/** @param {EngineRequest} req */
function pushEnd (req) {
  let isThrown = true
  try {
    req.push(null)
    isThrown = false
  } finally {
    if (isThrown) keepContext()
  }
}

/** @param {EngineServer} server @param {EngineSocket} socket @param {EngineRequest} req @param {number} flags @returns {EngineResponse} the response */
function deliver (server, socket, req, flags) {
  enqueue(socket, req)
  const listener = server[kListener]
  const options = listener.responseOptions
  options.highWaterMark = isLight(socket) ? highWaterMarkOf(server) : socket.writableHighWaterMark
  options.rejectNonStandardBodyWrites = rejectsBodyWrites(server)
  const res = new listener.ServerResponse(req, options)
  res[kEnded] = false
  setConnectionLimits(res, server.keepAliveTimeout, server.maxRequestsPerSocket)
  setKeepAlive(res, (flags & R.kFlagKeepAlive) !== 0)
  const isStream = (flags & R.kFlagStream) !== 0
  // A response of the application's own class treats version 2.0 as older than 1.1, without chunks. Chunks are allowed here; the
  // lane removes their framing.
  const isHttp2 = isStream || (flags & R.kFlagRelayedStream) !== 0
  if (isHttp2) allowChunks(res)
  res[kOutgoingUniqueHeaders] = server[kOutgoingUniqueHeaders]
  if (requestStart.hasSubscribers) requestStart.publish({ request: req, response: res, socket, server })
  if (kOptimizeEmptyRequests !== null && server[kOptimizeEmptyRequests] === true && isEmpty(req, flags)) {
    settleSilently(req)
  }
  if (answerOf(socket)) queue(socket, res)
  else assign(socket, res)
  if (isStream) answerBegins(/** @type {EngineSocket} */ (socket[kParent]), res)
  if (listener.isClosed) onLateRequest(socket, res)
  if ((flags & kIsCut) !== 0) forbidStoring(socket, res)
  res.on('finish', onResponseFinish)

  if (req.httpVersionMinor === 1 || isHttp2) {
    if (requiresHost(server) && (flags & R.kFlagHasHost) === 0) {
      unalign(server, req, res)
      // Over HTTP/2 the refusal ends this request only, not the connection.
      res.writeHead(400, isHttp2 ? [] : ['Connection', 'close'])
      res.end()
      return res
    }
    const most = server.maxRequestsPerSocket
    // Requests of a relayed stream are counted by the member that has the client's connection.
    if (typeof most === 'number' && most > 0 && (flags & R.kFlagRelayedStream) === 0) {
      const count = ++(isStream ? /** @type {EngineSocket} */ (socket[kParent]) : socket)[kRequestCount]
      setRequestsReached(res, most <= count)
      if (isStream && most <= count) publish(/** @type {EngineSocket} */ (socket[kParent]), kShutdown)
      if (most < count) {
        unalign(server, req, res)
        server.emit('dropRequest', req, socket)
        res.writeHead(503)
        res.end()
        return res
      }
    }
    if ((flags & (R.kFlagExpectContinue | R.kFlagExpectOther)) !== 0 && req.headers.expect !== undefined) {
      expect(server, req, res)
      return res
    }
  }
  const { alignment } = listener
  const looks = alignment === null ? 0 : alignment.looks
  emitRequest(server, req, res)
  if (alignment !== null && looks === alignment.looks && alignment.isNews(req, res)) alignment.note(req, res)
  return res
}

// Emits 'request'. If the server has folders and no listener, requests that no folder answers, such as OPTIONS *, get 404. With neither,
// the request is never answered, as on Node.
/** @param {EngineServer} server @param {EngineRequest} req @param {EngineResponse} res */
function emitRequest (server, req, res) {
  if (server.emit('request', req, res) || server[kListener].statics.isEmpty || server.listenerCount('request') > 0) return
  res.writeHead(404, server[kListener].own.serverHeader ? { Server: 'httpsys' } : {}).end()
}

// Gives a request and its response plain prototypes, for listeners other than the application.
/** @param {EngineServer} server @param {EngineRequest} req @param {EngineResponse} [res] */
function unalign (server, req, res) {
  server[kListener].alignment?.undo(req, res)
}

// Whether the request has no body. As on Node, the head announces one; over HTTP/2 a body needs no announcement.
/** @param {EngineRequest} req @param {number} flags */
function isEmpty ({ headers, httpVersionMajor }, flags) {
  if ('content-length' in headers || 'transfer-encoding' in headers) return false
  return httpVersionMajor !== 2 || (flags & R.kFlagComplete) !== 0
}

/** @param {EngineServer} server @param {EngineRequest} req @param {EngineResponse} res */
function expect (server, req, res) {
  if (kContinueExpression.test(/** @type {string} */ (req.headers.expect))) {
    expectContinue(res)
    if (server.listenerCount('checkContinue') > 0) {
      unalign(server, req, res)
      server.emit('checkContinue', req, res)
    } else {
      res.writeContinue()
      emitRequest(server, req, res)
    }
  } else if (server.listenerCount('checkExpectation') > 0) {
    unalign(server, req, res)
    server.emit('checkExpectation', req, res)
  } else {
    unalign(server, req, res)
    res.writeHead(417)
    res.end()
  }
}

/** @param {EngineServer} server @param {EngineSocket} socket @param {EngineRequest} req @param {Buffer | null} head */
function upgrade (server, socket, req, head) {
  setUpgrade(req, true)
  req.complete = true
  req.push(null)
  const event = req.method === 'CONNECT' ? 'connect' : 'upgrade'
  // For a WebSocket, _read() or openWebSocket() later informs the lane whether it must read bytes or frames.
  const isUndecided = event === 'upgrade' && loadBinding().capabilities.nativeFrames && kWebSocketExpression.test(/** @type {string} */ (req.headers.upgrade))
  socket[kLane].writer.command(kUpgradeAccept, isUndecided ? R.kReplyUndecided : 0, socket[kSlot])
  // A WebSocket's socket stays light unless it is used as a stream.
  if (isLight(socket) && !isUndecided) materialise(socket)
  socket[kState] = (socket[kState] | State.kUpgraded | (isUndecided ? State.kUndecided : 0)) & ~State.kReadPaused
  if (!isLight(socket)) removeListeners(socket)
  server[kListener].sockets.delete(socket)
  endResource(req) // Node frees its parser here.
  if (server.listenerCount(event) === 0) {
    socket.destroy()
    return
  }
  if (!isLight(socket)) {
    socket.readableFlowing = null
    // Forget the pending read of HTTP mode, in which nothing was pushed: the next read must call _read(), which decides how the lane
    // reads the bytes.
    forgetRead(socket)
  }
  unalign(server, req)
  server.emit(event, req, socket, head ?? Buffer.alloc(0))
}

/** @param {EngineSocket} socket @param {Buffer} chunk */
function onBody (socket, chunk) {
  // Read now, because the application may transfer the chunk's memory, which leaves the chunk empty.
  const bytes = chunk.length
  socket[kRead] += bytes
  if (socket.destroyed) {
    socket[kReceiving] = null // The request lacks this piece, so that the end of its body must not be reported.
    return
  }
  restartTimeout(socket)
  if ((socket[kState] & State.kUpgraded) !== 0) {
    if (socket.push(chunk)) {
      consumed(socket, bytes)
    } else {
      socket[kUnacknowledged] += bytes // _read() acknowledges.
      closeUnread(socket)
    }
    return
  }
  const req = socket[kReceiving]
  if (req === null || isDumped(req)) {
    consumed(socket, bytes)
    showData(socket, chunk)
    return
  }
  const resource = /** @type {AsyncResource} */ (req[kResource])
  current = resource
  resource.runInAsyncScope(pushBody, undefined, socket, req, chunk)
}

/** @param {EngineSocket} socket @param {EngineRequest} req @param {Buffer} chunk */
function pushBody (socket, req, chunk) {
  const bytes = chunk.length
  let isThrown = true
  try {
    const isTaken = mayHave(socket, req, bytes)
    if (isTaken && !req.push(chunk)) socket.pause()
    isThrown = false
    if (!isTaken) return
  } finally {
    if (isThrown) keepContext()
  }
  consumed(socket, bytes)
  showData(socket, chunk)
}

/** @param {Lane} lane @param {EngineSocket} socket @param {Int32Array} words @param {Buffer} bytes @param {number} at */
function onBodyEnd (lane, socket, words, bytes, at) {
  const req = socket[kReceiving]
  socket[kReceiving] = null
  if (req === null || isBodyRefused(socket, req)) return
  const w = at >>> 2
  const lines = words[w + Word.kBodyEndLines]
  const text = at + R.kPayloadAt + (lines << 3)
  req.complete = true
  if (lines !== 0) {
    const raw = lane.readLines(words, w + (R.kPayloadAt >>> 2), lines, bytes.toString('latin1', text, text + words[w + Word.kBodyEndTextBytes]), 0)
    limitLines(socket.server, raw)
    addHeaderLines(req, raw, raw.length)
  }
  if ((socket[kState] & State.kReadPaused) !== 0) socket.resume() // The next message must be read.
  const resource = /** @type {AsyncResource} */ (req[kResource])
  current = resource
  resource.runInAsyncScope(pushEnd, undefined, req)
}

// -- Responses in order --------------------------------------------------------------------------

/** @param {EngineSocket} socket @param {EngineRequest} req */
function enqueue (socket, req) {
  const incoming = socket[kIncoming]
  if (incoming === null) socket[kIncoming] = req
  else if (Array.isArray(incoming)) incoming.push(req)
  else socket[kIncoming] = [incoming, req]
}

/** @param {EngineSocket} socket */
function dequeue (socket) {
  const incoming = socket[kIncoming]
  if (!Array.isArray(incoming)) socket[kIncoming] = null
  else if (incoming.length === 1) socket[kIncoming] = null
  else incoming.shift()
}

// Does what ServerResponse#assignSocket() does, without its 'close' listener, which would make a light socket a
// stream; connectionClosed() does the listener's work.
/** @param {EngineSocket} socket @param {EngineResponse} res */
function assign (socket, res) {
  if (!assignsAsNode(res) || !isLight(socket)) {
    giveSocket(res, socket)
    return
  }
  setAnswer(socket, res)
  res.socket = socket
  if (isHeard(res)) res.emit('socket', socket)
  if (hasWaitingOutput(res) || res.finished || res[kNeedDrain]) flush(res)
}

// Undoes assign(), as ServerResponse#detachSocket() does. A light socket has no listener to remove, and removing one would make it a stream.
/** @param {EngineSocket} socket @param {EngineResponse} res */
function detach (socket, res) {
  if (!detachesAsNode(res) || !isLight(socket)) {
    takeSocket(res, socket)
    if (!isLight(socket)) forgetResponse(socket)
    return
  }
  setAnswer(socket, null)
  res.socket = null
}

/** @param {EngineSocket} socket @param {EngineResponse} res */
function queue (socket, res) {
  if (socket[kOutgoing] === null) socket[kOutgoing] = [res]
  else /** @type {EngineResponse[]} */ (socket[kOutgoing]).push(res)
  // kOutgoingData is the number of bytes that wait behind the response whose turn it is.
  onPendingData(res, (delta) => { socket[kOutgoingData] += delta })
}

/** @this {EngineResponse} */
function onResponseFinish () {
  const { req, socket } = this
  if (!socket || socket[kLane] === undefined) return
  const { server } = socket
  socket[kState] &= ~State.kFileEnds
  if (responseFinish.hasSubscribers) responseFinish.publish({ request: req, response: this, socket, server })
  // From here on the end of the connection must not abort the request's signal.
  if (kDetachAbortSignal !== null) req[kDetachAbortSignal]()
  dequeue(socket)
  if (req[kEndHeld] !== true) dumpUnread(req)
  detach(socket, this)
  if ((socket[kState] & State.kStream) !== 0) answerEnds(/** @type {EngineSocket} */ (socket[kParent]), this)
  nodeProcess.nextTick(afterFinish, req, this)
  const outgoing = socket[kOutgoing]
  const hasNext = outgoing !== null && outgoing.length !== 0
  if (this[kEnded] !== true) {
    this[kEnded] = true
    tellEnd(socket, isLast(this), !hasNext)
  }
  if (isLast(this)) {
    socket.destroySoon()
  } else if (hasNext) {
    assign(socket, /** @type {EngineResponse} */ (outgoing.shift()))
  } else if (!server[kListener].isClosed || !server[kListener].endsIdle || !closeIfIdle(socket)) {
    startKeepAliveTimer(server, socket)
  }
}

/** @param {EngineSocket} socket @param {boolean} last @param {boolean} idle */
function tellEnd (socket, last, idle) {
  if ((socket[kState] & (State.kLaneClosed | State.kFinSent)) !== 0) return
  if (last) return // destroySoon() reports the end, with kReplyClose.
  socket[kLane].writer.command(kEnd, R.kReplyEnd, socket[kSlot], idle ? tellIdleTimeout(socket) : 0)
}

// Runs in the tick after 'finish': emits the response's 'close'. A request without listeners gets the state of
// a closed stream without events; a request that has got listeners meanwhile ends with them.
/** @param {EngineRequest} req @param {EngineResponse} res */
function afterFinish (req, res) {
  if (req[kEndHeld] === true) {
    if (isUnheard(req) && !req.destroyed) {
      req[kEndHeld] = false
      settleSilently(req)
    } else {
      flushHeldEnd(req)
      dumpUnconsumed(req)
    }
  }
  emitClose(res)
  endResource(req)
}

module.exports = {
  onRequest, onBody, onBodyEnd, onThrown, forgetContext, copy, headerPairsMax
}
