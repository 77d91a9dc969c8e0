'use strict'

// A channel passes messages, instead of bytes, between a WebSocket object (its owner) and its lane. The owner
// decides what an event means to the application (states, closing, errors), see packages/websocket.
//
// Output is as on a socket: up to kSendBytesMax accepted bytes are on their way to the client. Further output
// waits here, in order, and counts as buffered.

const { Buffer } = require('node:buffer')
const { setImmediate } = require('node:timers')
const { nodeProcess } = require('../node-private/node-process')
const { hasMaxListeners } = require('../node-private/socket')
const R = require('../records/records')
const { kInlineBytesMax } = require('../records/reply-writer')
const { Addresses } = require('../http/addresses')
const { HttpSocket } = require('../http/socket')
const { forgetExtra, kSendBytesMax } = require('../http/socket-output')
const { State, isLight } = require('../http/socket-state')
const {
  kLane, kSlot, kState, kRemote, kUnsent, kChannel, kRead, kWritten, kHoldsLoop, kErrorListener, kRefusal, kTls
} = require('../http/symbols')

const { kWindow, kWebSocket } = R.ReplyType
const { kMessage, kMessageBlock, kControl, kCloseFrame, kFrameError, kEof } = R.RequestType
const { Mask, Shift, Word } = R

/** @typedef {WebSocketHandlers<object>} Handlers of owners of one kind */
/** @import { SendCallback, WebSocketHandlers, WebSocketSettings as Settings } from '../../types/web-socket' */
/** @import { EngineSocket } from '../../types/internal' */
/** @typedef {{ data: string | Uint8Array, flags: number, bytes: number, callback: SendCallback | undefined }} Held */

/**
 * An event for the application, with the arguments of its handler (see tell()). `a` is the message, opcode, close code or kind of error; `b` says
 * whether the message is binary, or is the payload, reason or detail; only an error has `c` and `d`.
 *
 * @typedef {{ type: number, a: Buffer | number | undefined, b: boolean | Buffer | number | undefined, c: number | undefined, d: string | undefined, cost: number }} Event
 */

// Consumed bytes are acknowledged from this number on: a quarter of the lane's receive window.
const kAcknowledgeBytes = 32 * 1024
const kPingOpcode = 9
const kEmpty = Buffer.alloc(0)
// Bits of a channel's state.
const kPaused = 1 << 0
const kDeferred = 1 << 1 // Delivers one event in each turn of the event loop.
const kClosed = 1 << 2 // The lane has closed the connection.
const kEnding = 1 << 3 // Ends when no frame waits for credit.
const kGone = 1 << 4 // Closed: handlers.closed() follows the waiting events.
const kFresh = 1 << 5 // Opened in this turn, and the socket was not used since.
// Up to this number of bytes a loop is faster than a call that copies.
const kLoopBytesMax = 48
// The lane reports sent bytes when there are this many (limits.h: kCreditBytes): fewer might be sent, and not reported yet.
const kCreditStepBytes = 64 * 1024

// Waiting output and events of a channel. Most channels never have a Backlog.
class Backlog {
  /** Bytes of frames that the lane has not accepted yet, or that it got by reference and has not sent. */
  buffered = 0
  /** Events that wait. @type {Event[] | null} */
  events = null
  /** Frames that wait for credit. @type {Held[] | null} */
  held = null
  /** The last block that is being sent. @type {BlockWrite | null} */
  block = null
}

// No private methods: they would add a field to each channel.
class WebSocketChannel {
  /** @param {EngineSocket} socket @param {object} owner only passed on to the handlers @param {number} state */
  constructor (socket, owner, state) {
    this.lane = socket[kLane]
    this.slot = socket[kSlot]
    /**
     * A weak reference while the socket is unused: it is most of an idle WebSocket's memory; see letGo().
     *
     * @type {EngineSocket | WeakRef<EngineSocket>}
     */
    this.socket = socket
    // Copied from the Addresses object, because that is collected together with an unused socket.
    const { near, remoteAddress, remotePort } = socket[kRemote]
    this.near = near
    this.remoteAddress = remoteAddress
    this.remotePort = remotePort
    /** Bytes of received payload, for the socket's bytesRead. */
    this.read = socket[kRead]
    /** Bytes that the handshake has written, for the socket's bytesWritten. */
    this.written = socket[kWritten]
    this.owner = owner
    this.state = state
    this.unacknowledged = 0
    /** Bytes that the lane has accepted and not sent. */
    this.unsent = socket[kUnsent]
    forgetExtra(socket)
    /** Waiting output and events; null until the first use. @type {Backlog | null} */
    this.backlog = null
  }

  get buffered () { return this.backlog === null ? 0 : this.backlog.buffered }
  get events () { return this.backlog === null ? null : this.backlog.events }
  get held () { return this.backlog === null ? null : this.backlog.held }
  /** @returns {BlockWrite | null} */
  get block () { return this.backlog === null ? null : this.backlog.block }

  more () {
    return (this.backlog ??= new Backlog())
  }

  // -- The socket ----------------------------------------------------------------------------------

  /** Lets a channel stand for its socket in lane.sockets: both have [kChannel]. */
  get [kChannel] () {
    return this
  }

  /** Returns the socket, which is kept from now on. */
  keepSocket () {
    const { socket } = this
    return this.keep(socket instanceof WeakRef ? socket.deref() ?? this.revive() : socket)
  }

  /** Keeps the socket alive from now on, because other code uses it. @param {EngineSocket} socket */
  keep (socket) {
    this.state &= ~kFresh
    this.socket = socket
    socket[kRead] = this.read
    if ((this.state & kClosed) === 0 && this.lane.sockets[this.slot] === this) this.lane.sockets[this.slot] = socket
    return socket
  }

  /** Prepares a socket that has become a stream: it never has data, and its errors are the WebSocket's. @param {EngineSocket} socket */
  useAsStream (socket) {
    this.keep(socket)
    socket.on('error', noop)
    if ((this.state & kPaused) !== 0) socket.pause()
    else socket.resume() // Reads on, so that 'end' is emitted.
  }

  // Makes the socket again, as it was when letGo() released it. A socket with changes is never released.
  revive () {
    const addresses = new Addresses(this.near, this.remoteAddress, this.remotePort)
    const socket = new HttpSocket(this.lane, this.slot, this.near.server, addresses)
    socket[kState] |= State.kServed | State.kUpgraded | State.kWebSocket
    socket[kHoldsLoop] = true
    socket[kWritten] = this.written
    socket[kChannel] = this
    this.handlers.adopt(this.owner, socket)
    return socket
  }

  // -- Input ---------------------------------------------------------------------------------------

  /** @param {Int32Array} words @param {Buffer} bytes @param {number} at */
  onMessage (words, bytes, at) {
    const w = at >>> 2
    const length = words[w + Word.kMessageBytes]
    const isBinary = (words[w + Word.kRecordFlags] >>> Shift.kRecordFlags & R.kMessageBinary) !== 0
    this.read += length
    const data = copyOf(bytes, at + R.kPayloadAt, length)
    const cost = length + R.kMessageCost
    if (this.events !== null || (this.state & (kPaused | kDeferred)) !== 0) {
      this.wait({ type: kMessage, a: data, b: isBinary, c: undefined, d: undefined, cost })
      return
    }
    if ((this.unacknowledged += cost) >= kAcknowledgeBytes) this.acknowledge()
    this.handlers.message(this.owner, data, isBinary)
  }

  /** @param {Int32Array} words @param {Buffer} bytes @param {number} at */
  onRecord (words, bytes, at) {
    const w = at >>> 2
    const type = words[w + Word.kRecordType] & Mask.kRecordType
    const text = at + R.kPayloadAt
    switch (type) {
      case kMessageBlock: {
        const length = words[w + Word.kMessageBytes]
        this.read += length
        const block = this.lane.takeBlock(words[w + Word.kMessageBlockId])
        if (block === undefined) return
        const isBinary = (words[w + Word.kRecordFlags] >>> Shift.kRecordFlags & R.kMessageBinary) !== 0
        this.deliver(kMessage, length + R.kMessageCost, block, isBinary)
        return
      }
      case kControl: {
        const length = words[w + Word.kControlBytes]
        this.deliver(kControl, length + R.kMessageCost, words[w + Word.kControlOpcode], copyOf(bytes, text, length))
        return
      }
      case kCloseFrame:
        this.deliver(kCloseFrame, 0, words[w + Word.kCloseFrameCode],
          copyOf(bytes, text, words[w + Word.kCloseFrameBytes]))
        return
      case kFrameError: {
        const from = at + R.kFrameErrorTextAt
        const zlibText = bytes.toString('latin1', from, from + words[w + Word.kFrameErrorTextBytes])
        this.deliver(
          kFrameError, 0, words[w + Word.kFrameErrorKind], words[w + Word.kFrameErrorDetail],
          words[w + Word.kFrameErrorZlibCode], zlibText
        )
      }
    }
  }

  /** @param {number} type @param {number} cost @param {Event['a']} a @param {Event['b']} b @param {Event['c']} [c] @param {Event['d']} [d] */
  deliver (type, cost, a, b, c, d) {
    if (this.events !== null || (this.state & (kPaused | kDeferred)) !== 0) this.wait({ type, a, b, c, d, cost })
    else this.tell({ type, a, b, c, d, cost })
  }

  /** @param {Event} event */
  tell ({ type, a, b, c, d, cost }) {
    if (cost !== 0 && (this.unacknowledged += cost) >= kAcknowledgeBytes) this.acknowledge()
    const { handlers, owner } = this
    if (type === kMessage) handlers.message(owner, /** @type {Buffer} */ (a), /** @type {boolean} */ (b))
    else if (type === kCloseFrame) handlers.close(owner, /** @type {number} */ (a), /** @type {Buffer} */ (b))
    else if (type === kFrameError) {
      handlers.error(owner, /** @type {number} */ (a), /** @type {number} */ (b), /** @type {number} */ (c),
        /** @type {string} */ (d))
    } else if (type === kEof) handlers.end(owner)
    else if (a === kPingOpcode) handlers.ping(owner, /** @type {Buffer} */ (b))
    else handlers.pong(owner, /** @type {Buffer} */ (b))
  }

  /** @param {Event} event */
  wait (event) {
    if (this.events !== null) {
      this.events.push(event)
      return
    }
    this.more().events = [event]
    if ((this.state & kPaused) === 0) setImmediate(pump, this)
  }

  /** Reports that the client has ended its direction. */
  onEnd () {
    this.deliver(kEof, 0, undefined, undefined)
  }

  acknowledge () {
    const bytes = this.unacknowledged
    this.unacknowledged = 0
    if ((this.state & kClosed) === 0) this.lane.writer.command(kWindow, 0, this.slot, bytes)
  }

  pause () {
    this.state |= kPaused
    if (!(this.socket instanceof WeakRef) && !isLight(this.socket)) this.socket.pause()
  }

  resume () {
    if (!(this.socket instanceof WeakRef) && !isLight(this.socket)) this.socket.resume()
    if ((this.state & kPaused) === 0) return
    this.state &= ~kPaused
    if (this.events !== null) setImmediate(pump, this)
  }

  /** Delivers the next waiting event, and leaves the others to later turns of the event loop. */
  pump () {
    if (this.events === null || (this.state & (kPaused | kClosed)) === kPaused) return
    const event = /** @type {Event} */ (this.events.shift())
    if (this.events.length === 0) this.more().events = null
    else setImmediate(pump, this) // Scheduled before the application is called, which may throw.
    this.tell(event)
    if (this.events === null && (this.state & kGone) !== 0) this.handlers.closed(this.owner)
  }

  // -- Output --------------------------------------------------------------------------------------

  /**
   * Sends a frame. The callback runs in a later tick, when the frame was accepted. The callback of a large frame
   * runs when it was sent; its bytes must not change before.
   *
   * @param {number} flags R.kFrame…
   * @param {string | Uint8Array} data
   * @param {SendCallback} [callback]
   */
  send (flags, data, callback) {
    if ((this.state & kClosed) !== 0) {
      if (callback !== undefined) nodeProcess.nextTick(callback, destroyedError())
    } else if (this.held !== null || this.unsent >= kSendBytesMax) {
      this.hold(flags, data, callback)
    } else if ((typeof data === 'string' ? data.length * 3 : data.byteLength) <= kInlineBytesMax) {
      this.unsent += this.lane.writer.frame(this.slot, flags, data)
      if (callback !== undefined) this.accepted(callback)
    } else {
      this.sendBlock(flags, data, callback)
    }
  }

  /** @param {SendCallback} callback */
  accepted (callback) {
    if (this.block === null) nodeProcess.nextTick(callback, null)
    else this.block.callbacks.push(callback)
  }

  /** @param {number} flags @param {string | Uint8Array} data @param {SendCallback} [callback] */
  sendBlock (flags, data, callback) {
    const chunk = typeof data === 'string' ? Buffer.from(data) : data
    if (chunk.byteLength <= kInlineBytesMax) {
      this.unsent += this.lane.writer.frame(this.slot, flags, chunk)
      if (callback !== undefined) this.accepted(callback)
      return
    }
    const block = this.lane.writer.frameBlock(this.slot, flags, chunk)
    if (block === undefined) return
    this.unsent += chunk.byteLength
    const backlog = this.more()
    backlog.buffered += chunk.byteLength
    const write = backlog.block = new BlockWrite(this, chunk.byteLength, callback)
    const known = this.lane.blocks.get(block)
    if (known === undefined) this.lane.blocks.set(block, { write: new SharedBlock(write), chunk })
    else /** @type {SharedBlock} */ (known.write).add(write) // Cast: the block has frames, which only channels send.
  }

  /** @param {number} flags @param {string | Uint8Array} data @param {SendCallback} [callback] */
  hold (flags, data, callback) {
    const bytes = typeof data === 'string' ? Buffer.byteLength(data) : data.byteLength
    const backlog = this.more()
    backlog.buffered += bytes
    const held = { data, flags, bytes, callback }
    if (backlog.held === null) backlog.held = [held]
    else backlog.held.push(held)
  }

  /** @param {number} bytes that were sent */
  onCredit (bytes) {
    const unsent = this.unsent - bytes
    this.unsent = unsent > 0 ? unsent : 0
    // A block that other channels send, too, is reported only when the slowest client has it. This client has it already.
    if (this.unsent < kCreditStepBytes) for (let at = this.block; at !== null; at = at.previous) at.leave()
    const { backlog, held } = this
    if (backlog === null || held === null || this.unsent >= kSendBytesMax) return
    backlog.held = null
    let i = 0
    for (; i < held.length && this.unsent < kSendBytesMax; i++) {
      const { data, flags, bytes, callback } = held[i]
      backlog.buffered -= bytes
      this.send(flags, data, callback)
    }
    if (i < held.length) {
      backlog.held = i === 0 ? held : held.slice(i)
      return
    }
    if ((this.state & kEnding) !== 0) this.keepSocket().end()
  }

  /** Ends the WebSocket when the lane has closed the connection. */
  onClosed () {
    this.state |= kClosed
    const { backlog, held, block } = this
    if (backlog !== null && (held !== null || block !== null)) {
      backlog.held = null
      backlog.block = null
      const error = destroyedError()
      for (let at = block; at !== null; at = at.previous) at.fail(error)
      for (const { bytes, callback } of held ?? []) {
        backlog.buffered -= bytes
        if (callback !== undefined) nodeProcess.nextTick(callback, error)
      }
    }
    // The application still gets the waiting events, but must see that nothing can be sent any more.
    if (this.events !== null) this.handlers.end(this.owner)
    // Events of the socket as a stream, such as 'finish', come before the end of the WebSocket.
    const socket = /** @type {EngineSocket} */ (this.socket) // Cast: the caller has got it from keepSocket().
    if (isLight(socket) || socket.closed) nodeProcess.nextTick(tellClosed, this)
    else socket.prependOnceListener('close', () => tellClosed(this))
  }

  tellClosed () {
    this.state |= kGone
    // Waiting events are delivered first, even while paused.
    if (this.events === null) this.handlers.closed(this.owner)
    else if ((this.state & kPaused) !== 0) setImmediate(pump, this)
  }

  /** Closes at once; waiting output is lost. */
  destroy () {
    this.keepSocket().destroy()
  }

  /** Ends our direction of the connection after everything that was sent. */
  end () {
    if ((this.state & kClosed) !== 0) return
    if (this.held !== null) this.state |= kEnding
    else this.keepSocket().end()
  }
}

// The entry in lane.blocks of a block that one or several channels send as a frame.
class SharedBlock {
  /** @param {BlockWrite} write */
  constructor (write) {
    this.writes = [write]
  }

  /** @param {BlockWrite} write */
  add (write) {
    this.writes.push(write)
  }

  done () {
    for (const write of this.writes) write.done()
  }
}

// A frame that is sent by reference, and the callbacks of frames that were accepted after it.
class BlockWrite {
  /** @param {WebSocketChannel} channel @param {number} bytes @param {SendCallback} [callback] */
  constructor (channel, bytes, callback) {
    this.channel = channel
    this.bytes = bytes
    /** @type {SendCallback[]} */
    this.callbacks = callback === undefined ? [] : [callback]
    /** @type {BlockWrite | null} */
    this.previous = channel.block
    this.isDone = false
    this.isCounted = true
  }

  // Subtracts the frame from `buffered`: the client has taken it, or nearly all of it.
  leave () {
    if (this.isCounted) this.channel.more().buffered -= this.bytes
    this.isCounted = false
  }

  done () {
    if (this.isDone) return
    this.isDone = true
    this.leave()
    const { channel } = this
    const backlog = channel.more()
    // Removes all frames that are done. A frame that other channels send, too, may be done later than frames after it.
    while (backlog.block !== null && backlog.block.isDone) backlog.block = backlog.block.previous
    for (let at = backlog.block; at !== null; at = at.previous) {
      while (at.previous !== null && at.previous.isDone) at.previous = at.previous.previous
    }
    for (const callback of this.callbacks) nodeProcess.nextTick(callback, null)
  }

  /** @param {Error} error */
  fail (error) {
    if (this.isDone) return
    this.isDone = true
    this.leave()
    for (const callback of this.callbacks) nodeProcess.nextTick(callback, error)
  }
}

/** Handlers of events; the class that webSocketOpener() derives has its own. @type {Handlers} */
WebSocketChannel.prototype.handlers = /** @type {Handlers} */ (/** @type {unknown} */ (null))

/** The own keys of a socket to which the application has added none. @type {Set<string | symbol> | undefined} */
let ownKeys

// State bits of sockets that revive() cannot make again.
const kOfOthers = State.kMaterialised | State.kStream | State.kRelayedStream

/** Whether the engine's own fields of a socket are as revive() makes them. @param {EngineSocket} socket */
function isPlain (socket) {
  return (socket[kState] & kOfOthers) === 0 && socket[kTls] === undefined && socket[kHoldsLoop] &&
    socket[kErrorListener] === undefined && socket[kRefusal] === undefined && !hasMaxListeners(socket)
}

/** Whether the application has changed nothing of a socket. @param {EngineSocket} socket */
function isUnused (socket) {
  if (!isPlain(socket)) return false
  ownKeys ??= new Set(Reflect.ownKeys(new HttpSocket(socket[kLane], 0, socket.server, null)))
  for (const key of Reflect.ownKeys(socket)) if (!ownKeys.has(key)) return false
  return true
}

// Releases a socket that was not used or changed in the turn in which its WebSocket was opened. Must be called at the end of
// that turn, because listeners that get the WebSocket may change the socket.
/** @param {WebSocketChannel} channel @param {number} keys number of the socket's keys when its WebSocket was opened */
function letGo (channel, keys) {
  const { lane, slot, socket } = channel
  if ((channel.state & (kFresh | kClosed)) !== kFresh || socket instanceof WeakRef) return
  if (!isPlain(socket) || Reflect.ownKeys(socket).length !== keys) return
  channel.socket = new WeakRef(socket)
  if (lane.sockets[slot] === socket) lane.sockets[slot] = channel
}

/** @param {WebSocketChannel} channel */
function pump (channel) {
  channel.pump()
}

/** @param {WebSocketChannel} channel */
function tellClosed (channel) {
  channel.tellClosed()
}

function destroyedError () {
  return Object.assign(new Error('Cannot call write after a stream was destroyed'), { code: 'ERR_STREAM_DESTROYED' })
}

// Copies bytes for the application, which may keep them: the record's memory is reused.
/** @param {Buffer} bytes @param {number} from @param {number} length @returns {Buffer} */
function copyOf (bytes, from, length) {
  if (length === 0) return kEmpty
  const data = Buffer.allocUnsafe(length)
  if (length <= kLoopBytesMax) for (let i = 0; i < length; i++) data[i] = bytes[from + i]
  else data.set(bytes.subarray(from, from + length))
  return data
}

/**
 * Makes an upgraded connection a WebSocket: its bytes are frames from here on. `head` is the argument of the 'upgrade'
 * event.
 *
 * @param {typeof WebSocketChannel} Channel
 * @param {EngineSocket} socket, or another stream, or nothing: checked here
 * @param {Uint8Array} head
 * @param {Settings} settings
 * @param {object} owner
 * @returns {WebSocketChannel | null} null: the socket is not one of the engine's, or is used otherwise
 */
function openWebSocket (Channel, socket, head, settings, owner) {
  if (typeof socket?.[kState] !== 'number' || (socket[kState] & State.kUndecided) === 0) return null
  if ((socket[kState] & (State.kLaneClosed | State.kPeerEnded | State.kFinSent)) !== 0 || socket.destroyed) return null
  if (!isLight(socket) && (socket.writableLength !== 0 || socket.listenerCount('data') !== 0 || socket.listenerCount('readable') !== 0)) {
    return null // Other code uses the socket, or is about to.
  }
  socket[kState] &= ~State.kUndecided
  socket[kState] |= State.kWebSocket
  const { deflate } = settings
  let flags = (settings.autoPong ? R.kSocketAutoPong : 0) | (settings.skipUTF8Validation ? R.kSocketSkipUtf8 : 0)
  if (deflate !== null) {
    flags |= R.kSocketDeflate | (deflate.serverNoContextTakeover ? R.kSocketServerAlone : 0) |
      (deflate.clientNoContextTakeover ? R.kSocketClientAlone : 0)
  }
  const bits = deflate === null
    ? 0
    : deflate.serverMaxWindowBits | deflate.clientMaxWindowBits << Shift.kWebSocketClientBits |
      (deflate.level & Mask.kWebSocketLevel) << Shift.kWebSocketLevel | deflate.memLevel << Shift.kWebSocketMemoryLevel
  const wasUnused = isUnused(socket)
  const channel = new Channel(socket, owner, settings.allowSynchronousEvents ? 0 : kDeferred)
  socket[kChannel] = channel
  channel.handlers.adopt(owner, socket)
  if (wasUnused) {
    channel.state |= kFresh
    nodeProcess.nextTick(letGo, channel, Reflect.ownKeys(socket).length)
  }
  channel.lane.writer.fields(kWebSocket, channel.slot, [
    flags, settings.maxPayload, settings.maxFragments, settings.maxBufferedChunks, settings.maxPendingAutoPongs,
    deflate === null ? 0 : deflate.threshold, bits, deflate === null ? 0 : deflate.strategy
  ], head)
  if (!isLight(socket)) channel.useAsStream(socket)
  return channel
}

function noop () {}

/**
 * Makes a function that opens WebSockets whose owners get their events from the same handlers.
 *
 * @param {Handlers} handlers
 */
function webSocketOpener (handlers) {
  class Channel extends WebSocketChannel {}
  Channel.prototype.handlers = handlers
  return openWebSocket.bind(null, Channel)
}

module.exports = { webSocketOpener }
