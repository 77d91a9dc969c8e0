'use strict'

// Decides which prototypes the requests and responses of a server are constructed with: those of the application that is its
// only listener (Express), or those that its listener has given them for a while, such as a function around an application.

const { variableMustBe } = require('../base/errors')
const { AlignedPrototypes } = require('./aligned-prototypes')
const { isEntered, makeAssignable } = require('./assignable')
const { EngineIncomingMessage } = require('./incoming')
const { watchPinning } = require('./insert-prototype')
const { EngineServerResponse } = require('./outgoing')

// Requests in a row that a listener has to give the same prototypes: fewer might be chance. Each leaves hidden classes in V8's
// caches for good, so that after 16 all later requests cost a tenth more.
const kRequestsDefault = 8
const kVariable = 'HTTPSYS_ALIGN_AFTER'

/** @typedef {import('./aligned-prototypes').Constructors} Constructors */
/** @typedef {import('./aligned-prototypes').Pair} Pair */
/** @typedef {import('../../types/internal').EngineListener} EngineListener */
/** @typedef {import('../../types/internal').EngineRequest} EngineRequest */
/** @typedef {import('../../types/internal').EngineResponse} EngineResponse */

const kPlain = /** @type {Constructors} */ (/** @type {unknown} */ ({ IncomingMessage: EngineIncomingMessage, ServerResponse: EngineServerResponse }))

/** @returns {number} requests; 0: prototypes are never aligned @throws ERR_HTTPSYS_ENVIRONMENT */
function requestsWanted () {
  const text = process.env[kVariable]
  if (text === undefined || text === '') return kRequestsDefault
  if (!/^\d{1,9}$/.test(text)) throw variableMustBe(kVariable, text, 'a number of requests, or 0 for never')
  return Number(text)
}

const kWanted = requestsWanted()

/** The prototypes of one server's requests and responses. */
class Alignment {
  /** Those that the next request and response are constructed with. @type {object} */
  request = kPlain.IncomingMessage.prototype
  /** @type {object} */
  response = kPlain.ServerResponse.prototype
  /** Requests in a row that the listener has given the prototypes of #last. */
  count = 0
  /** How often look() was called: what a listener of before did says nothing of those of now. */
  looks = 0

  #listener
  /** @type {Pair | null} */
  #last = null
  /** @type {AlignedPrototypes | null} */
  #aligned = null
  /** The prototypes in use are those that the listener gave, not its own. */
  #isLearned = false
  /** Nothing changes until other listeners come. */
  #isOver = true
  /** The only listener. @type {unknown} */
  #only = null

  /** @param {Pick<EngineListener, 'IncomingMessage' | 'ServerResponse'>} listener whose classes this decides */
  constructor (listener) {
    this.#listener = listener
  }

  /** The server's listeners may have changed. @param {unknown[]} listeners of 'request' */
  look (listeners) {
    this.looks++
    this.#construct(null)
    this.#isLearned = false
    this.#last = null
    this.#only = listeners[0]
    this.count = 0
    // Beside another listener there is none: that one would see the application's methods and getters.
    this.#isOver = kWanted === 0 || listeners.length !== 1
    if (this.#isOver) return
    const pair = this.#ownPair()
    if (pair !== null) this.#construct(pair)
  }

  // A function around an application may have copied its properties; Express' requests name the application.
  #ownPair () {
    const pair = AlignedPrototypes.pairOf(this.#only)
    return pair !== null && appOf(pair.request) === this.#only ? pair : null
  }

  /** @param {EngineRequest} req @param {EngineResponse} res @returns {boolean} whether note() has to know of what the listener has returned */
  isNews (req, res) {
    return this.count !== 0 || Object.getPrototypeOf(req) !== this.request || Object.getPrototypeOf(res) !== this.response
  }

  /** The listener has returned. @param {EngineRequest} req @param {EngineResponse} res */
  note (req, res) {
    if (this.#isOver) return
    const request = Object.getPrototypeOf(req)
    const response = Object.getPrototypeOf(res)
    if (this.#aligned !== null) {
      // Another application that is mounted below leaves its own prototypes there.
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

  /** For those who know nothing of the application. @param {object} req @param {object} [res] a response, a socket or nothing */
  undo (req, res) {
    this.#aligned?.undo(req, res)
  }

  /** @param {Pair | null} pair null: Node's prototypes, with ours above */
  #construct (pair) {
    const isPinned = watchPinning()
    const isAssignable = pair !== null && isPinned() && makeAssignable(pair)
    this.#isOver ||= pair !== null && !isAssignable
    this.#aligned = isAssignable ? new AlignedPrototypes(pair, kPlain, isPinned) : null
    this.#aligned?.pin()
    const { IncomingMessage, ServerResponse } = this.#aligned?.constructors ?? kPlain
    this.request = IncomingMessage.prototype
    this.response = ServerResponse.prototype
    this.#listener.IncomingMessage = /** @type {EngineListener['IncomingMessage']} */ (/** @type {unknown} */ (IncomingMessage))
    this.#listener.ServerResponse = /** @type {EngineListener['ServerResponse']} */ (/** @type {unknown} */ (ServerResponse))
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
