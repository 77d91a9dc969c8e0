'use strict'

// Loaded before a suite that knows only http, when it is run over something else (HTTPSYS_COMPAT_OVER): its servers
// speak HTTPS, or HTTP/2 beside HTTP/1.1, and its clients what its servers speak. Nothing else of the suite is changed.

const diagnostics = require('node:diagnostics_channel')
const fs = require('node:fs')
const http = require('node:http')
const { syncBuiltinESMExports } = require('node:module')
const net = require('node:net')
const tls = require('node:tls')
const { https } = /** @type {any} */ (require('@httpsys/core-native'))
const { Http2Socket } = require('./http2-socket')

const { HTTPSYS_COMPAT_OVER: over, HTTPSYS_COMPAT_OVER_REPORT: report } = process.env
const isSecure = over === 'https'
const Base = isSecure ? https.Server : http.Server
const kOptions = isSecure ? { devCert: true } : { http2: true }

/** Open ones. @type {Set<import('node:net').Server>} */
const servers = new Set()

/** @this {any} @param {any} [options] @param {any} [listener] */
function Server (options, listener) {
  let given = [options, listener]
  if (typeof options === 'function') given = [kOptions, options]
  else if ((typeof options === 'object' && !Array.isArray(options)) || options === undefined) given = [{ ...kOptions, ...options }, listener]
  // A class of the time before classes calls it as its super constructor.
  const isSuper = new.target === undefined && this instanceof Server
  const server = isSuper ? this : Reflect.construct(Base, given, new.target ?? Server)
  if (isSuper) Reflect.apply(Base, this, given)
  // A client may connect before 'listening' is emitted.
  const { listen } = server
  put(server, 'listen', (/** @type {any[]} */ ...args) => {
    servers.add(server)
    return Reflect.apply(listen, server, args)
  })
  return server.on('close', () => servers.delete(server))
}
Server.prototype = Base.prototype
Object.setPrototypeOf(Server, Base)

// Clients that have no scheme of their own.
const connect = /** @type {(...args: any[]) => net.Socket} */ (net.connect)
/** @param {any[]} args of net.connect */
function isOurs ([options]) {
  const port = Number(typeof options === 'object' ? options?.port : options)
  return [...servers].some((server) => /** @type {any} */ (server.address())?.port === port)
}

/** @param {any[]} args */
function connectSecurely (...args) {
  if (!isOurs(args)) return connect(...args)
  const [options, ...rest] = args
  const all = typeof options === 'object' ? options : { port: options, host: typeof rest[0] === 'string' ? rest[0] : undefined }
  // What a program would give: without protocols it is HTTP/1.1.
  return tls.connect({ ...all, rejectUnauthorized: false }, rest.findLast((each) => typeof each === 'function'))
}

/** @param {any[]} args */
function connectOverHttp2 (...args) {
  const [first, second] = args
  if (isOurs(args)) return new Http2Socket(typeof first === 'object' ? first : { port: first, host: typeof second === 'string' ? second : undefined })
  return connect(...args)
}

/** @param {object} face @param {string} name @param {unknown} value */
function put (face, name, value) {
  Object.defineProperty(face, name, { value, writable: true, configurable: true, enumerable: true })
}

put(http, 'Server', Server)
put(http, 'createServer', (/** @type {any} */ options, /** @type {any} */ listener) => Reflect.construct(Server, [options, listener]))
put(http.Agent.prototype, 'createConnection', isSecure ? connectSecurely : connectOverHttp2)
if (isSecure) {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  // About that.
  process.removeAllListeners('warning')
  put(net, 'connect', connectSecurely)
  put(net, 'createConnection', connectSecurely)
}
syncBuiltinESMExports()

// A run in which nothing came this way must not pass for one.
let requests = 0
diagnostics.subscribe('http.server.request.start', (message) => {
  const { request } = /** @type {any} */ (message)
  if (isSecure ? request.socket.encrypted : request.httpVersionMajor === 2) requests++
})
process.on('exit', () => {
  if (report) fs.appendFileSync(report, `${JSON.stringify({ requests })}\n`)
})
