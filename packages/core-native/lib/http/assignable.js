/* eslint strict: "off" -- This code is sloppy: only a sloppy function can ask whether strict code has called it. */

// A program around an application may assign to any name of a request before the application gets it. On Node that makes an own
// property. Where the request has the application's prototype from the beginning, an accessor without a setter (Express' req.ip) would
// refuse the assignment; setters that make the own property let it through. Once Express has the request, they do what Node does without
// a setter: strict code gets an error, and sloppy code nothing.

const http = require('node:http')
const { untilUnpinned } = require('./insert-prototype')
const { kResource } = require('./symbols')

/** @typedef {{ req?: object, res?: { locals?: unknown } }} Message a request with the response that Express gives it, or a response with its request */

/** @param {object} req @returns {boolean} whether Express has it: it sets these properties where it sets the prototypes */
function isEntered (req) {
  return /** @type {Message} */ (req).res?.locals !== undefined
}

/**
 * Lets every name of these prototypes be assigned on the engine's requests and responses that Express does not have yet, until
 * unregister(). Idempotent.
 *
 * @param {{ request: object, response: object }} pair of prototypes that extend Node's
 * @returns {boolean} false: one of them does not let itself be changed, and both are as they were
 */
function makeAssignable ({ request, response }) {
  /** @type {[layer: object, undo: () => void][]} */
  const changes = []
  try {
    for (const [prototype, base] of [[request, http.IncomingMessage.prototype], [response, http.ServerResponse.prototype]]) {
      for (let layer = prototype; layer !== base; layer = Object.getPrototypeOf(layer)) {
        for (const key of Reflect.ownKeys(layer)) {
          const undo = addSetter(layer, key)
          if (undo !== null) changes.push([layer, undo])
        }
      }
    }
  } catch { // A layer is frozen, or runs code of its own.
    for (const [, undo] of changes) undo()
    return false
  }
  for (const [layer, undo] of changes) untilUnpinned(layer, undo)
  return true
}

/** @param {object} layer @param {string | symbol} key @returns {(() => void) | null} takes it back; null: the property can be assigned without it */
function addSetter (layer, key) {
  const original = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(layer, key))
  if (original.set !== undefined || original.writable === true) return null
  const get = original.get ?? (() => original.value)
  /** @this {object} @param {unknown} value */
  const set = function (value) { // A method or an arrow function would have no `caller`.
    const req = /** @type {Message} */ (this).req ?? this
    if (kResource in req && !isEntered(req)) {
      Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true })
    } else if (set.caller === null) {
      Object.assign(Object.create(this, { [key]: original }), { [key]: value }) // Throws what the assignment would.
    }
  }
  Object.defineProperty(layer, key, { configurable: true, enumerable: original.enumerable, get, set })
  return () => {
    // Somebody else may have replaced it, or its getter, meanwhile; theirs stays.
    const now = Object.getOwnPropertyDescriptor(layer, key)
    if (now?.set === set) Reflect.defineProperty(layer, key, now.get === get ? original : { ...now, set: undefined })
  }
}

module.exports = { isEntered, makeAssignable }
