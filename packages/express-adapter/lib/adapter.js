'use strict'

// Serves an Express or connect application, or any (req, res) function, on @httpsys/core-native.

const net = require('node:net')
const core = require('@httpsys/core-native')
const { alignmentOf } = require('./alignment')

const { kAdapterTls } = core.internals

/** @import { RequestListener } from 'node:http' */
/** @import { PortListenOptions, PrefixListenOptions, StaticFilesOptions } from '@httpsys/core-native' */
/** @import { Adapter as PublicAdapter, AdapterOptions, Application } from '../types' */

// Events other than 'request' whose listeners get a request. These listeners are not the application.
const kForeignEvents = new Set(['upgrade', 'connect', 'checkContinue', 'checkExpectation', 'dropRequest'])

const kOptions = [
  ...core.internals.kNodeServerOptions, ...core.internals.kServerOptions, ...core.internals.kTlsOptions
]
// Options of listen(), beside the TLS options.
const kListenOptions = [
  'backlog', 'exclusive', 'fd', 'host', 'ipv6Only', 'path', 'port', 'prefix', 'prefixes', 'queueMode', 'queueName', 'readableAll', 'reusePort',
  'signal', 'writableAll'
]

/** @implements {PublicAdapter} */
class Adapter {
  /** @type {core.AlignedPrototypes | null} */
  #prototypes = null
  /** Name of a TLS option that createAdapter() was given; undefined: none was given. @type {string | undefined} */
  #tlsName

  /** @param {Application} app @param {AdapterOptions} options as own properties */
  constructor (app, options) {
    this.app = app
    const hasClasses = options.IncomingMessage !== undefined || options.ServerResponse !== undefined
    const alignment = hasClasses ? null : alignmentOf(app)
    const { tls } = splitTls(options)
    this.#tlsName = Object.keys(tls)[0]
    const given = { ...options, ...alignment?.prototypes.constructors }
    this.server = this.#tlsName === undefined
      ? core.createServer(given, /** @type {RequestListener} */ (app))
      // Cast: types/index.d.ts explains it.
      : /** @type {core.Server} */ (/** @type {unknown} */ (
          core.https.createServer({ ...given, [kAdapterTls]: true }, /** @type {RequestListener} */ (app))))
    if (alignment === null) return
    alignment.useServer(this.server)
    this.#prototypes = alignment.prototypes
    watch(this.server, alignment.prototypes)
  }

  /** @param {unknown[]} args @returns {core.Server} */
  listen (...args) {
    // Installed once more: since createAdapter(), mounting may have put another application's prototypes above this one's.
    this.#prototypes?.install()
    if (this.#tlsName !== undefined) refuseWithoutTls(this.#tlsName, args)
    // Cast: the server checks the arguments.
    return this.server.listen(...(/** @type {[options: PortListenOptions]} */ (listenArgs(args))))
  }

  /** @param {string} path @param {string | URL} root @param {StaticFilesOptions} [options] */
  static (path, root, options = {}) {
    if (typeof path === 'string' && !path.startsWith('/') && root === undefined) {
      throw Object.assign(new TypeError(`static(path, folder): the path of the URL comes first. Write static('/', ${JSON.stringify(path)})`), { code: 'ERR_INVALID_ARG_VALUE' })
    }
    if (typeof path === 'string' && path.includes('://')) {
      throw Object.assign(
        new TypeError(`The argument 'path' must be a path, below each prefix of the adapter; server.serveFiles() takes a URL prefix. Received '${path}'`),
        { code: 'ERR_INVALID_ARG_VALUE' })
    }
    // The promise is ignored: with a path, serveFiles() is done when it returns.
    this.server.serveFiles(path, root, withFallthrough(options))
    return this
  }

  /** @param {...unknown} args for the server's close() */
  close (...args) {
    return this.server.close(...(/** @type {[callback?: () => void]} */ (args)))
  }

  uninstall () {
    this.#prototypes?.uninstall()
  }
}

/**
 * @param {StaticFilesOptions} options
 * @returns {StaticFilesOptions} the options, by default with `fallthrough`: the application gets requests for which there is no file. serveFiles()
 *   refuses a value that is no object
 */
function withFallthrough (options) {
  if (typeof options !== 'object' || options === null || options.fallthrough !== undefined) return options
  return { ...core.internals.withInherited(options), fallthrough: true }
}

/** @param {core.Server} server @param {core.AlignedPrototypes} prototypes */
function watch (server, prototypes) {
  // Replaces emit() and adds no listeners: their number is visible, and with a listener of 'upgrade' Node would treat requests as upgrades.
  Object.defineProperty(server, 'emit', {
    configurable: true,
    writable: true,
    /** @this {core.Server} @param {string} event @param {object} first @param {object} [second] */
    value: function (event, first, second) {
      if (kForeignEvents.has(event)) prototypes.undo(first, second)
      return Reflect.apply(Object.getPrototypeOf(this).emit, this, arguments)
    }
  })
}

/**
 * Converts the arguments of the adapter's listen() to arguments of the server's. Only the form `(port | path, options, callback)` is the
 * adapter's own. With TLS options the adapter listens with HTTPS.
 *
 * @param {unknown[]} args
 * @returns {unknown[]}
 */
function listenArgs (args) {
  const [where, options, ...rest] = args
  if (isPrefixForm(where)) return args
  refuseTlsBehind(typeof where === 'object' && where !== null ? [options, ...rest] : rest)
  if (typeof where === 'object' && where !== null) return [portOptions(where), ...args.slice(1)]
  if (typeof options !== 'object' || options === null) return args
  const given = core.internals.withInherited(options)
  if (typeof where === 'number' || (typeof where === 'string' && /^\d+$/.test(where))) return [portOptions({ ...given, port: where }), ...rest]
  if (typeof where === 'string') return [portOptions({ ...given, path: where }), ...rest]
  refuseTlsBehind([options])
  return args
}

// Refuses TLS options in later arguments of listen(), where Node reads no options: the adapter reads them from one place.
/** @param {unknown[]} args of listen() in which TLS options would be ignored @throws ERR_HTTPSYS_OPTION */
function refuseTlsBehind (args) {
  for (const options of args) {
    if (typeof options !== 'object' || options === null) continue
    const [name] = Object.keys(splitTls(options).tls)
    if (name !== undefined) throw new core.internals.OptionError('listen() behind where to listen', name, undefined, 'it belongs to listen({ port, host, … }) and listen(port, { host, … })')
  }
}

/** @param {unknown} where the first argument of listen() */
function isPrefixForm (where) {
  return Array.isArray(where) || (typeof where === 'string' && where.includes('://')) ||
    (typeof where === 'object' && where !== null && (/** @type {PrefixListenOptions} */ (where).prefix !== undefined || /** @type {PrefixListenOptions} */ (where).prefixes !== undefined))
}

// Checks the options of listen() for a port. An object with a handle is returned as it is, because Node reads other properties of it.
/** @param {object} options @returns {object} */
function portOptions (options) {
  if (core.internals.hasHandle(options)) return options
  core.internals.refuseMisspelt('listen()', options, [...kListenOptions, ...core.internals.kTlsOptions])
  const { tls, others } = splitTls(options)
  return Object.keys(tls).length === 0 ? options : { ...others, [kAdapterTls]: tls }
}

/** @param {object} options @returns {{ tls: Record<string, unknown>, others: Record<string, unknown> }} members that are undefined are left out */
function splitTls (options) {
  const { tls, others } = core.internals.splitOptions(options)
  return { tls: Object.fromEntries(Object.entries(tls ?? {}).filter(([, value]) => value !== undefined)), others }
}

/** @param {string} name of an option of TLS @param {unknown[]} args of listen() @throws ERR_HTTPSYS_OPTION if the server would speak TLS nowhere */
function refuseWithoutTls (name, [where]) {
  if (!isPrefixForm(where)) return
  const given = /** @type {string | PrefixListenOptions} */ (where)
  const prefixes = typeof given === 'object' ? given.prefixes ?? given.prefix ?? given : given
  if ([prefixes].flat().every((prefix) => typeof prefix === 'string' && prefix.startsWith('http://'))) {
    throw new core.internals.OptionError('createAdapter() for http:// prefixes alone', name)
  }
}

/** @param {unknown} app that is no function @returns {string} what it is, and what to do with it */
function receivedInstead (app) {
  if (app === null || typeof app !== 'object') {
    const what = app === undefined || app === null ? String(app) : typeof app
    return `Received ${what}; pass an Express or connect application, or a (req, res) function`
  }
  if (app instanceof net.Server) {
    return "Received a server: make it with require('@httpsys/core-native') in place of node:http, and call its listen(prefix); or pass the function that handles its requests"
  }
  const has = (/** @type {string[]} */ ...names) => names.every((name) => typeof (/** @type {Record<string, unknown>} */ (app))[name] === 'function')
  if (has('inject', 'ready', 'register')) {
    return "Received a Fastify instance: make it with fastify({ serverFactory: (handler) => http.createServer(handler) }) and http = require('@httpsys/core-native'); after await app.ready(), call app.server.listen(prefix)"
  }
  if (has('getHttpAdapter', 'init')) return 'Received a Nest application: after await app.init(), pass app.getHttpAdapter().getInstance()'
  if (has('callback')) return 'Received an object with a callback(), as koa has: pass app.callback()'
  return 'Received an object; pass an Express or connect application, or a (req, res) function'
}

/** @template {Application} App @param {App} app @param {AdapterOptions} [options] */
function createAdapter (app, options = {}) {
  if (typeof app !== 'function') {
    throw Object.assign(new TypeError(`createAdapter(app): the "app" argument must be a function. ${receivedInstead(app)}`), { code: 'ERR_INVALID_ARG_TYPE' })
  }
  core.internals.refuseMisplaced('createAdapter()', options, kOptions)
  core.internals.refuseMisspelt('createAdapter()', options, kOptions)
  return new Adapter(app, core.internals.withInherited(options))
}

module.exports = { createAdapter }
