'use strict'

// Express changes the prototype of every request and response, which costs V8 its fast paths for the rest
// of the request. If the objects are constructed with Express' prototype, the change does nothing.

const http = require('node:http')
const { EngineIncomingMessage } = require('./incoming')
const { EngineServerResponse } = require('./outgoing')
const { insertPrototype, pinPrototype } = require('./insert-prototype')

/** @import { Socket } from 'node:net' */
/** @typedef {Omit<typeof http.ServerResponse, 'prototype'> & { new (req: http.IncomingMessage, options?: object): http.ServerResponse, prototype: http.ServerResponse }} ResponseClass */
/** @typedef {{ IncomingMessage: typeof http.IncomingMessage, ServerResponse: ResponseClass }} Constructors that can also be applied to objects */
/** @typedef {{ request: http.IncomingMessage, response: http.ServerResponse }} Pair of prototypes */

const freshRequest = new http.IncomingMessage(
  /** @type {Socket} */ (/** @type {unknown} */ ({ readableHighWaterMark: 0 })))
const kRequest = { prototype: http.IncomingMessage.prototype, keys: keysOf(freshRequest) }
const kResponse = { prototype: http.ServerResponse.prototype, keys: keysOf(new http.ServerResponse(freshRequest)) }

/**
 * @param {object} object
 * @returns {Set<string | symbol>} the keys of the object and its prototypes, without `constructor` and the keys of Object.prototype
 */
function keysOf (object) {
  /** @type {Set<string | symbol>} */
  const keys = new Set()
  // The loop stops before the last prototype, which is Object.prototype, perhaps that of another realm.
  for (let layer = object; Object.getPrototypeOf(layer) !== null; layer = Object.getPrototypeOf(layer)) {
    for (const key of Reflect.ownKeys(layer)) keys.add(key)
  }
  keys.delete('constructor')
  return keys
}

/** The prototypes of an application, and constructors that give these prototypes to new requests and responses. */
class AlignedPrototypes {
  #isEnabled = true
  /** @type {(() => void)[]} */
  #removals = []
  /** @type {Constructors} */
  #plain

  /**
   * @param {unknown} holder perhaps an application with `request` and `response`; reading them may run its code
   * @returns {Pair | null} null: the holder has no prototypes that can be aligned
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
   * @param {Constructors} plain constructors for requests and responses that do not get the prototypes
   * @param {() => boolean} [applies] whether a request gets the prototypes; default: every one
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
      // A plain request gets a plain response: both have the application's prototypes, or neither.
      if (Object.getPrototypeOf(req) !== pair.request) return new ServerResponse(req, options)
      Reflect.apply(ServerResponse, this, [req, options])
    }
    Request.prototype = pair.request
    Response.prototype = pair.response
    // V8 chooses the size of new objects by the constructors up this chain. Without them, objects would be copied as they grow.
    Object.setPrototypeOf(Request, IncomingMessage)
    Object.setPrototypeOf(Response, ServerResponse)
    this.constructors = /** @type {Constructors} */ (
      /** @type {unknown} */ ({ IncomingMessage: Request, ServerResponse: Response }))
  }

  /** Puts the plain prototypes between the prototypes of the application's module and Node's. Idempotent. */
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

  /** Inserts the plain prototypes as install() does, and keeps them there until unregister(). Idempotent. */
  pin () {
    const { request, response } = this.pair
    pinPrototype(request, this.#plain.IncomingMessage.prototype, http.IncomingMessage.prototype)
    pinPrototype(response, this.#plain.ServerResponse.prototype, http.ServerResponse.prototype)
  }

  /** Undoes install(). Afterwards new requests and responses are plain. */
  uninstall () {
    this.#isEnabled = false
    this.#removals.splice(0).forEach((remove) => remove())
  }

  /**
   * Gives a request and its response plain prototypes, for listeners other than the application.
   *
   * @param {object} req
   * @param {object | undefined} res a response, a socket or nothing
   */
  undo (req, res) {
    const { IncomingMessage, ServerResponse } = this.#plain
    if (Object.getPrototypeOf(req) === this.pair.request) Object.setPrototypeOf(req, IncomingMessage.prototype)
    if (res && Object.getPrototypeOf(res) === this.pair.response) Object.setPrototypeOf(res, ServerResponse.prototype)
  }
}

/**
 * Returns whether an object only adds properties to Node's prototype, as Express does. If the object replaced a property of Node's,
 * constructors and the server would use the replacement before the application has begun.
 *
 * @template {object} T
 * @param {unknown} object
 * @param {{ prototype: T, keys: Set<string | symbol> }} of Node's prototype and its keys
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
