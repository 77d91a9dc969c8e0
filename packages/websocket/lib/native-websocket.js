'use strict'

// A WebSocket of `ws` whose frames are read and written by the I/O threads. States, events and their order are as in ws' own
// websocket.js, whose code serves sockets that are not the engine's.

const { Buffer, Blob } = require('node:buffer')
const { clearTimeout, setTimeout } = require('node:timers')
const ws = require('ws')
const { internals } = require('@httpsys/core-native')
const { kSocketMark, extensionName, kDefaults, kEmpty } = require('./ws-internals')
const { settingsOf } = require('./settings')
const { createReadError, closeCodeOf } = require('./read-error')

const { nodeProcess, shrinkListeners, webSocketOpener, frames: { kFrameFin, kFrameCompress } } = internals

/** @import { WebSocketChannel as Channel, WebSocketHandlers } from '@httpsys/core-native' */
/** @import { Duplex } from 'node:stream' */
/** @import { WsServer, WsServerOptions } from '../types/ws-internals' */
/** @typedef {(error?: Error | null) => void} Callback */

const kChannel = Symbol('httpsys.channel')
const kSocket = Symbol('httpsys.socket')
const kPending = Symbol('httpsys.pending')
const kIsFirstFragment = Symbol('httpsys.isFirstFragment')
const kLost = Symbol('httpsys.lost')
const kServer = Symbol('httpsys.server')

const kText = 1
const kBinary = 2
const kClose = 8
const kPing = 9
const kPong = 10
const kControlBytesMax = 125
const kReasonBytesMax = 123
const kOpen = 1
const kClosing = 2
const kClosed = 3
const kServerClosed = 2
const kStates = ['CONNECTING', 'OPEN', 'CLOSING', 'CLOSED']

/** @typedef {string | Uint8Array | Blob} Sent data that was checked and can be sent; a Blob is read first */
/**
 * @typedef {{ queue: { flags: number, data: Sent, callback: Callback | undefined }[], bytes: number }} Pending frames that wait until a Blob was read
 */

/**
 * A WebSocket with its private members. Without a channel, ws' own code serves it.
 *
 * @typedef {WebSocket & {
 *   [kChannel]?: Channel, [kSocket]?: Duplex | null, [kPending]?: Pending | undefined, [kIsFirstFragment]?: boolean, [kLost]?: number, [kServer]?: WsServer
 * }} State
 */
/** @typedef {State & { [kChannel]: Channel }} Native a WebSocket with a channel */

/** @param {WebSocket} self @returns {State} */
const hidden = (self) => self

class WebSocket extends ws.WebSocket {
  /** @param {unknown} address null: a WebSocket of a server @param {unknown} [protocols] @param {WsServerOptions} [options] */
  constructor (address, protocols, options) {
    // Cast: a server always passes options.
    const given = /** @type {WsServerOptions} */ (options)
    super(address, protocols, address === null ? quietly(given) : options)
    isBare = false
    const self = hidden(this)
    if (address !== null) {
      self._autoPong = Object.hasOwn(this, '_autoPong')
      return
    }
    shrinkListeners(self)
    if (!given.autoPong) self._autoPong = false
    else if (upgrading?.options !== given) {
      self._maxPendingAutoPongs = /** @type {number} */ (given.maxPendingAutoPongs) | 0
    }
  }

  /** @param {Duplex} socket one of the engine's gets a channel @param {Buffer} head @param {WsServerOptions} options */
  setSocket (socket, head, options) {
    const self = hidden(this)
    const pongsMax = self._maxPendingAutoPongs ?? upgrading?.options.maxPendingAutoPongs ?? 0
    const settings = self._isServer ? settingsOf(self, options, pongsMax) : null
    const channel = settings === null ? null : openWebSocket(socket, head, settings, /** @type {Native} */ (self))
    if (channel === null) {
      if (self._isServer && self._autoPong) {
        self._maxPendingAutoPongs = pongsMax | 0
        self._autoPongComplete = () => { self._pendingAutoPongs-- }
        self._pendingAutoPongs = 0
      }
      super.setSocket(socket, head, options)
      return
    }
    self[kChannel] = channel // From here on the getter `_socket` returns the channel's socket.
    const own = /** @type {import('node:net').Socket} */ (socket)
    own.setNoDelay()
    self._readyState = kOpen
    this.emit('open')
    opened = this
  }

  // The first listener of a server's WebSocket is the server's own. It is not added, because each would cost a function and its scope;
  // emitClose() does its work.
  /** @param {string | symbol} event @param {(...args: any[]) => void} listener any: of every event, as in Node's types */
  on (event, listener) {
    if (opened === this) {
      opened = null
      if (event === 'close' && upgrading?.clients?.has(this)) {
        hidden(this)[kServer] = upgrading
        return this
      }
    }
    return super.on(event, listener)
  }

  get _socket () {
    const self = hidden(this)
    return self[kChannel] === undefined ? self[kSocket] ?? null : self[kChannel].keepSocket()
  }

  set _socket (socket) {
    const self = hidden(this)
    if (socket !== null || self[kSocket] !== undefined) self[kSocket] = socket
  }

  get bufferedAmount () {
    const channel = hidden(this)[kChannel]
    if (channel === undefined) return super.bufferedAmount
    return channel.buffered + (hidden(this)[kPending]?.bytes ?? 0) + (hidden(this)[kLost] ?? 0)
  }

  /** @param {unknown} data @param {unknown} [options] @param {unknown} [callback] */
  send (data, options, callback) {
    const self = hidden(this)
    const channel = self[kChannel]
    if (channel === undefined) return super.send(data, options, callback)
    if (typeof options === 'function') {
      callback = options
      options = undefined
    }
    if (typeof data === 'number') data = data.toString()
    if (self._readyState !== kOpen) return sendAfterClose(self, data, /** @type {Callback | undefined} */ (callback))
    let flags = (typeof data === 'string' ? kText : kBinary) | kFrameFin | kFrameCompress
    if (options) flags = flagsOf(flags, options)
    if (self[kIsFirstFragment] === false) flags &= ~(0xf | kFrameCompress)
    // A falsy value makes an empty message, as in ws.
    if (typeof data !== 'string' && !(data instanceof Uint8Array)) data = data ? toBytes(data) : kEmpty
    if ((flags & kFrameFin) === 0) self[kIsFirstFragment] = false
    else if (self[kIsFirstFragment] === false) self[kIsFirstFragment] = true
    if (self[kPending] === undefined && data instanceof Uint8Array === false && typeof data !== 'string') {
      self[kPending] = { queue: [], bytes: 0 }
    }
    if (self[kPending] === undefined) {
      channel.send(flags, /** @type {string | Uint8Array} */ (data), /** @type {Callback | undefined} */ (callback))
    } else {
      enqueue(/** @type {Native} */ (self), flags, /** @type {Sent} */ (data),
        /** @type {Callback | undefined} */ (callback))
    }
  }

  /** @param {unknown} [data] @param {unknown} [mask] @param {unknown} [callback] */
  ping (data, mask, callback) {
    if (hidden(this)[kChannel] === undefined) super.ping(data, mask, callback)
    else sendControl(/** @type {Native} */ (hidden(this)), kPing, data, mask, callback)
  }

  /** @param {unknown} [data] @param {unknown} [mask] @param {unknown} [callback] */
  pong (data, mask, callback) {
    if (hidden(this)[kChannel] === undefined) super.pong(data, mask, callback)
    else sendControl(/** @type {Native} */ (hidden(this)), kPong, data, mask, callback)
  }

  /** @param {number} [code] @param {unknown} [data] */
  close (code, data) {
    const self = hidden(this)
    if (self[kChannel] === undefined) return super.close(code, data)
    if (self._readyState === kClosed) return
    if (self._readyState === kClosing) {
      if (self._closeFrameSent && (self._closeFrameReceived || self._errorEmitted)) self[kChannel].end()
      return
    }
    const payload = closePayload(code, data)
    const sent = (/** @type {Error | null | undefined} */ error) => {
      // The socket's own listeners handle the error.
      if (error) return
      self._closeFrameSent = true
      if (self._closeFrameReceived || self._errorEmitted) /** @type {Native} */ (self)[kChannel].end()
    }
    if (self[kPending] === undefined) self[kChannel].send(kClose | kFrameFin, payload, sent)
    else enqueue(/** @type {Native} */ (self), kClose | kFrameFin, payload, sent)
    self._readyState = kClosing
    setCloseTimer(/** @type {Native} */ (self))
  }

  terminate () {
    const self = hidden(this)
    if (self[kChannel] === undefined) return super.terminate()
    if (self._readyState === kClosed) return
    self._readyState = kClosing
    self[kChannel].destroy()
  }

  pause () {
    const self = hidden(this)
    if (self[kChannel] === undefined) return super.pause()
    if (self._readyState === kClosed) return
    self._paused = true
    self[kChannel].pause()
  }

  resume () {
    const self = hidden(this)
    if (self[kChannel] === undefined) return super.resume()
    if (self._readyState === kClosed) return
    self._paused = false
    self[kChannel].resume()
  }

  emitClose () {
    const self = hidden(this)
    if (self[kChannel] === undefined) return super.emitClose()
    self._extensions[extensionName]?.cleanup()
    self._readyState = kClosed
    if (self[kServer] !== undefined) forgetClient(self[kServer], this)
    this.emit('close', self._closeCode, self._closeMessage)
  }
}

/** True while ws' constructor sets the usual values of a server's WebSocket. */
let isBare = false

// Defines a member of all WebSockets by accessors: fields that nearly all have with the same value would be most of an idle one's memory.
/** @param {string | symbol} name @param {(self: State) => unknown} get @param {(value: unknown) => boolean} isDefault */
function define (name, get, isDefault) {
  Object.defineProperty(WebSocket.prototype, name, {
    configurable: true,
    get () { return get(this) },
    set (value) {
      if (!isDefault(value)) {
        Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true })
      }
    }
  })
}

const kNoExtensions = Object.freeze({})
// Stands for ws' sender: some programs check whether a WebSocket has one.
const kSenderStub = Object.freeze({ _bufferedBytes: 0 })

for (const [name, initial] of kDefaults) define(name, () => initial, (value) => value === initial)
define('_sender', (self) => self[kChannel] === undefined ? null : kSenderStub, (value) => value === null)
define('_extensions', () => kNoExtensions, () => isBare)
Object.defineProperty(WebSocket.prototype, '_autoPong', { value: true, writable: true, configurable: true })

/** The server that is completing a handshake. @type {WsServer | null} */
let upgrading = null
/** The WebSocket that was opened last, until something listens to it. @type {WebSocket | null} */
let opened = null

/** @param {WsServer} server @param {() => void} run */
function whileUpgrading (server, run) {
  const outer = upgrading
  upgrading = server
  try {
    run()
  } finally {
    upgrading = outer
    opened = null
  }
}

/** @param {WsServer} server @param {WebSocket} webSocket */
function forgetClient (server, webSocket) {
  const clients = /** @type {Set<WebSocket>} */ (server.clients) // Cast: the WebSocket was one of the clients.
  clients.delete(webSocket)
  if (server._shouldEmitClose && clients.size === 0) nodeProcess.nextTick(emitServerClose, server)
}

/** @param {WsServer} server */
function emitServerClose (server) {
  server._state = kServerClosed
  server.emit('close')
}

/** The results of quietly(), by the options of a server. @type {WeakMap<WsServerOptions, WsServerOptions>} */
const quietOptions = new WeakMap()

// Returns options for ws' constructor without autoPong, for which ws would make a function per WebSocket.
/** @param {WsServerOptions} options */
function quietly (options) {
  let quiet = quietOptions.get(options)
  if (quiet === undefined) {
    quiet = { autoPong: false, closeTimeout: options.closeTimeout }
    quietOptions.set(options, quiet)
  }
  isBare = true
  return quiet
}

// -- Events from the I/O thread --------------------------------------------------------------------

/** @type {WebSocketHandlers<Native>} */
const handlers = {
  adopt (owner, socket) {
    socket[kSocketMark] = owner
    socket.setTimeout(0)
  },
  message (owner, data, isBinary) {
    if (data.length === 0) data = kEmpty
    owner.emit('message', isBinary && owner._binaryType !== 'nodebuffer' ? converted(data, owner._binaryType) : data, isBinary)
  },
  ping (owner, data) {
    owner.emit('ping', data.length === 0 ? kEmpty : data)
  },
  pong (owner, data) {
    owner.emit('pong', data.length === 0 ? kEmpty : data)
  },
  close (owner, code, reason) {
    owner._closeFrameReceived = true
    owner._closeCode = code
    owner._closeMessage = reason.length === 0 ? kEmpty : reason
    if (code === 1005) owner.close()
    else owner.close(code, reason)
  },
  error (owner, kind, detail, zlibCode, zlibText) {
    const error = createReadError(kind, detail, zlibCode, zlibText)
    const wasEmitted = owner._errorEmitted
    // From here on close() ends the socket when its close frame was sent.
    owner._errorEmitted = true
    owner.close(closeCodeOf(kind))
    if (!wasEmitted) owner.emit('error', error)
  },
  end (owner) {
    owner._readyState = kClosing
    owner[kChannel].end()
  },
  closed (owner) {
    if (owner._closeTimer) clearTimeout(owner._closeTimer)
    owner.emitClose()
  }
}

const openWebSocket = webSocketOpener(handlers)

/** @param {Buffer} data @param {string} type */
function converted (data, type) {
  if (type === 'arraybuffer') {
    return data.byteLength === data.buffer.byteLength
      ? data.buffer
      : data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)
  }
  const fragments = data.length === 0 ? [] : [data]
  return type === 'blob' ? new Blob(fragments) : fragments
}

/** @param {Channel} channel */
function destroy (channel) {
  channel.destroy()
}

/** @param {Native} self */
function setCloseTimer (self) {
  self._closeTimer = setTimeout(destroy, self._closeTimeout, self[kChannel])
}

// -- Sending ---------------------------------------------------------------------------------------

/** @param {number} flags @param {{ binary?: boolean, compress?: boolean, fin?: boolean }} options */
function flagsOf (flags, options) {
  if ('binary' in options) flags = (flags & ~0xf) | (options.binary ? kBinary : kText)
  if ('compress' in options && !options.compress) flags &= ~kFrameCompress
  if ('fin' in options && !options.fin) flags &= ~kFrameFin
  return flags
}

/** @param {unknown} data @returns {Uint8Array | Blob} a Blob is returned as it is */
function toBytes (data) {
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return isBlob(data) ? data : Buffer.from(/** @type {string | number[]} */ (data)) // Buffer.from() throws for other values.
}

/** @param {unknown} value @returns {value is Blob} */
function isBlob (value) {
  const blob = /** @type {Partial<Blob> & { [Symbol.toStringTag]?: unknown }} */ (value)
  return typeof blob === 'object' && typeof blob.arrayBuffer === 'function' && typeof blob.type === 'string' &&
    typeof blob.stream === 'function' && (blob[Symbol.toStringTag] === 'Blob' || blob[Symbol.toStringTag] === 'File')
}

/** @param {Native} self @param {number} opcode @param {unknown} data @param {unknown} mask @param {unknown} callback */
function sendControl (self, opcode, data, mask, callback) {
  if (typeof data === 'function') {
    callback = data
    data = undefined
  } else if (typeof mask === 'function') {
    callback = mask
  }
  if (typeof data === 'number') data = data.toString()
  if (self._readyState !== kOpen) return sendAfterClose(self, data, /** @type {Callback | undefined} */ (callback))
  data = data || kEmpty
  if (typeof data !== 'string' && !(data instanceof Uint8Array)) data = toBytes(data)
  const sent = /** @type {Sent} */ (data)
  const done = /** @type {Callback | undefined} */ (callback)
  if (sizeOf(sent) > kControlBytesMax) throw new RangeError('The data size must not be greater than 125 bytes')
  if (self[kPending] === undefined && isBlob(sent)) self[kPending] = { queue: [], bytes: 0 }
  if (self[kPending] === undefined) {
    self[kChannel].send(opcode | kFrameFin, /** @type {string | Uint8Array} */ (sent), done)
  } else {
    enqueue(self, opcode | kFrameFin, sent, done)
  }
}

/** @param {Sent} data */
function sizeOf (data) {
  if (typeof data === 'string') return Buffer.byteLength(data)
  return data instanceof Uint8Array ? data.byteLength : data.size
}

/** @param {number | undefined} code @param {unknown} data */
function closePayload (code, data) {
  if (code === undefined) return kEmpty
  if (typeof code !== 'number' || !isCloseCode(code)) {
    throw new TypeError('First argument must be a valid error code number')
  }
  const reason = /** @type {string | Uint8Array | undefined} */ (data) // Other values are refused below.
  if (reason === undefined || !reason.length) {
    const payload = Buffer.allocUnsafe(2)
    payload.writeUInt16BE(code, 0)
    return payload
  }
  const length = Buffer.byteLength(reason)
  if (length > kReasonBytesMax) throw new RangeError('The message must not be greater than 123 bytes')
  const payload = Buffer.allocUnsafe(2 + length)
  payload.writeUInt16BE(code, 0)
  if (typeof reason === 'string') payload.write(reason, 2)
  else if (reason instanceof Uint8Array) payload.set(reason, 2)
  else throw new TypeError('Second argument must be a string or a Uint8Array')
  return payload
}

/** Status codes of RFC 6455, section 7.4; 1012 to 1014 are from its registry. @param {number} code */
function isCloseCode (code) {
  return (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) ||
    (code >= 3000 && code <= 4999)
}

/** @param {State} self @param {unknown} data @param {Callback | undefined} callback */
function sendAfterClose (self, data, callback) {
  if (data) self[kLost] = (self[kLost] ?? 0) + sizeOf(typeof data === 'string' ? data : toBytes(data))
  if (!callback) return
  const error = new Error(`WebSocket is not open: readyState ${self._readyState} (${kStates[self._readyState]})`)
  nodeProcess.nextTick(callback, error)
}

// -- Blobs: frames that are sent after a Blob wait until it has been read --------------------------

/** @param {Native} self @param {number} flags @param {Sent} data @param {Callback | undefined} callback */
function enqueue (self, flags, data, callback) {
  const pending = /** @type {Pending} */ (self[kPending])
  pending.bytes += sizeOf(data)
  pending.queue.push({ flags, data, callback })
  if (pending.queue.length === 1) readNext(self)
}

/** @param {Native} self */
function readNext (self) {
  const pending = /** @type {Pending} */ (self[kPending])
  const { queue } = pending
  while (queue.length !== 0) {
    const { flags, data, callback } = queue[0]
    if (isBlob(data)) {
      data.arrayBuffer().then(
        (/** @type {ArrayBuffer} */ bytes) => onBlob(self, bytes),
        (/** @type {Error} */ error) => nodeProcess.nextTick(onBlobError, self, error))
      return
    }
    queue.shift()
    pending.bytes -= sizeOf(data)
    self[kChannel].send(flags, data, callback)
  }
  self[kPending] = undefined
}

/** @param {Native} self @param {ArrayBuffer} bytes */
function onBlob (self, bytes) {
  if (/** @type {Duplex} */ (self._socket).destroyed) {
    nodeProcess.nextTick(failPending, self, new Error('The socket was closed while the blob was being read'))
    return
  }
  const pending = /** @type {Pending} */ (self[kPending])
  const { flags, callback } = /** @type {Pending['queue'][number]} */ (pending.queue.shift())
  pending.bytes -= bytes.byteLength
  self[kChannel].send(flags, new Uint8Array(bytes), callback)
  readNext(self)
}

/** @param {Native} self @param {Error} error */
function failPending (self, error) {
  for (const { callback } of /** @type {Pending} */ (self[kPending]).queue) if (typeof callback === 'function') callback(error)
}

/** @param {Native} self @param {Error} error */
function onBlobError (self, error) {
  failPending(self, error)
  if (self._readyState === kClosed) return
  if (self._readyState === kOpen) {
    self._readyState = kClosing
    setCloseTimer(self)
  }
  self[kChannel].end()
  if (self._errorEmitted) return
  self._errorEmitted = true
  self.emit('error', error)
}

module.exports = { NativeWebSocket: WebSocket, kChannel, whileUpgrading }
