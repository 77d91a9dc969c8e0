'use strict'

// Looks, when the package loads, for the members of `ws` that its documentation does not promise (ws-members.js), and finds out what
// this package has to know of them. types/ws-internals.d.ts is the inventory.

const { Duplex } = require('node:stream')
const ws = require('ws')
const { internals } = require('@httpsys/core-native')
const { version } = require('ws/package.json')
const { kDeflateMembers, kSenderMembers, kServerMembers, kServerMethods, kWebSocketMembers, kWebSocketMethods } = require('./ws-members')

/** @param {string} what */
const unknownWs = (what) => new internals.WsInternalsError(version, what)

/** @param {object} holder @param {string[]} names @param {string} where @param {(value: unknown) => boolean} [isFine] */
function check (holder, names, where, isFine = () => true) {
  for (const name of names) {
    if (!(name in holder) || !isFine(/** @type {Record<string, unknown>} */ (holder)[name])) throw unknownWs(`${where}${name}`)
  }
}

/** @param {unknown} value */
const isMethod = (value) => typeof value === 'function'

// Finds the symbol by which ws marks a socket that has a WebSocket: completeUpgrade() refuses a marked socket.
function findSocketMark () {
  const socket = new Duplex({ read () {}, write (_chunk, _encoding, callback) { callback() } })
  const before = new Set(Object.getOwnPropertySymbols(socket))
  const webSocket = new ws.WebSocket(null, undefined, { autoPong: true })
  check(webSocket, kWebSocketMembers, 'WebSocket#')
  check(webSocket, kWebSocketMethods, 'WebSocket#', isMethod)
  webSocket.setSocket(socket, Buffer.alloc(0), {})
  const mark = Object.getOwnPropertySymbols(socket).find((symbol) => !before.has(symbol) &&
  /** @type {Duplex & Record<symbol, unknown>} */ (socket)[symbol] === webSocket)
  if (mark === undefined) throw unknownWs('symbol of the socket\'s WebSocket')
  webSocket.on('error', () => {})
  socket.destroy()
  return mark
}

/** Members that remain fields: they are read and written all the time. */
const kOwnMembers = ['_events', '_eventsCount', '_readyState', '_socket']

// Finds the fields that two new WebSockets of a server have in common. Few WebSockets ever change one.
/** @param {import('../types/ws-internals').WsServerOptions} options of a server @returns {Map<string | symbol, unknown>} */
function findDefaults ({ closeTimeout }) {
  const [one, other] = [1, 2].map(() => /** @type {object} */ (new ws.WebSocket(null, undefined, { closeTimeout })))
  const names = Reflect.ownKeys(one).filter((name) => Reflect.get(one, name) === Reflect.get(other, name) &&
    !kOwnMembers.includes(/** @type {string} */ (name)))
  return new Map(names.map((name) => [name, Reflect.get(one, name)]))
}

function collect () {
  if (!version.startsWith('8.')) throw unknownWs('API of version 8')
  const server = new ws.WebSocketServer({ noServer: true })
  check(server, kServerMembers, 'WebSocketServer#')
  check(server, kServerMethods, 'WebSocketServer#', isMethod)
  const { PerMessageDeflate, Sender } = ws
  if (!isMethod(PerMessageDeflate)) throw unknownWs('PerMessageDeflate')
  check(new PerMessageDeflate({}), kDeflateMembers, 'PerMessageDeflate#')
  if (!isMethod(Sender)) throw unknownWs('Sender')
  check(new Sender(new Duplex()), kSenderMembers, 'Sender#')
  return {
    kSocketMark: findSocketMark(),
    extensionName: PerMessageDeflate.extensionName,
    kDefaults: findDefaults(server.options)
  }
}

// Returns ws' own empty Buffer. Programs, and ws' own tests, compare with it by identity.
function findEmpty () {
  const { _closeMessage } = new ws.WebSocket(null, undefined, {})
  if (!Buffer.isBuffer(_closeMessage) || _closeMessage.length !== 0) throw unknownWs('empty WebSocket#_closeMessage')
  return _closeMessage
}

/** @param {import('../types/ws-internals').WebSocketState['_extensions']} extensions as negotiated @param {string} name @returns {import('../types/ws-internals').PerMessageDeflate | undefined} */
function deflateOf (extensions, name) {
  return extensions[name]
}

module.exports = { ...collect(), kEmpty: findEmpty(), deflateOf }
