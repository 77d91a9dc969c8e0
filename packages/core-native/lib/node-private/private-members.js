'use strict'

// Names of the undocumented members of Node's classes that this package reads, writes, calls or overrides. Loading the package checks
// that each exists, except members of a TLS context (externalOf() of tls.js says why) and members that older versions lack.
// types/node-internals.d.ts explains each. Outside lib/node-private ESLint refuses them on objects other than `this`
// (tools/eslint/private-names.js).
//
// Lists with `Plain` in their names have the members that do not begin with an underscore. ESLint refuses every name that does.
// `server` of a socket is not private: our sockets have it from their own constructor.

const http = require('node:http')
const net = require('node:net')
const { InternalsError } = require('../base/errors')

/** Fields of an http.IncomingMessage. */
const kRequestFields = ['_consuming', '_dumped', '_eventsCount', '_readableState']
const kPlainRequestFields = ['joinDuplicateHeaders', 'upgrade']
const kRequestMethods = ['_addHeaderLine', '_addHeaderLines', '_dump']
/** Fields of an http.ServerResponse. */
const kResponseFields = [
  '_closed', '_contentLength', '_events', '_eventsCount', '_expect_continue', '_hasBody', '_header', '_headerSent',
  '_keepAliveTimeout', '_last', '_onPendingData', '_trailer'
]
const kPlainResponseFields = ['chunkedEncoding', 'maxRequestsOnConnectionReached', 'outputData', 'outputSize', 'shouldKeepAlive', 'useChunkedEncodingByDefault']
const kResponseMethods = ['_finish', '_flush', '_implicitHeader', '_send']
const kPlainResponseMethods = ['assignSocket', 'detachSocket']
/** Fields of a net.Socket. */
const kSocketFields = [
  '_events', '_eventsCount', '_hadError', '_handle', '_host', '_maxListeners', '_parent', '_readableState', '_server', '_writableState',
  '_bytesDispatched'
]
const kPlainSocketFields = ['server', 'writableBuffer']
const kSocketMethods = ['_getpeername', '_getsockname', '_onTimeout', '_unrefTimer']
/** Fields of an http.Server. */
const kServerFields = ['_connections', '_handle']
/** Undocumented properties in which an http.Server keeps options of createServer(). */
const kPlainServerFields = [
  'connectionsCheckingInterval', 'highWaterMark', 'insecureHTTPParser', 'joinDuplicateHeaders', 'keepAlive', 'keepAliveInitialDelay', 'maxHeaderSize',
  'noDelay', 'rejectNonStandardBodyWrites', 'requireHostHeader'
]
/** Undocumented properties of an http.Server that older versions lack: shouldUpgradeCallback since 22.21, httpValidation since 24. */
const kNewServerFields = ['httpValidation', 'shouldUpgradeCallback']
/** An undocumented switch of an http.Server. */
const kServerSwitches = ['httpAllowHalfOpen']
const kServerMethods = ['_emitCloseIfDrained', '_listen2']
/**
 * A member that new objects do not have yet, and a function of Node whose source must contain its name.
 *
 * @typedef {[name: string, user: unknown, where: string]} LateMember
 */

/** @type {LateMember[]} */
const kLate = [
  ['_httpMessage', http.ServerResponse.prototype.assignSocket, 'net.Socket'],
  ['_maxRequestsPerSocket', /** @type {{ _storeHeader?: unknown }} */ (http.OutgoingMessage.prototype)._storeHeader, 'http.ServerResponse']
]
/** Fields that the http module adds to a socket that it serves. */
const kConnectionFields = ['_paused', 'parser']
const kParserMethods = ['onIncoming']
/** Options of createServer() that the constructor of a tls.Server keeps. */
const kTlsSettings = ['ALPNCallback', 'ALPNProtocols', 'rejectUnauthorized', 'requestCert', 'sessionTimeout', 'ticketKeys']
/** Members that tls.js checks when it loads; programs without TLS do not load it. */
const kTlsMembers = ['_contexts', '_secureEstablished', '_sharedCreds', '_tlsError']
/** Members of a TLS context, whose existence is not checked. */
const kContextMembers = ['_external']
const kPlainContextMembers = ['getIssuer']

/** Methods of an fs.ReadStream, and fields of its state, that file-stream.js checks when the first file is piped into a response. */
const kFileStreamMethods = ['_construct', '_read', '_destroy']
const kFileStreamFields = ['autoDestroy', 'dataEmitted', 'emitClose', 'ended', 'pipes', 'reading']

/** Functions that node-internals.js uses if they exist, and `_storeHeader`, whose source kLate reads. */
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
  checkFields(request, [...kRequestFields, ...kPlainRequestFields], 'http.IncomingMessage')
  checkMethods(http.IncomingMessage.prototype, kRequestMethods, 'http.IncomingMessage')
  checkFields(response, [...kResponseFields, ...kPlainResponseFields], 'http.ServerResponse')
  checkMethods(http.ServerResponse.prototype, [...kResponseMethods, ...kPlainResponseMethods], 'http.ServerResponse')
  checkFields(new net.Socket(), [...kSocketFields, ...kPlainSocketFields], 'net.Socket')
  checkMethods(net.Socket.prototype, kSocketMethods, 'net.Socket')
  checkFields(server, [...kServerFields, ...kPlainServerFields, ...kServerSwitches], 'http.Server')
  checkMethods(http.Server.prototype, kServerMethods, 'http.Server')
  const { _readableState: readable, _writableState: writable } =
    /** @type {net.Socket & { _readableState: object, _writableState: object }} */ (new net.Socket())
  // checkFields() uses `in`, because `reading` is an accessor since Node 20.9.
  checkFields(readable, ['closed', 'closeEmitted', 'destroyed', 'ended', 'endEmitted', 'length', 'reading', 'resumeScheduled'], 'stream.Readable#_readableState')
  checkFields(writable, ['closed', 'closeEmitted', 'destroyed', 'ended', 'ending', 'finished'], 'stream.Writable#_writableState')
  checkLate(kLate)
}

/**
 * @param {object} socket that an http.Server serves
 * @throws ERR_HTTPSYS_NODE_INTERNALS that names the first member that this Node does not give it
 */
function checkConnection (socket) {
  checkFields(socket, kConnectionFields, 'net.Socket')
  checkMethods(Reflect.get(socket, 'parser') ?? {}, kParserMethods, 'HTTPParser')
}

/** All known private names that begin with an underscore. */
const kPrivateNames = new Set([
  ...kRequestFields, ...kRequestMethods, ...kResponseFields, ...kResponseMethods, ...kSocketFields,
  ...kSocketMethods, ...kServerFields, ...kServerMethods,
  ...kLate.map(([name]) => name), ...kConnectionFields.filter((name) => name.startsWith('_')), ...kTlsMembers, ...kContextMembers,
  ...kFileStreamMethods, ...kFunctions
])

/** Names without an underscore that ESLint refuses on every object, because this repository uses them for nothing else. */
const kPlainNames = new Set([
  ...kPlainResponseFields, ...kPlainResponseMethods, ...kServerSwitches, ...kParserMethods, ...kPlainContextMembers, 'dataEmitted', 'parser', 'writableBuffer'
])

/** Private names that this package does not use: ESLint refuses them everywhere. To use one, move it to a list above. */
const kUnusedNames = new Set([
  'awaitDrainWriters', 'bufferedIndex', 'emittedReadable', 'headersCompleted', 'isSocketPaused', 'keepAliveTimeoutSet', 'maxHeaderPairs',
  'multiAwaitDrain', 'needReadable', 'outgoingData', 'pendingcb', 'readableBuffer', 'secureConnecting', 'setOptions', 'timeoutCb', 'upgradeOrConnect',
  'usesChunkedEncodingByDefault', 'writecb', 'writeHeader', 'writelen'
])

/**
 * By name of a variable: names that ESLint refuses as members of that variable; elsewhere they are options, or words of our own.
 *
 * @type {Map<string, Set<string>>}
 */
const kPlainNamesOf = new Map([
  ['req', new Set(kPlainRequestFields)],
  ['request', new Set(kPlainRequestFields)],
  ['server', new Set([...kPlainServerFields, ...kNewServerFields, ...kTlsSettings, 'cert', 'pfx', 'sessionIdContext'])],
  ['owner', new Set([...kTlsSettings, 'cert', 'pfx', 'sessionIdContext'])]
])

module.exports = {
  checkConnection, checkLate, checkPrivateMembers, kFileStreamFields, kFileStreamMethods, kPlainNames, kPlainNamesOf, kPrivateNames, kTlsSettings, kUnusedNames
}
