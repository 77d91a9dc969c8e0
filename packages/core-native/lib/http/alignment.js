'use strict'

// Decides which prototypes a server's requests and responses are constructed with: the prototypes of the application that is the only
// listener (Express), or those that the only listener, such as a function around an application, has set on several requests in a row.

const { variableMustBe } = require('../base/errors')
const { AlignedPrototypes } = require('./aligned-prototypes')
const { isEntered, makeAssignable } = require('./assignable')
const { EngineIncomingMessage } = require('./incoming')
const { watchPinning } = require('./insert-prototype')
const { EngineServerResponse } = require('./outgoing')

// New requests get the prototypes that the listener has set on this number of requests in a row; fewer might be chance. Each of these requests
// leaves hidden classes in V8's caches for good: after 16, all later requests cost a tenth more.
const kRequestsDefault = 8
const kVariable = 'HTTPSYS_ALIGN_AFTER'

/** @import { Constructors, Pair } from './aligned-prototypes' */
/** @import { EngineListener, EngineRequest, EngineResponse } from '../../types/internal' */

const kPlain = /** @type {Constructors} */ (/** @type {unknown} */ (
  { IncomingMessage: EngineIncomingMessage, ServerResponse: EngineServerResponse }))

/** @returns {number} requests in a row, see kRequestsDefault; 0: prototypes are never aligned @throws ERR_HTTPSYS_ENVIRONMENT */
function requestsWanted () {
  const text = process.env[kVariable]
  if (text === undefined || text === '') return kRequestsDefault
  if (!/^\d{1,9}$/.test(text)) throw variableMustBe(kVariable, text, 'a number of requests, or 0 for never')
  return Number(text)
}

const kWanted = requestsWanted()

/** The prototypes of one server's requests and responses. */
class Alignment {
  /** The prototype of the next request; `response` is that of the next response. @type {object} */
  request = kPlain.IncomingMessage.prototype
  /** @type {object} */
  response = kPlain.ServerResponse.prototype
  /** Number of requests in a row on which the listener has set the prototypes of #last. */
  count = 0
  /** Number of calls of look(). If it changes during a call of the listener, note() must not be called. */
  looks = 0

  #listener
  /** @type {Pair | null} */
  #last = null
  /** @type {AlignedPrototypes | null} */
  #aligned = null
  /** True if the prototypes in use were learned from requests; false if they are the listener's own. */
  #isLearned = false
  /** True: the prototypes stay as they are until the server's listeners change. */
  #isOver = true
  /** The first listener of 'request'; used if there is no other. @type {unknown} */
  #only = null

  /** @param {Pick<EngineListener, 'IncomingMessage' | 'ServerResponse'>} listener its two classes are set by this object */
  constructor (listener) {
    this.#listener = listener
  }

  /** Decides again which prototypes are used. Must be called when the server's 'request' listeners may have changed. @param {unknown[]} listeners of 'request' */
  look (listeners) {
    this.looks++
    this.#construct(null)
    this.#isLearned = false
    this.#last = null
    this.#only = listeners[0]
    this.count = 0
    // With two listeners nothing is aligned: the second one would see the application's methods and getters.
    this.#isOver = kWanted === 0 || listeners.length !== 1
    if (this.#isOver) return
    const pair = this.#ownPair()
    if (pair !== null) this.#construct(pair)
  }

  // Returns the prototypes of the only listener if it is an application, otherwise null. Checks `request.app`, too: a function around an
  // application may have copied the application's properties.
  #ownPair () {
    const pair = AlignedPrototypes.pairOf(this.#only)
    return pair !== null && appOf(pair.request) === this.#only ? pair : null
  }

  /**
   * @param {EngineRequest} req
   * @param {EngineResponse} res
   * @returns {boolean} whether note() must be called: the prototypes have changed, or changes are being counted
   */
  isNews (req, res) {
    return this.count !== 0 || Object.getPrototypeOf(req) !== this.request ||
      Object.getPrototypeOf(res) !== this.response
  }

  /**
   * Learns from a request and its response. Must be called after the listener if isNews() is true.
   *
   * @param {EngineRequest} req
   * @param {EngineResponse} res
   */
  note (req, res) {
    if (this.#isOver) return
    const request = Object.getPrototypeOf(req)
    const response = Object.getPrototypeOf(res)
    if (this.#aligned !== null) {
      // An application that is mounted below this one leaves its own prototypes on the request: that is no reason to change anything.
      const own = this.#isLearned ? null : this.#ownPair()
      if (own !== null && own.request === this.request && own.response === this.response) return
      this.#construct(null)
      this.#isOver = this.#isLearned
      return
    }
    if (request === this.request && response === this.response) {
      this.count = 0
      return
    }
    this.count = request === this.#last?.request && response === this.#last?.response ? this.count + 1 : 1
    this.#last = { request, response }
    const pair = isEntered(req) ? AlignedPrototypes.pairOf(this.#last) : null
    if (pair === null) {
      this.#isOver = true
      this.count = 0
      return
    }
    if (this.count < kWanted) return
    this.count = 0
    this.#isLearned = true
    this.#construct(pair)
  }

  /**
   * Gives a request and its response plain prototypes, for listeners other than the application.
   *
   * @param {object} req
   * @param {object} [res] a response, a socket or nothing
   */
  undo (req, res) {
    this.#aligned?.undo(req, res)
  }

  /** @param {Pair | null} pair prototypes of the next requests and responses; null: the engine's own */
  #construct (pair) {
    const isPinned = watchPinning()
    const isAssignable = pair !== null && isPinned() && makeAssignable(pair)
    this.#isOver ||= pair !== null && !isAssignable
    this.#aligned = isAssignable ? new AlignedPrototypes(pair, kPlain, isPinned) : null
    this.#aligned?.pin()
    const { IncomingMessage, ServerResponse } = this.#aligned?.constructors ?? kPlain
    this.request = IncomingMessage.prototype
    this.response = ServerResponse.prototype
    this.#listener.IncomingMessage = /** @type {EngineListener['IncomingMessage']} */ (
      /** @type {unknown} */ (IncomingMessage))
    this.#listener.ServerResponse = /** @type {EngineListener['ServerResponse']} */ (
      /** @type {unknown} */ (ServerResponse))
  }
}

/** @param {object} request prototype @returns {unknown} the application that made it */
function appOf (request) {
  try {
    return /** @type {{ app?: unknown }} */ (request).app
  } catch {
    return undefined
  }
}

module.exports = { Alignment }
