'use strict'

// The members of Node's classes that its documentation does not promise and that this package reads, writes, calls or overrides,
// by name. Each is looked for when the package loads. types/node-internals.d.ts says what each one is. ESLint refuses any other
// private name in lib, and outside lib/node-private these on objects other than `this` (tools/eslint/private-names.js).

const http = require('node:http')
const net = require('node:net')
const { InternalsError } = require('../base/errors')

/** Fields of an http.IncomingMessage. */
const kRequestFields = ['_consuming', '_dumped', '_eventsCount', '_readableState']
const kRequestMethods = ['_addHeaderLine', '_addHeaderLines', '_dump']
/** Fields of an http.ServerResponse. */
const kResponseFields = [
  '_closed', '_contentLength', '_events', '_eventsCount', '_expect_continue', '_hasBody', '_header', '_headerSent',
  '_keepAliveTimeout', '_last', '_onPendingData', '_trailer'
]
const kResponseMethods = ['_finish', '_flush', '_implicitHeader', '_send']
/** Fields of a net.Socket. */
const kSocketFields = [
  '_events', '_eventsCount', '_hadError', '_handle', '_host', '_maxListeners', '_parent', '_readableState', '_server', '_writableState',
  '_bytesDispatched'
]
const kSocketMethods = ['_getpeername', '_getsockname', '_unrefTimer']
/** Fields of an http.Server. */
const kServerFields = ['_connections', '_handle']
const kServerMethods = ['_emitCloseIfDrained', '_listen2']
/** A member that no object has from the beginning, and the function of Node whose source names it. @typedef {[name: string, user: unknown, where: string]} LateMember */

/** @type {LateMember[]} */
const kLate = [
  ['_httpMessage', http.ServerResponse.prototype.assignSocket, 'net.Socket'],
  ['_maxRequestsPerSocket', /** @type {{ _storeHeader?: unknown }} */ (http.OutgoingMessage.prototype)._storeHeader, 'http.ServerResponse']
]
/** Only set, as Node's http module sets it on its sockets; a Node without it loses nothing. */
const kHarmless = ['_paused']
/** Members that tls.js looks for when it loads, which programs without TLS do not need; `_external` when the first context is read, because a context costs too much to try. */
const kTlsMembers = ['_contexts', '_external', '_secureEstablished', '_sharedCreds']

/** Functions that node-internals.js looks for, or does without, and the one that kLate asks. */
const kFunctions = ['_connectionListener', '_createServerHandle', '_getServer', '_isLenientHeaderValidation', '_storeHeader', '_tickCallback']

/** @param {object} holder @param {string[]} names @param {string} where */
function checkFields (holder, names, where) {
  for (const name of names) if (!(name in holder)) throw new InternalsError(`${where}#${name}`)
}

/** @param {object} prototype @param {string[]} names @param {string} where */
function checkMethods (prototype, names, where) {
  for (const name of names) if (typeof Reflect.get(prototype, name) !== 'function') throw new InternalsError(`${where}.prototype.${name}`)
}

/** @param {LateMember[]} members @throws ERR_HTTPSYS_NODE_INTERNALS that names the first one that this Node's source does not have */
function checkLate (members) {
  for (const [name, user, where] of members) {
    if (typeof user !== 'function' || !Function.prototype.toString.call(user).includes(name)) throw new InternalsError(`${where}#${name}`)
  }
}

/**
 * @param {http.IncomingMessage} request @param {http.ServerResponse} response @param {http.Server} server
 * @throws ERR_HTTPSYS_NODE_INTERNALS that names the first one that this Node does not have
 */
function checkPrivateMembers (request, response, server) {
  checkFields(request, kRequestFields, 'http.IncomingMessage')
  checkMethods(http.IncomingMessage.prototype, kRequestMethods, 'http.IncomingMessage')
  checkFields(response, [...kResponseFields, 'chunkedEncoding', 'outputData', 'shouldKeepAlive'], 'http.ServerResponse')
  checkMethods(http.ServerResponse.prototype, kResponseMethods, 'http.ServerResponse')
  checkFields(new net.Socket(), kSocketFields, 'net.Socket')
  checkMethods(net.Socket.prototype, kSocketMethods, 'net.Socket')
  checkFields(server, kServerFields, 'http.Server')
  checkMethods(http.Server.prototype, kServerMethods, 'http.Server')
  const { _readableState: readable, _writableState: writable } = /** @type {net.Socket & { _readableState: object, _writableState: object }} */ (new net.Socket())
  // Whether a read is pending is an accessor since Node 20.9.
  checkFields(readable, ['closed', 'closeEmitted', 'destroyed', 'ended', 'endEmitted', 'length', 'reading', 'resumeScheduled'], 'stream.Readable#_readableState')
  checkFields(writable, ['closed', 'closeEmitted', 'destroyed', 'ended', 'ending', 'finished'], 'stream.Writable#_writableState')
  checkLate(kLate)
}

/** Every name. */
const kPrivateNames = new Set([
  ...kRequestFields, ...kRequestMethods, ...kResponseFields, ...kResponseMethods, ...kSocketFields, ...kSocketMethods, ...kServerFields, ...kServerMethods,
  ...kLate.map(([name]) => name), ...kHarmless, ...kTlsMembers, ...kFunctions
])

module.exports = { checkLate, checkPrivateMembers, kPrivateNames }
