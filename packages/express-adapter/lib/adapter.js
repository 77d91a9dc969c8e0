'use strict'

// Serves an Express or connect application, or any (req, res) function, on @httpsys/core-native.

const core = require('@httpsys/core-native')
const { Alignment } = require('./alignment')

/** @typedef {import('../types').Application} Application */
/** @typedef {import('../types').AdapterOptions} AdapterOptions */
/** @typedef {import('../types').Adapter} PublicAdapter */

// Events beside 'request' whose listeners get a request. None of them belongs to the application.
const kForeignEvents = new Set(['upgrade', 'connect', 'checkContinue', 'checkExpectation', 'dropRequest'])

const kOptions = [
  'IncomingMessage', 'ServerResponse', 'allowHalfOpen', 'connectionsCheckingInterval', 'headersTimeout', 'highWaterMark',
  'insecureHTTPParser', 'joinDuplicateHeaders', 'keepAlive', 'keepAliveInitialDelay', 'keepAliveTimeout', 'keepAliveTimeoutBuffer',
  'maxHeaderSize', 'noDelay', 'pauseOnConnect', 'rejectNonStandardBodyWrites', 'requestTimeout', 'requireHostHeader', 'uniqueHeaders',
  ...core.internals.kServerOptions
]

/** @implements {PublicAdapter} */
class Adapter {
  /** @type {Alignment | null} */
  #alignment = null

  /** @param {Application} app @param {AdapterOptions} options */
  constructor (app, options) {
    this.app = app
    if (options.IncomingMessage === undefined && options.ServerResponse === undefined) {
      this.#alignment = Alignment.of(app)
    }
    this.server = core.createServer({ ...options, ...this.#alignment?.constructors }, /** @type {any} */ (app))
    if (this.#alignment !== null) watch(this.server, this.#alignment)
  }

  /** @param {any[]} args */
  listen (...args) {
    // Mounting may have put another application's prototypes above this one's since.
    this.#alignment?.install()
    return this.server.listen(...listenArgs(args))
  }

  /** @param {...any} args those of the server's close() */
  close (...args) {
    return this.server.close(...args)
  }

  uninstall () {
    this.#alignment?.uninstall()
  }
}

/** @param {any} server @param {Alignment} alignment */
function watch (server, alignment) {
  alignment.server = server
  // Not a listener: their number is visible, and for 'upgrade' it decides what a request means.
  Object.defineProperty(server, 'emit', {
    configurable: true,
    writable: true,
    /** @this {any} @param {string} event @param {any} first @param {any} second */
    value: function (event, first, second) {
      if (kForeignEvents.has(event)) alignment.undo(first, second)
      return Reflect.apply(Object.getPrototypeOf(this).emit, this, arguments)
    }
  })
}

/**
 * `(port | path, options, callback)` is ours; everything else is the server's own form.
 *
 * @param {any[]} args
 */
function listenArgs (args) {
  const [where, options, ...rest] = args
  if (typeof options !== 'object' || options === null) return args
  if (typeof where === 'number' || (typeof where === 'string' && /^\d+$/.test(where))) {
    return [{ ...options, port: where }, ...rest]
  }
  if (typeof where === 'string' && !where.includes('://')) return [{ ...options, path: where }, ...rest]
  return args
}

/**
 * @template {Application} App
 * @param {App} app
 * @param {AdapterOptions} [options]
 */
function createAdapter (app, options = {}) {
  if (typeof app !== 'function') {
    const hint = typeof (/** @type {any} */ (app)?.callback) === 'function' ? '; pass app.callback()' : ''
    throw Object.assign(
      new TypeError(`The "app" argument must be of type function. Received ${app === null ? 'null' : typeof app}${hint}`),
      { code: 'ERR_INVALID_ARG_TYPE' })
  }
  core.internals.refuseMisplaced('createAdapter()', options, kOptions)
  core.internals.refuseMisspelt('createAdapter()', options, kOptions)
  return new Adapter(app, options)
}

module.exports = { createAdapter }
