'use strict'

// Express gives every request and response another prototype, which costs V8 its fast paths for the rest
// of the request. Objects that are constructed with that very prototype make the change a no-op.

const http = require('node:http')
const core = require('@httpsys/core-native')
const { insertPrototype } = require('./insert-prototype')

// Both functions make objects, and can be applied to objects: TypeScript has no word for that.
const { IncomingMessage, ServerResponse } = /** @type {Constructors} */ (/** @type {unknown} */ (core.internals))

/** @typedef {import('node:net').Socket} Socket */
/** @typedef {import('../types').Application & { request: http.IncomingMessage, response: http.ServerResponse }} ExpressApplication with prototypes of its own */
/** @typedef {Omit<typeof http.ServerResponse, 'prototype'> & { new (req: http.IncomingMessage, options?: object): http.ServerResponse, prototype: http.ServerResponse }} ResponseClass */
/** @typedef {{ IncomingMessage: typeof http.IncomingMessage, ServerResponse: ResponseClass }} Constructors */

/** How one application and its server share prototypes. */
class Alignment {
  /** The server whose 'request' listeners decide. @type {http.Server | null} */
  server = null

  /** @type {ExpressApplication} */
  #app
  #enabled = true
  /** @type {(() => void)[]} */
  #removals = []

  /**
   * @param {import('../types').Application} app
   * @returns {Alignment | null} null when the application has no prototypes of its own
   */
  static of (app) {
    const { request, response } = /** @type {Partial<ExpressApplication>} */ (app)
    const fits = isBelow(request, http.IncomingMessage.prototype) && isBelow(response, http.ServerResponse.prototype)
    return fits ? new Alignment(/** @type {ExpressApplication} */ (app)) : null
  }

  /** @param {ExpressApplication} app */
  constructor (app) {
    this.#app = app
    const alignment = this
    /** @this {http.IncomingMessage} @param {Socket} socket */
    function Request (socket) {
      if (!alignment.#applies()) return new IncomingMessage(socket)
      Reflect.apply(IncomingMessage, this, [socket])
    }
    /** @this {http.ServerResponse} @param {http.IncomingMessage} req @param {object} options */
    function Response (req, options) {
      // Both or none: a request that was made plain gets a plain response.
      if (Object.getPrototypeOf(req) !== Request.prototype) return new ServerResponse(req, options)
      Reflect.apply(ServerResponse, this, [req, options])
    }
    Request.prototype = app.request
    Response.prototype = app.response
    // V8 sizes new objects by the constructors up this chain; too small ones are copied as they grow.
    Object.setPrototypeOf(Request, IncomingMessage)
    Object.setPrototypeOf(Response, ServerResponse)
    this.constructors = /** @type {Constructors} */ (/** @type {unknown} */ ({ IncomingMessage: Request, ServerResponse: Response }))
    this.install()
  }

  // Other listeners of 'request' must not meet Express' prototypes: its getters without setters (req.query)
  // would swallow what they assign.
  #applies () {
    if (!this.#enabled) return false
    const listeners = /** @type {http.Server} */ (this.server).listeners('request')
    return listeners.length === 1 && listeners[0] === this.#app
  }

  /** Puts the engine's prototypes under those of the application's Express module. Idempotent. */
  install () {
    if (!this.#enabled) return
    const removals = [
      insertPrototype(this.#app.request, IncomingMessage.prototype, http.IncomingMessage.prototype),
      insertPrototype(this.#app.response, ServerResponse.prototype, http.ServerResponse.prototype)
    ]
    this.#removals.splice(0).forEach((remove) => remove())
    this.#removals = removals
  }

  uninstall () {
    this.#enabled = false
    this.#removals.splice(0).forEach((remove) => remove())
  }

  /** @param {object} req @param {object | undefined} res a response, a socket or nothing */
  undo (req, res) {
    const { IncomingMessage: Request, ServerResponse: Response } = this.constructors
    if (Object.getPrototypeOf(req) === Request.prototype) Object.setPrototypeOf(req, IncomingMessage.prototype)
    if (res && Object.getPrototypeOf(res) === Response.prototype) Object.setPrototypeOf(res, ServerResponse.prototype)
  }
}

/** @param {unknown} object @param {object} ancestor */
function isBelow (object, ancestor) {
  return typeof object === 'object' && object !== null && Object.prototype.isPrototypeOf.call(ancestor, object)
}

module.exports = { Alignment }
