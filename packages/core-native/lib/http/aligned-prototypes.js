'use strict'

// Express gives every request and response another prototype, which costs V8 its fast paths for the rest
// of the request. Objects that are constructed with that very prototype make the change a no-op.

const http = require('node:http')
const { EngineIncomingMessage } = require('./incoming')
const { EngineServerResponse } = require('./outgoing')
const { insertPrototype, pinPrototype } = require('./insert-prototype')

/** @typedef {import('node:net').Socket} Socket */
/** @typedef {Omit<typeof http.ServerResponse, 'prototype'> & { new (req: http.IncomingMessage, options?: object): http.ServerResponse, prototype: http.ServerResponse }} ResponseClass */
/** @typedef {{ IncomingMessage: typeof http.IncomingMessage, ServerResponse: ResponseClass }} Constructors that can also be applied to objects */
/** @typedef {{ request: http.IncomingMessage, response: http.ServerResponse }} Pair of prototypes */

const freshRequest = new http.IncomingMessage(/** @type {Socket} */ (/** @type {unknown} */ ({ readableHighWaterMark: 0 })))
const kRequest = { prototype: http.IncomingMessage.prototype, keys: keysOf(freshRequest) }
const kResponse = { prototype: http.ServerResponse.prototype, keys: keysOf(new http.ServerResponse(freshRequest)) }

/** @param {object} object @returns {Set<string | symbol>} what it and its prototypes have, but for `constructor` and what all objects have */
function keysOf (object) {
  /** @type {Set<string | symbol>} */
  const keys = new Set()
  // The last one is what all objects have, perhaps those of another realm.
  for (let layer = object; Object.getPrototypeOf(layer) !== null; layer = Object.getPrototypeOf(layer)) {
    for (const key of Reflect.ownKeys(layer)) keys.add(key)
  }
  keys.delete('constructor')
  return keys
}

/** The prototypes of an application, and constructors of requests and responses that have them at once. */
class AlignedPrototypes {
  #isEnabled = true
  /** @type {(() => void)[]} */
  #removals = []
  /** @type {Constructors} */
  #plain

  /**
   * @param {unknown} holder perhaps an application with `request` and `response`, which may run code of its own
   * @returns {Pair | null} null when it has none that can be aligned
   */
  static pairOf (holder) {
    if (typeof holder !== 'function' && (typeof holder !== 'object' || holder === null)) return null
    try {
      const { request, response } = /** @type {Partial<Pair>} */ (holder)
      return extend(request, kRequest) && extend(response, kResponse) ? { request, response } : null
    } catch {
      return null
    }
  }

  /**
   * @param {Pair} pair
   * @param {Constructors} plain what requests and responses are constructed with otherwise
   * @param {() => boolean} [applies] asked for each request whether it gets the prototypes; without it, all do
   */
  constructor (pair, plain, applies = () => true) {
    this.pair = pair
    this.#plain = plain
    const { IncomingMessage, ServerResponse } = plain
    const isWanted = () => this.#isEnabled && applies()
    /** @this {http.IncomingMessage} @param {Socket} socket */
    function Request (socket) {
      if (!isWanted()) return new IncomingMessage(socket)
      Reflect.apply(IncomingMessage, this, [socket])
    }
    /** @this {http.ServerResponse} @param {http.IncomingMessage} req @param {object} options */
    function Response (req, options) {
      // Both or none: a request that was made plain gets a plain response.
      if (Object.getPrototypeOf(req) !== pair.request) return new ServerResponse(req, options)
      Reflect.apply(ServerResponse, this, [req, options])
    }
    Request.prototype = pair.request
    Response.prototype = pair.response
    // V8 sizes new objects by the constructors up this chain; too small ones are copied as they grow.
    Object.setPrototypeOf(Request, IncomingMessage)
    Object.setPrototypeOf(Response, ServerResponse)
    this.constructors = /** @type {Constructors} */ (/** @type {unknown} */ ({ IncomingMessage: Request, ServerResponse: Response }))
  }

  /** Puts the plain prototypes between those of the application's module and Node's. Idempotent. */
  install () {
    if (!this.#isEnabled) return
    const { request, response } = this.pair
    const removals = [
      insertPrototype(request, this.#plain.IncomingMessage.prototype, http.IncomingMessage.prototype),
      insertPrototype(response, this.#plain.ServerResponse.prototype, http.ServerResponse.prototype)
    ]
    this.#removals.splice(0).forEach((remove) => remove())
    this.#removals = removals
  }

  /** The same for good: it is what unregister() takes back. Idempotent. */
  pin () {
    const { request, response } = this.pair
    pinPrototype(request, this.#plain.IncomingMessage.prototype, http.IncomingMessage.prototype)
    pinPrototype(response, this.#plain.ServerResponse.prototype, http.ServerResponse.prototype)
  }

  /** Requests are plain from here on. */
  uninstall () {
    this.#isEnabled = false
    this.#removals.splice(0).forEach((remove) => remove())
  }

  /** Makes them plain, for those whose listeners know nothing of the application. @param {object} req @param {object | undefined} res a response, a socket or nothing */
  undo (req, res) {
    const { IncomingMessage, ServerResponse } = this.#plain
    if (Object.getPrototypeOf(req) === this.pair.request) Object.setPrototypeOf(req, IncomingMessage.prototype)
    if (res && Object.getPrototypeOf(res) === this.pair.response) Object.setPrototypeOf(res, ServerResponse.prototype)
  }
}

/**
 * Whether an object adds to Node's prototype and replaces nothing: constructors and the server's own calls would meet what it
 * replaces before the application has begun. Express adds.
 *
 * @template {object} T
 * @param {unknown} object
 * @param {{ prototype: T, keys: Set<string | symbol> }} of Node's objects
 * @returns {object is T}
 */
function extend (object, { prototype, keys }) {
  if (typeof object !== 'object' || object === null || !Object.prototype.isPrototypeOf.call(prototype, object)) return false
  const ours = /** @type {object[]} */ ([EngineIncomingMessage.prototype, EngineServerResponse.prototype])
  for (let layer = object; layer !== prototype; layer = Object.getPrototypeOf(layer)) {
    if (!ours.includes(layer) && Reflect.ownKeys(layer).some((key) => keys.has(key))) return false
  }
  return true
}

module.exports = { AlignedPrototypes }
