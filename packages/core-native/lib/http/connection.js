'use strict'

// Handles the records of a connection. With exchange.js this replaces the part of Node's _http_server.js between the parser and the
// application: events come from records instead of a parser. Their order and moments, and the default answers, follow Node; tests compare
// the two.

const { Buffer } = require('node:buffer')
const diagnosticsChannel = require('node:diagnostics_channel')
const os = require('node:os')
const R = require('../records/records')
const { Addresses, NearEnd } = require('./addresses')
const { HttpSocket, hasLostReader, isUnread, materialise } = require('./socket')
const { SecureSocket } = require('./secure-socket')
const { TlsFacts } = require('../tls/facts')
const { failureOf, takeError } = require('../tls/failure')
const { blockDone, finishCopied, forgetExtra, hold, noteReader, resumeWrite } = require('./socket-output')
const { dropWindows, tellLeft } = require('./file-windows')
const { rememberOutside } = require('./outside')
const { forgetStream, resumeStreams } = require('./stream-credit')
const { State, isLight, ownMessage, publish, uncount, updateLoop } = require('./socket-state')
const { systemError } = require('../base/system-error')
const { onSocketError, showData } = require('./socket-listeners')
const { connectionClosed } = require('./connection-end')
const { endRefused, isBodyRefused } = require('./body-limit')
const { onRequest, onBody, onBodyEnd, onThrown, forgetContext, copy } = require('./exchange')
const { onSilence } = require('./idle-time')
const { served } = require('./served')
const { zeroIsALimit } = require('../node-private/node-internals')
const { answerOf, makeLast } = require('../node-private/response')
const { allowsHalfOpen, connectionsOf, countConnection } = require('../node-private/server')
const { restartTimeout } = require('../node-private/socket')
const { describeError, describeAgain } = require('./client-error')
const {
  kState, kOutgoing, kReceiving, kUnsent, kHeldWrite, kOnClosed, kRefusal, kListener, kChannel, kErrorListener, kParent, kRemote,
  kTls, kTlsError, kOnCertificate, kEndsIn, kRead, kWritten
} = require('./symbols')

const {
  kOpen, kRequest, kBody, kBodyBlock, kBodyEnd, kEof, kClosed, kCredit, kError, kBlockDone,
  kMessage, kMessageBlock, kControl, kCloseFrame, kFrameError, kHello, kTlsFailure, kNewSession, kKeyLog, kPeerCertificate,
  kSilence, kUnseen
} = R.RequestType
const { ErrorKind, Mask, Shift, Word } = R
const { kRelease } = R.ReplyType
const kEPIPE = os.constants.errno.EPIPE

const netServerSocket = diagnosticsChannel.channel('net.server.socket')

/** @import { EngineResponse, EngineSecureSocket, EngineServer, EngineSocket } from '../../types/internal' */
/** @import { SocketChannel } from '../../types/internal' */
/** @import { Lane } from '../records/lane' */

/** Servers by the id with which records name them. @type {Map<number, EngineServer>} */
const servers = new Map()

/** @param {Int32Array} words @param {number} w @returns {number} the flags of the record whose words begin at `w` */
const flagsAt = (words, w) => words[w + Word.kRecordFlags] >>> Shift.kRecordFlags

/** Handles one record. @param {Lane} lane @param {Int32Array} words @param {Buffer} bytes @param {number} at */
function onRecord (lane, words, bytes, at) {
  const w = at >>> 2
  const type = words[w + Word.kRecordType] & Mask.kRecordType
  if (type === kBlockDone) return onBlockDone(lane, words, w)
  if (type === kHello) return onHello(lane, words, bytes, at)
  if (type === kNewSession) return onNewSession(lane, words, bytes, at)
  const slot = words[w + Word.kRecordSlot]
  if (type === kKeyLog) {
    const text = at + R.kPayloadAt
    lane.keyLog = { slot, lines: bytes.toString('latin1', text, text + words[w + Word.kKeyLogBytes]) }
    return
  }
  if (type === kOpen) return onOpen(lane, slot, words, bytes, at)
  let entry = lane.sockets[slot]
  if (entry === undefined) {
    // The lane needs its lent block back, even for a closed slot.
    if (type === kBodyBlock && (flagsAt(words, w) & R.kFlagLent) !== 0) {
      lane.receiveBlocks.take(words[w + Word.kBodyBlockId], 0, true)
    }
    if (type !== kRequest) return
    entry = openStream(lane, slot, words, w)
  }
  forgetContext()
  switch (type) {
    // Cast: `entry` is a channel only for a WebSocket, which gets no requests.
    case kRequest: return onRequest(lane, /** @type {EngineSocket} */ (entry), words, bytes, at)
    case kMessage: return /** @type {SocketChannel} */ (entry[kChannel]).onMessage(words, bytes, at)
    case kMessageBlock:
    case kControl:
    case kCloseFrame:
    case kFrameError: return /** @type {SocketChannel} */ (entry[kChannel]).onRecord(words, bytes, at)
    case kCredit:
      if (entry[kChannel] !== undefined) {
        /** @type {SocketChannel} */ (entry[kChannel]).onCredit(words[w + Word.kCreditBytes])
      }
      // Code that writes directly to a WebSocket's socket gets the credit, too, because a credit does not say whose bytes were sent.
      if (/** @type {EngineSocket} */ (entry)[kUnsent] > 0) {
        onCredit(/** @type {EngineSocket} */ (entry), words[w + Word.kCreditBytes],
          (flagsAt(words, w) & R.kFlagTaken) !== 0)
      }
      return
  }
  // For a WebSocket whose socket is unused, `entry` is the channel.
  const socket = entry[kChannel] === undefined
    ? /** @type {EngineSocket} */ (entry)
    : /** @type {SocketChannel} */ (entry[kChannel]).keepSocket()
  switch (type) {
    case kBody: return onBody(socket, copy(bytes, at + R.kPayloadAt, words[w + Word.kBodyBytes]))
    case kBodyBlock: {
      const isLent = (flagsAt(words, w) & R.kFlagLent) !== 0
      return onBody(socket, lane.receiveBlocks.take(words[w + Word.kBodyBlockId], words[w + Word.kBodyBytes], isLent))
    }
    case kBodyEnd: return onBodyEnd(lane, socket, words, bytes, at)
    case kEof: return (flagsAt(words, w) & R.kFlagUndecided) !== 0 ? decideAtEnd(socket) : onEof(socket)
    case kError: return onError(socket, words[w + Word.kErrorKind], faultOf(words, bytes, at))
    case kSilence: return onSilence(socket, words[w + Word.kSilenceMs] >>> 0, words[w + Word.kSilenceSinceMs],
      flagsAt(words, w))
    case kUnseen:
      socket[kRead] += words[w + Word.kUnseenRead] >>> 0
      socket[kWritten] += (words[w + Word.kUnseenWrittenLow] >>> 0) +
        (words[w + Word.kUnseenWrittenHigh] >>> 0) * 2 ** 32
      return
    case kPeerCertificate: return onPeerCertificate(socket, words, bytes, at)
    case kTlsFailure: return onTlsFailure(socket, failureOf(words, bytes, at))
    case kClosed: return onClosed(lane, slot, socket, words[w + Word.kClosedError])
  }
}

// -- Connections ---------------------------------------------------------------------------------

/** @param {Lane} lane @param {number} slot @param {Int32Array} words @param {Buffer} bytes @param {number} at */
function onOpen (lane, slot, words, bytes, at) {
  const w = at >>> 2
  const server = servers.get(words[w + Word.kOpenServerId])
  const remotePort = words[w + Word.kOpenRemotePort] & Mask.kOpenRemotePort
  const family = words[w + Word.kOpenFamily] >>> Shift.kOpenFamily
  const remoteBytes = words[w + Word.kOpenRemoteBytes] & Mask.kOpenRemoteBytes
  const localBytes = words[w + Word.kOpenLocalBytes] >>> Shift.kOpenLocalBytes
  const text = at + R.kOpenFixedBytes
  const remote = bytes.toString('latin1', text, text + remoteBytes)
  const local = bytes.toString('latin1', text + remoteBytes, text + remoteBytes + localBytes)
  // The client's address is often that of the previous connection, such as a proxy's: reuse its string.
  if (remote !== lane.remoteAddress) lane.remoteAddress = remote
  const localPort = words[w + Word.kOpenLocalPort]
  let near = server?.[kListener].near
  if (near === undefined || local !== near.address || localPort !== near.port || family !== near.family) {
    near = new NearEnd(server, family, local, localPort)
    if (server !== undefined) server[kListener].near = near
  }
  const addresses = new Addresses(near, lane.remoteAddress, remotePort)
  const flags = flagsAt(words, w)
  const isSecure = (flags & R.kFlagSecure) !== 0
  const Socket = isSecure ? SecureSocket : HttpSocket
  const socket = new Socket(lane, slot, server, addresses)
  if (server !== undefined) socket[kState] |= policiesBit(server)
  if (isSecure) {
    const facts = new TlsFacts(words, bytes, align(text + remoteBytes + localBytes))
    facts.isEstablished = (flags & (R.kFlagFailed | R.kFlagPending)) === 0
    socket[kTls] = facts.seenBy(server?.[kListener].tls)
  }
  lane.sockets[slot] = socket
  rememberOutside()
  const { keyLog } = lane
  lane.keyLog = null
  updateLoop(socket)
  // A connection of a shared port comes with its request, and no other process has it: it is served even if this server does not
  // listen yet, or was closed and the other processes do not know that yet.
  const isShared = (flags & R.kFlagShared) !== 0
  const isPending = (flags & R.kFlagPending) !== 0
  // The server was closed before kOpen: reset the connection, as the kernel resets connections that were not accepted. A closed server
  // still serves connections with TLS: they were accepted before their handshake.
  if (server === undefined || (!server.listening && !isShared && !isSecure)) {
    socket[kState] = State.kDestroyed
    publish(socket, R.ReplyType.kReset)
    return
  }
  if (isPending) { // The handshake is not done: the connection is only counted, so that close() waits for it.
    socket[kState] |= State.kFailed
    countConnection(server)
    server[kListener].sockets.add(socket)
    return
  }
  // maxConnections does not limit a closed server, which still gets connections that it accepted before.
  if (server.listening && isFull(server)) {
    socket[kState] = State.kDestroyed
    publish(socket, R.ReplyType.kDestroy)
    server.emit('drop', addresses.dropData())
    return
  }
  if ((flags & R.kFlagFailed) !== 0) {
    socket[kState] = State.kFailed
    if (keyLog !== null) tellSecrets(socket, keyLog.lines)
    return
  }
  served.connections++
  countConnection(server)
  server[kListener].sockets.add(socket)
  if (server.timeout) socket.setTimeout(server.timeout)
  server[kListener].resource.runInAsyncScope(server.emit, server, 'connection', socket)
  if (keyLog !== null) tellSecrets(socket, keyLog.lines)
  if (isSecure && !socket.destroyed) server[kListener].resource.runInAsyncScope(server.emit, server, 'secureConnection', socket)
  if (netServerSocket.hasSubscribers) netServerSocket.publish({ socket })
}

/** @param {EngineServer} server */
function isFull (server) {
  const { maxConnections } = server
  return (maxConnections || (zeroIsALimit && maxConnections === 0)) && connectionsOf(server) >= maxConnections
}

/**
 * Returns State.kHasPolicies for a server any of whose responses may have a policy, otherwise 0. With the rules of RFC 9111 a response gets a
 * policy only from setCachePolicy(), which sets the bit itself.
 *
 * @param {EngineServer} server
 */
function policiesBit (server) {
  const { cache } = server[kListener]
  return cache !== null && cache.rules !== 'rfc9111' ? State.kHasPolicies : 0
}

// Returns the bit kHasPolicies of a new stream: its connection's bit if both have the same server.
/** @param {EngineSocket} parent @param {EngineServer | undefined} server */
function streamsPoliciesBit (parent, server) {
  if (server === parent.server) return parent[kState] & State.kHasPolicies
  return server === undefined ? 0 : policiesBit(server)
}

// Makes the socket of an HTTP/2 stream, which opens with its first record and has the addresses of its connection.
/** @param {Lane} lane @param {number} slot @param {Int32Array} words @param {number} w */
function openStream (lane, slot, words, w) {
  const parent = /** @type {EngineSocket} */ (lane.sockets[words[w + Word.kRecordExtra]])
  const server = servers.get(words[w + Word.kRequestServerId])
  const Socket = parent[kTls] === undefined ? HttpSocket : SecureSocket
  const socket = new Socket(lane, slot, server, parent[kRemote])
  const facts = parent[kTls]
  if (facts !== undefined) socket[kTls] = facts.seenBy(server?.[kListener].tls)
  socket[kParent] = parent
  socket[kState] = State.kStream | streamsPoliciesBit(parent, server)
  if (parent[kEndsIn] !== null) parent[kEndsIn] = null
  lane.sockets[slot] = socket
  if ((parent[kState] & State.kHttp2) === 0) {
    parent[kState] |= State.kHttp2 | State.kServed
    // server.timeout applies to the streams, not to their connection.
    if (parent.timeout) parent.setTimeout(0)
  }
  updateLoop(socket)
  if (server === undefined || parent.destroyed) {
    socket[kState] |= State.kDestroyed
    publish(socket, R.ReplyType.kDestroy)
  } else if (server.timeout) {
    socket.setTimeout(server.timeout)
  }
  return socket
}

/** @param {number} at */
function align (at) {
  return (at + R.kAlignBytes - 1) & ~(R.kAlignBytes - 1)
}

// Asks the application about a ClientHello. The handshake waits for the answer.
/** @param {Lane} lane @param {Int32Array} words @param {Buffer} bytes @param {number} at */
function onHello (lane, words, bytes, at) {
  const w = at >>> 2
  const id = words[w + Word.kHelloId]
  const server = servers.get(words[w + Word.kHelloServerId])
  const tls = server?.[kListener].tls
  const flags = flagsAt(words, w)
  const text = at + R.kHelloTextAt
  const end = text + words[w + Word.kHelloServernameBytes]
  const servername = bytes.toString('latin1', text, end)
  /** @type {string[]} */
  const protocols = []
  for (let from = end; from < end + words[w + Word.kHelloAlpnBytes];) {
    const size = bytes[from]
    protocols.push(bytes.toString('latin1', from + 1, from += 1 + size))
  }
  const sessionId = copy(bytes, end + words[w + Word.kHelloAlpnBytes], words[w + Word.kHelloSessionIdBytes])
  forgetContext()
  if (!tls) return lane.native.answerHello(lane.index, id, { isRefused: true })
  const hello = {
    servername,
    protocols,
    sessionId,
    hasTicket: (flags & R.kHelloTicket) !== 0,
    wantsStatus: (flags & R.kHelloStatus) !== 0
  }
  tls.ask(server, hello, (/** @type {import('../../types/binding').HelloAnswer} */ answer) => {
    // An open server takes the error with kTlsFailure; for a closed one it is dropped here.
    if (answer.isRefused && answer.reason !== undefined && !servers.has(server[kListener].id)) takeError(answer.reason)
    lane.native.answerHello(lane.index, id, answer)
  })
}

// Emits 'newSession'. The handshake waits until the application has stored the session.
/** @param {Lane} lane @param {Int32Array} words @param {Buffer} bytes @param {number} at */
function onNewSession (lane, words, bytes, at) {
  const w = at >>> 2
  const id = words[w + Word.kNewSessionId]
  const text = at + R.kNewSessionTextAt
  const sessionId = copy(bytes, text, words[w + Word.kNewSessionSessionIdBytes])
  const session = copy(bytes, text + words[w + Word.kNewSessionSessionIdBytes], words[w + Word.kNewSessionSessionBytes])
  let isDone = false
  const done = () => {
    if (isDone) return
    isDone = true
    lane.native.answerHello(lane.index, id, {})
  }
  forgetContext()
  if (!servers.get(words[w + Word.kNewSessionServerId])?.emit('newSession', sessionId, session, done)) done()
}

/** @param {EngineSocket} socket @param {string} lines */
function tellSecrets (socket, lines) {
  for (const line of lines.split(/(?<=\n)/)) socket.server.emit('keylog', Buffer.from(line, 'latin1'), socket)
}

/** @param {EngineSocket} socket @param {Int32Array} words @param {Buffer} bytes @param {number} at */
function onPeerCertificate (socket, words, bytes, at) {
  const w = at >>> 2
  const error = words[w + Word.kPeerCertificateError]
  // Cast: the facts are no ForeignFacts, because with HTTP.SYS, which alone sends this record, all servers see the same facts.
  if (error === 0) {
    /** @type {TlsFacts} */ (socket[kTls]).setPeer(words[w + Word.kPeerCertificateVerifyResult],
      copy(bytes, at + R.kPeerCertificateAt, words[w + Word.kPeerCertificateBytes]))
  }
  socket[kOnCertificate]?.(error)
}

/** @param {EngineSocket} socket @param {Error} error */
function onTlsFailure (socket, error) {
  if (/** @type {EngineSecureSocket} */ (socket)[kTls].isEstablished) {
    socket[kTlsError] = error // kClosed follows and ends the socket with this error.
    return
  }
  const { server } = socket
  if (server === undefined) return
  server.emit('tlsClientError', error, socket)
  // On an https.Server, Node's own listener of 'tlsClientError' emits 'clientError'.
  if (!server[kListener].isSecure && !server.emit('clientError', error, socket)) socket.destroy(error)
}

/** @param {Lane} lane @param {number} slot @param {EngineSocket} socket @param {number} errno */
function onClosed (lane, slot, socket, errno) {
  lane.sockets[slot] = undefined
  lane.writer.command(kRelease, 0, slot)
  const bits = socket[kState] |= State.kLaneClosed
  updateLoop(socket)
  // A short response with a file emits 'finish' before the socket's 'close'.
  if ((bits & State.kFileOut) !== 0) tellLeft(socket)
  forgetExtra(socket)
  try {
    socketClosed(socket, bits, errno)
  } finally {
    if ((bits & State.kWebSocket) !== 0) /** @type {SocketChannel} */ (socket[kChannel]).onClosed()
    if ((bits & State.kStream) !== 0) forgetStream(socket, resumeWrite)
    if ((bits & State.kFileOut) !== 0) dropWindows(socket)
  }
}

/** @param {EngineSocket} socket @param {number} bits @param {number} errno */
function socketClosed (socket, bits, errno) {
  const closed = socket[kOnClosed]
  if (closed !== undefined) {
    socket[kOnClosed] = undefined
    closed()
    return
  }
  if (socket[kTlsError] !== undefined && (bits & State.kDestroyed) === 0) {
    if (isLight(socket)) materialise(socket)
    socket.destroy(socket[kTlsError])
    return
  }
  const reportsError = errno !== 0 && (bits & State.kDestroyed) === 0 &&
    (!isLight(socket) || socket[kErrorListener] !== undefined ||
      ((bits & State.kUpgraded) === 0 && socket.server?.listenerCount('clientError') > 0))
  if (!reportsError && isLight(socket)) {
    if ((bits & State.kDestroyed) === 0) {
      socket[kState] |= State.kDestroyed
      uncount(socket)
    }
    connectionClosed(socket)
    return
  }
  if (isLight(socket)) materialise(socket)
  if ((bits & State.kDestroyed) !== 0) { // The socket was destroyed while light, and emits no events.
    connectionClosed(socket)
  } else if (errno !== 0) {
    if (errno === kEPIPE) failWrite(socket)
    else socket.destroy(systemError(-errno, 'read'))
  } else if (!socket.destroyed) {
    if ((bits & (State.kFailed | State.kPeerEnded)) === State.kFailed && socket.writableEnded &&
      !socket.writableFinished) {
      socket.once('finish', () => endReadable(socket)) // After 'end' the socket destroys itself.
      return
    }
    const isCutShort = (bits & State.kCloseSoon) !== 0 && (bits & State.kFailed) === 0
    if ((bits & State.kPeerEnded) === 0 && !isCutShort) endReadable(socket)
    if ((bits & State.kUpgraded) !== 0) {
      // A stream with both sides ended destroys itself once its received bytes are read.
      if (!socket.writableEnded || socket.writableLength !== 0) socket.destroy()
      else if (isUnread(socket)) socket.writableFinished ? socket.destroy() : socket.once('finish', () => socket.destroy())
      else if (hasLostReader(socket)) isCutShort ? socket.destroy() : socket.resume() // resume() leads to the end behind unread bytes.
    } else if (socket.writableLength === 0) {
      socket.destroySoon() // Node ends its side after the client has ended: 'finish' comes before 'close'.
    } else {
      failWrite(socket)
    }
  }
}

// Fails the write that waits, and with it all later ones, because the client takes no more bytes. This destroys the socket.
/** @param {EngineSocket} socket */
function failWrite (socket) {
  const error = systemError(-kEPIPE, 'write')
  const held = socket[kHeldWrite]
  hold(socket, null)
  if (held === null) socket.destroy(error)
  else held.callback(error)
}

/** @param {Int32Array} words @param {Buffer} bytes @param {number} at @returns {import('./client-error').Fault} */
function faultOf (words, bytes, at) {
  const w = at >> 2
  const size = words[w + Word.kErrorBytes]
  const segment = copy(bytes, at + R.kErrorTextAt, size)
  return {
    segment,
    prefix: copy(bytes, at + R.kErrorTextAt + size, words[w + Word.kErrorPrefixBytes]),
    from: words[w + Word.kErrorFrom]
  }
}

/** @param {EngineSocket} socket @param {number} kind @param {import('./client-error').Fault} fault */
function onError (socket, kind, fault) {
  socket[kState] |= State.kFailed
  // JavaScript has refused the body already, and answers when the request has its turn.
  const receiving = socket[kReceiving]
  if (receiving !== null && isBodyRefused(socket, receiving)) return
  // A light socket that is destroyed emits nothing, and may have no server for 'clientError'.
  if (isLight(socket) && (socket[kState] & State.kDestroyed) !== 0) return
  if (isLight(socket)) materialise(socket)
  if (socket.destroyed) return
  const first = socket[kRefusal]
  const error = first === undefined ? describeError(kind, fault, socket) : describeAgain(first, fault.segment)
  if (first === undefined) socket[kRefusal] = error
  if (kind === ErrorKind.kBodyTooLarge && receiving !== null && first === undefined) {
    return endRefused(socket, receiving, error)
  }
  if (kind !== ErrorKind.kIncomplete || first !== undefined) {
    onSocketError.call(socket, error)
    if ('rawPacket' in error) showData(socket, fault.segment)
    return
  }
  // Node reports an incomplete message in its listener of 'end'.
  socket.prependOnceListener('end', () => onSocketError.call(socket, error))
  endReadable(socket)
}

/** @param {EngineSocket} socket @param {number} bytes @param {boolean} isTaken the client's socket has taken everything so far */
function onCredit (socket, bytes, isTaken) {
  const unsent = socket[kUnsent] - bytes
  socket[kUnsent] = unsent > 0 ? unsent : 0
  noteReader(socket, isTaken)
  if (!isLight(socket)) restartTimeout(socket)
  if ((socket[kState] & State.kStream) === 0) return resumeWrite(socket)
  try {
    resumeStreams(socket, resumeWrite)
  } finally { // The write must be completed even if a listener throws.
    finishCopied(socket)
  }
}

/** @param {Lane} lane @param {Int32Array} words @param {number} w */
function onBlockDone (lane, words, w) {
  const id = words[w + Word.kBlockDoneBlockId] >>> 0
  const errno = words[w + Word.kBlockDoneError]
  const sent = lane.blocks.take(id)
  if (sent === undefined) return
  // A block that was dropped, or a file that could not be sent, is followed by kClosed, which ends the write.
  if (errno !== 0) {
    if ('done' in sent.write) sent.write.failed?.(errno, (words[w + Word.kBlockDoneSentLow] >>> 0) + (words[w + Word.kBlockDoneSentHigh] >>> 0) * 2 ** 32)
    return
  }
  if ('done' in sent.write) sent.write.done()
  else blockDone(sent.write, id)
}

/** @param {EngineSocket} socket */
function endReadable (socket) {
  socket[kState] |= State.kPeerEnded
  socket.push(null)
  socket.read(0) // Emits 'end' even if nothing reads the socket.
}

// Accepts an undecided upgrade as plain bytes when the client has ended its direction. Otherwise the end would never be reported,
// and bytes that are not read would keep the connection open.
/** @param {EngineSocket} socket */
function decideAtEnd (socket) {
  if ((socket[kState] & State.kUndecided) === 0) return
  socket[kState] &= ~State.kUndecided
  publish(socket, R.ReplyType.kUpgradeAccept)
}

/** @param {EngineSocket} socket */
function onEof (socket) {
  if (isLight(socket)) socket[kState] |= State.kPeerEnded
  else if (!socket.destroyed) endReadable(socket)
  updateLoop(socket)
  if ((socket[kState] & State.kWebSocket) !== 0) /** @type {SocketChannel} */ (socket[kChannel]).onEnd()
  if ((socket[kState] & State.kUpgraded) !== 0 || socket.destroyed) return
  if (!allowsHalfOpen(socket.server)) {
    socket.end()
    return
  }
  const outgoing = socket[kOutgoing]
  if (outgoing !== null && outgoing.length !== 0) makeLast(outgoing[outgoing.length - 1])
  else if (ownMessage(socket)) makeLast(/** @type {EngineResponse} */ (answerOf(socket)))
  else socket.end()
}

module.exports = { servers, onRecord, onThrown }
