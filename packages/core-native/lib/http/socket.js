'use strict'

// The socket of a connection that an I/O thread owns: a net.Socket without a libuv handle.
//
// The socket starts *light*: fields of ours and no stream state, which is all that a keep-alive connection
// between two requests needs. The first use of it as a stream (`on`, `write`, `pipe`, …) reads `_events`,
// `_readableState` or `_writableState`, and the accessors below then run net.Socket's constructor on it.

const net = require('node:net')
const { setImmediate } = require('node:timers')
const { drainTicks } = require('../node-private/node-internals')
const { nodeProcess } = require('../node-private/node-process')
const { highWaterMarkOf } = require('../node-private/server')
const { becomeStream, settleDestroyed } = require('../node-private/socket')
const R = require('../records/records')
const { kInlineBytesMax } = require('../records/reply-writer')
const { kNoBlock, hold, send, shutdown, waitingBytes } = require('./socket-output')
const { captureContext, runInDomainOf, runOutside } = require('./outside')
const { connectionClosed } = require('./connection-end')
const { askSilence, forgetSilence, restartDifferent } = require('./idle-time')
const { addListeners } = require('./socket-listeners')
const { State, isLight, publish, uncount, updateLoop } = require('./socket-state')
const {
  kLane, kSlot, kState, kRemote, kIncoming, kReceiving, kOutgoing, kUnsent, kUnacknowledged, kHeldWrite,
  kRead, kWritten, kRequestCount, kOutgoingData, kOnClosed, kUnref, kHoldsLoop, kEndsIn,
  kErrorListener, kChannel, kListener, kTls, kParent, kTaken, kShared, kStreamAnswer,
  kStreamCredit, kRefusal
} = require('./symbols')

const { kData, kEnd, kWindow, kUpgradeAccept, kDestroy, kReset, kSocketOption } = R.ReplyType

/** @import { EngineServer, EngineSocket, EngineSocketBase, EngineSocketConstructor } from '../../types/internal' */
/** @import { PendingChunk, SocketChannel } from '../../types/internal' */
/** @import { Addresses } from './addresses' */

// Consumed body bytes are acknowledged from this number on: a quarter of the lane's receive window.
const kAcknowledgeBytes = 32 * 1024

/**
 * Makes a constructor of light sockets. HttpSocket and SecureSocket each have their own.
 *
 * V8 keeps as many fields in an object as its constructor sets, and as many more outside it if they are added by symbols. A socket with
 * more becomes a hash table of 2 KB with slow access. So the constructor sets 31 fields, even rare ones: the 27 fields of a stream, and
 * some of the application, fit beside them (test/dispatch/hidden-classes.test.js).
 */
function socketConstructor () {
  /**
   * @this {EngineSocket}
   * @param {import('../records/lane').Lane} lane
   * @param {number} slot
   * @param {EngineServer | undefined} server undefined: the server was closed, and so is the connection
   * @param {Addresses | null} remote null: only the keys of the socket are looked at
   */
  return function Socket (lane, slot, server, remote) {
    this[kLane] = lane
    this[kSlot] = slot
    this[kState] = State.kCounted
    this[kRemote] = /** @type {Addresses} */ (remote)
    this[kIncoming] = null
    this[kReceiving] = null
    this[kOutgoing] = null
    this[kUnsent] = 0
    this[kUnacknowledged] = 0
    this[kHeldWrite] = null
    this[kUnref] = false
    this[kHoldsLoop] = false
    this[kRead] = 0
    this[kWritten] = 0
    this[kRequestCount] = 0
    this[kOutgoingData] = 0
    this[kErrorListener] = undefined
    this[kOnClosed] = undefined
    this[kEndsIn] = null
    this[kTls] = undefined
    this[kParent] = undefined
    this[kTaken] = 0
    this[kShared] = 0
    this[kStreamAnswer] = undefined
    this[kStreamCredit] = undefined
    this[kRefusal] = undefined
    this._httpMessage = undefined // Undefined before the first request, as on Node. For a connection with streams, answerBegins() sets it.
    this.server = /** @type {EngineServer} */ (server)
    this._server = /** @type {EngineServer} */ (server)
    // These two members are as EventEmitter leaves them before the first listener; `_events` is an accessor, see below.
    this._eventsCount = 0
    this._maxListeners = undefined
  }
}

const HttpSocket = socketConstructor()

// Must be called before a socket is changed: a WebSocket releases an unused socket, but must keep a changed one.
/** @param {EngineSocket} socket */
function keep (socket) {
  if ((socket[kState] & State.kWebSocket) !== 0) /** @type {SocketChannel} */ (socket[kChannel]).keep(socket)
}

/** Makes a light socket a stream. @param {EngineSocket} socket */
function materialise (socket) {
  const state = socket[kState]
  socket[kState] = state | State.kMaterialised
  const { server } = socket
  const highWaterMark = highWaterMarkOf(server)
  const options = {
    allowHalfOpen: socket.allowHalfOpen, readableHighWaterMark: highWaterMark, writableHighWaterMark: highWaterMark
  }
  // The socket is in no request's domain: on Node it exists before the first request.
  becomeStream(socket, () => runInDomainOf(server[kListener].resource,
    () => Reflect.apply(net.Socket, socket, [options])))
  addListeners(socket)
  if ((state & State.kWebSocket) !== 0) /** @type {SocketChannel} */ (socket[kChannel]).useAsStream(socket)
  const listener = socket[kErrorListener]
  if (listener !== undefined) {
    socket[kErrorListener] = undefined
    socket.on('error', listener)
  }
  if ((state & State.kDestroyed) !== 0) {
    settleDestroyed(socket, (state & State.kFinSent) !== 0, (state & State.kPeerEnded) !== 0)
    if ((state & State.kLaneClosed) === 0) onceClosed(socket, () => socket.emit('close', false))
  } else if ((state & State.kFinSent) !== 0) {
    // The FIN was sent already; end() only updates the stream's state.
    Reflect.apply(net.Socket.prototype.end, socket, [])
  }
  return socket
}

/** Whether a socket is upgraded, open both ways, and not used as a stream so far. @param {EngineSocket} socket */
function isUntouched (socket) {
  const ends = State.kDestroyed | State.kLaneClosed | State.kFinSent
  return (socket[kState] & (State.kUpgraded | State.kMaterialised | ends)) === State.kUpgraded
}

class Methods extends /** @type {EngineSocketBase} */ (net.Socket) {
  // -- Facts about the connection ----------------------------------------------------------------

  _getpeername () {
    return this[kRemote].peer
  }

  _getsockname () {
    // The local address is known only while the connection exists, the client's address also afterwards: Node does so.
    return this.destroyed ? {} : this[kRemote].local
  }

  // -- Reading -------------------------------------------------------------------------------------

  _read () {
    if ((this[kState] & State.kUpgraded) === 0) return
    if ((this[kState] & State.kUndecided) !== 0) {
      this[kState] &= ~State.kUndecided
      publish(this, kUpgradeAccept)
    }
    acknowledge(this)
  }

  pause () {
    if ((this[kState] & State.kUpgraded) !== 0) {
      this[kState] &= ~State.kReaderGone
      return super.pause()
    }
    this[kState] |= State.kReadPaused
    return isLight(this) ? this : super.pause()
  }

  resume () {
    if ((this[kState] & State.kReadPaused) !== 0) {
      this[kState] &= ~State.kReadPaused
      acknowledge(this)
    }
    return isLight(this) && (this[kState] & State.kUpgraded) === 0 ? this : super.resume()
  }

  // Also called by pipe() when its destination has ended.
  /** @param {NodeJS.WritableStream & { destroyed?: boolean, writableEnded?: boolean }} [destination] */
  unpipe (destination) {
    super.unpipe(destination)
    const hasEnded = destination?.destroyed === true || destination?.writableEnded === true
    if (hasEnded && (this[kState] & State.kUpgraded) !== 0) this[kState] |= State.kReaderGone
    return this
  }

  /** @param {BufferEncoding} [encoding] */
  setEncoding (encoding) {
    if ((this[kState] & State.kUpgraded) === 0) {
      throw Object.assign(
        new Error('Changing the socket encoding is not allowed per RFC7230 Section 3.'),
        { code: 'ERR_HTTP_SOCKET_ENCODING' })
    }
    return super.setEncoding(encoding)
  }

  // -- Methods that a handshake calls on an upgraded socket, without making it a stream -----------------

  // The type of a listener is open, as in Node's types: it may be one of any event.
  /** @param {string | symbol} event @param {(...args: any[]) => void} listener */
  on (event, listener) {
    if (event !== 'error' || !isUntouched(this) || this[kErrorListener] !== undefined) return super.on(/** @type {string} */ (event), listener)
    keep(this)
    this[kErrorListener] = listener
    return this
  }

  /** @param {number} count */
  setMaxListeners (count) {
    keep(this)
    return super.setMaxListeners(count)
  }

  /** @param {string | symbol} event @param {(...args: any[]) => void} listener any: as in on() */
  removeListener (event, listener) {
    if (event !== 'error' || !isUntouched(this) || this[kErrorListener] !== listener) return super.removeListener(event, listener)
    this[kErrorListener] = undefined
    return this
  }

  /** @param {unknown} text */
  write (text) {
    if (typeof text !== 'string' || arguments.length !== 1 || text.length * 3 > kInlineBytesMax || !isUntouched(this)) {
      return Reflect.apply(super.write, this, arguments)
    }
    keep(this)
    const bytes = this[kLane].writer.data(kData, this[kSlot], R.kReplyRaw, text, 'utf8', 0)
    this[kUnsent] += bytes
    this[kWritten] += bytes
    return true
  }

  // -- Writing -------------------------------------------------------------------------------------

  /** @param {string | Uint8Array} chunk @param {BufferEncoding} encoding @param {(error?: Error | null) => void} callback */
  _write (chunk, encoding, callback) {
    send(this, { socket: this, chunks: [{ chunk, encoding }], next: 0, block: kNoBlock, callback })
  }

  /** @param {PendingChunk[]} chunks @param {(error?: Error | null) => void} callback */
  _writev (chunks, callback) {
    send(this, { socket: this, chunks, next: 0, block: kNoBlock, callback })
  }

  /** @param {(error?: Error | null) => void} callback */
  _final (callback) {
    shutdown(this)
    if ((this[kState] & State.kUpgraded) !== 0 && this.readableLength >= this.readableHighWaterMark) closeUnread(this)
    // The callback comes as late as after a shutdown by libuv: the tick that ended the socket must be done first.
    if ((this[kState] & State.kFileOut) === 0) setImmediate(callback)
    // The end waits for the file that is being sent, which may fail as a write may.
    else {
      hold(this, {
        socket: this,
        chunks: [],
        next: 0,
        block: kNoBlock,
        callback: (error) => error
          ? callback(error)
          : setImmediate(callback)
      })
    }
  }

  /** @param {...unknown} args */
  end (...args) {
    if (isLight(this) && args.length === 0) {
      keep(this)
      if (this.writable) shutdown(this)
      return this
    }
    return Reflect.apply(super.end, this, args)
  }

  destroySoon () {
    if (this.destroyed) return
    // A closing reply may have been published already: then the lane closes by itself.
    keep(this)
    const isClosing = (this[kState] & State.kCloseSoon) !== 0
    this[kState] |= State.kCloseSoon
    if (isLight(this)) {
      // Node closes such a socket in the callback of shutdown(2), which runs in the context of the caller of destroySoon().
      if (this._server?.[kListener].isClosed) this[kEndsIn] ??= captureContext()
      if ((this[kState] & State.kFinSent) === 0) shutdown(this)
      else if (!isClosing) this.destroy()
      return
    }
    super.destroySoon()
  }

  /** @param {Error} [error] @param {(error?: Error | null) => void} [callback] an undocumented parameter, as Node's */
  destroy (error, callback) {
    if (isLight(this)) {
      if (error || typeof callback === 'function') {
        materialise(this)
      } else {
        if ((this[kState] & State.kDestroyed) === 0) {
          keep(this)
          this[kState] |= State.kDestroyed
          updateLoop(this)
          publish(this, kDestroy)
          uncount(this)
          if ((this[kState] & State.kLaneClosed) !== 0) nodeProcess.nextTick(runOutside, () => connectionClosed(this))
        }
        return this
      }
    }
    return super.destroy(error, callback)
  }

  /** @param {Error | null} error @param {(error?: Error | null) => void} callback */
  _destroy (error, callback) {
    const { _server } = this
    // net.Socket's _destroy() subtracts the socket from the number of connections of its `_server`, which does not include HTTP/2 streams.
    if ((this[kState] & State.kCounted) === 0) this._server = null
    this[kState] &= ~State.kCounted
    this._handle = new ClosingHandle(this, error)
    updateLoop(this)
    const listener = this._server?.[kListener]
    if (listener !== undefined) listener.endsIn = this[kEndsIn]
    super._destroy(error, callback)
    if (listener !== undefined) listener.endsIn = null
    this._server = _server
  }

  resetAndDestroy () {
    if (isLight(this)) materialise(this)
    if (this.destroyed) return super.resetAndDestroy()
    this.resetAndClosing = true
    return this.destroy()
  }

  // -- Options -------------------------------------------------------------------------------------

  /** @param {number} timeout @param {() => void} [callback] */
  setTimeout (timeout, callback) {
    if (isLight(this) && timeout === 0 && callback === undefined) {
      Object.assign(this, { timeout: 0 })
      return this
    }
    if (isLight(this)) materialise(this)
    forgetSilence(this)
    return super.setTimeout(timeout, callback)
  }

  _unrefTimer () {
    if (isLight(this)) return
    if ((this[kState] & State.kTimerDiffers) !== 0) restartDifferent(this)
    else super._unrefTimer()
  }

  _onTimeout () {
    askSilence(this)
  }

  /** @param {boolean} [enable] */
  setNoDelay (enable) {
    publish(this, kSocketOption, 1, enable === undefined || enable ? 1 : 0)
    return this
  }

  /** @param {boolean} [enable] @param {number} [initialDelay] ms */
  setKeepAlive (enable, initialDelay) {
    publish(this, kSocketOption, 2, enable ? 1 : 0, ~~(/** @type {number} */ (initialDelay) / 1000))
    return this
  }

  ref () {
    keep(this)
    this[kUnref] = false
    updateLoop(this)
    return this
  }

  unref () {
    keep(this)
    this[kUnref] = true
    updateLoop(this)
    return this
  }
}

HttpSocket.prototype = Methods.prototype
// The constructor is Node's: programs compare it with the class they know.
Object.defineProperty(HttpSocket.prototype, 'constructor', { value: net.Socket, writable: true, configurable: true })
Object.setPrototypeOf(HttpSocket, net.Socket)

for (const [name, value] of /** @type {[string, unknown][]} */ ([
  ['connecting', false], ['_hadError', false], ['_parent', null], ['_host', null], ['parser', null],
  ['_paused', false], ['timeout', undefined], ['allowHalfOpen', true]
])) {
  Object.defineProperty(HttpSocket.prototype, name, { value, writable: true, configurable: true })
}

// Accessors that a light socket answers without becoming a stream; afterwards Node's own accessor does.
/** @type {Record<string, (socket: EngineSocket) => unknown>} */
const kLightAnswers = {
  destroyed: (socket) => (socket[kState] & State.kDestroyed) !== 0,
  writable: (socket) => (socket[kState] & (State.kDestroyed | State.kFinSent | State.kLaneClosed)) === 0,
  readable: (socket) => (socket[kState] & (State.kDestroyed | State.kPeerEnded)) === 0,
  writableLength: () => 0,
  writableCorked: () => 0,
  readableHighWaterMark: (socket) => highWaterMarkOf(socket.server),
  writableHighWaterMark: (socket) => highWaterMarkOf(socket.server)
}

for (const [name, answer] of Object.entries(kLightAnswers)) {
  const stock = accessorOf(name)
  Object.defineProperty(HttpSocket.prototype, name, {
    configurable: true,
    get () {
      return isLight(this) ? answer(this) : stock.get?.call(this)
    },
    set (value) {
      stock.set?.call(this, value)
    }
  })
}

/** @param {string} name @returns {PropertyDescriptor} */
function accessorOf (name) {
  for (let o = net.Socket.prototype; o !== null; o = Object.getPrototypeOf(o)) {
    const found = Object.getOwnPropertyDescriptor(o, name)
    if (found !== undefined) return found
  }
  return {}
}

Object.defineProperties(HttpSocket.prototype, {
  pending: { configurable: true, get: () => false },
  bufferSize: { configurable: true, get () { return this.destroyed ? undefined : this.writableLength } },
  bytesRead: { configurable: true, get () { return this[kRead] } },
  bytesWritten: { configurable: true, get () { return this[kWritten] + waitingBytes(this) } },
  _bytesDispatched: { configurable: true, get () { return this[kWritten] } }
})

// Reading one of these members of a light socket makes it a stream, so that it has the listeners that Node's sockets have.
for (const name of ['_readableState', '_writableState', '_events']) {
  Object.defineProperty(HttpSocket.prototype, name, {
    configurable: true,
    get () {
      if (this[kLane] === undefined || !isLight(this)) return undefined
      materialise(this)
      return this[name]
    },
    set (value) {
      Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true })
    }
  })
}

/**
 * Stands in for the libuv handle while net.Socket destroys the socket, so that 'close' comes when the
 * lane has closed the connection.
 */
class ClosingHandle {
  /** @param {EngineSocket} socket @param {Error | null} error */
  constructor (socket, error) {
    this.socket = socket
    this.error = error
    this.bytesRead = socket.bytesRead
    this.bytesWritten = socket.bytesWritten
  }

  /** @param {() => void} closed */
  close (closed) {
    const { socket } = this
    const bits = socket[kState]
    // A FIN in both directions makes the lane close by itself, after everything accepted is sent.
    const closesItself = !this.error && (bits & State.kFinSent) !== 0 &&
      (bits & (State.kPeerEnded | State.kCloseSoon)) !== 0
    if (!closesItself) publish(socket, kDestroy)
    onceClosed(socket, closed)
  }

  /** @param {() => void} closed */
  reset (closed) {
    publish(this.socket, kReset)
    onceClosed(this.socket, closed)
    return 0
  }
}

/** @param {EngineSocket} socket @param {() => void} closed */
function onceClosed (socket, closed) {
  const run = () => {
    const held = socket[kHeldWrite]
    hold(socket, null)
    if (held !== null) {
      held.callback() // Without an error, as libuv cancels writes in flight: the error is the socket's.
      drainTicks?.() // Ticks of the callback run before 'close'.
    }
    connectionClosed(socket)
    closed()
  }
  // The callback comes as late as from libuv: the server's own 'close', which is emitted in a tick, comes first.
  if ((socket[kState] & State.kLaneClosed) !== 0) setImmediate(runOutside, run)
  else socket[kOnClosed] = run
}

/** Whether the application has never begun to read an upgraded socket. @param {EngineSocket} socket */
function isUnread (socket) {
  return isLight(socket) || (socket.readableFlowing === null && socket.listenerCount('readable') === 0)
}

// Returns whether received bytes have no reader left: the destination of the socket's pipe has ended, and there is no other reader. On
// Node, bytes that the client sent before the destination ended arrive before that end. Here they come through the lane, and the end may
// overtake them.
/** @param {EngineSocket} socket upgraded, whose writing side has ended @returns {boolean} */
function hasLostReader (socket) {
  return (socket[kState] & State.kReaderGone) !== 0 && socket.readableFlowing === false &&
    socket.listenerCount('data') === 0 && socket.listenerCount('readable') === 0
}

// Closes the connection of an upgraded socket that was ended and is not being read, as after a declined upgrade. Behind unread bytes the
// client's end would never be seen, so that the client could keep the connection open. Must be called when the socket's buffer is full.
/** @param {EngineSocket} socket */
function closeUnread (socket) {
  const bits = socket[kState]
  if ((bits & (State.kFinSent | State.kCloseSoon | State.kLaneClosed)) !== State.kFinSent ||
    !(isUnread(socket) || hasLostReader(socket))) {
    return
  }
  socket[kState] |= State.kCloseSoon
  socket[kLane].writer.command(kEnd, R.kReplyEnd | R.kReplyClose, socket[kSlot])
}

/** Tells the lane that body bytes were consumed, unless reading is paused. @param {EngineSocket} socket */
function acknowledge (socket) {
  const bytes = socket[kUnacknowledged]
  if (bytes === 0) return
  socket[kUnacknowledged] = 0
  publish(socket, kWindow, bytes)
}

/**
 * Counts bytes that the application was given, and acknowledges them.
 *
 * @param {EngineSocket} socket
 * @param {number} bytes
 */
function consumed (socket, bytes) {
  const total = socket[kUnacknowledged] += bytes
  if (total >= kAcknowledgeBytes && (socket[kState] & State.kReadPaused) === 0) acknowledge(socket)
}

module.exports = {
  // Cast: to TypeScript, a function does not construct objects of its prototype's class.
  HttpSocket: /** @type {EngineSocketConstructor} */ (/** @type {unknown} */ (HttpSocket)),
  closeUnread,
  consumed,
  hasLostReader,
  isUnread,
  materialise,
  socketConstructor
}
