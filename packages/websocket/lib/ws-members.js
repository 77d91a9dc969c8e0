'use strict'

// Names of the undocumented members of ws' classes that this package reads, writes or overrides. ws-internals.js checks when the package
// loads that each exists; types/ws-internals.d.ts explains each. In this package ESLint refuses any other name that begins with an
// underscore, and private names of Node.

/** Fields of a WebSocket made for a server. */
const kWebSocketMembers = [
  '_binaryType', '_closeCode', '_closeFrameReceived', '_closeFrameSent', '_closeMessage', '_closeTimer', '_closeTimeout',
  '_errorEmitted', '_extensions', '_paused', '_protocol', '_readyState', '_receiver', '_sender', '_socket', '_isServer',
  '_autoPong', '_autoPongComplete', '_maxPendingAutoPongs', '_pendingAutoPongs'
]
const kWebSocketMethods = ['setSocket', 'emitClose', 'send', 'ping', 'pong', 'close', 'terminate', 'pause', 'resume']
/** Fields of a WebSocketServer. */
const kServerMembers = ['_shouldEmitClose', '_state', 'options', 'clients']
const kServerMethods = ['completeUpgrade', 'handleUpgrade', 'shouldHandle', 'close', 'address']
/** Fields of a PerMessageDeflate. */
const kDeflateMembers = ['_options', '_threshold', 'params']
/** Fields of a Sender. */
const kSenderMembers = ['_bufferedBytes']

/** All known private names that begin with an underscore. */
const kWsNames = [...kWebSocketMembers, ...kServerMembers, ...kDeflateMembers, ...kSenderMembers].filter((name) => name.startsWith('_'))

module.exports = { kDeflateMembers, kSenderMembers, kServerMembers, kServerMethods, kWebSocketMembers, kWebSocketMethods, kWsNames }
