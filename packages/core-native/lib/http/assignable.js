/* eslint strict: "off" -- This code is sloppy: only a sloppy function can ask whether strict code has called it. */

// Makes properties of requests assignable until Express has the request. On Node, a program around an application may assign to any
// property before the application gets the request: this makes an own property. If the request has the application's prototype from the
// beginning, an accessor without a setter (Express' req.ip) would refuse the assignment, so the setters of this file make the own property.
// Once Express has the request, they do what Node does without a setter: strict code gets an error, and an assignment by sloppy code has no
// effect.

const http = require('node:http')
const { untilUnpinned } = require('./insert-prototype')
const { kResource } = require('./symbols')

/** @typedef {{ req?: object, res?: { locals?: unknown } }} Message a request with the response that Express gives it, or a response with its request */

/** @param {object} req @returns {boolean} whether Express has begun with the request: it sets `res` and `locals` when it sets the prototypes */
function isEntered (req) {
  return /** @type {Message} */ (req).res?.locals !== undefined
}

/**
 * Makes every property of two prototypes assignable, until unregister(), on requests and responses of the engine that Express does not
 * have yet. Idempotent.
 *
 * @param {{ request: object, response: object }} pair of prototypes that extend Node's
 * @returns {boolean} false: one of them cannot be changed, and both are left as they were
 */
function makeAssignable ({ request, response }) {
  /** @type {[layer: object, undo: () => void][]} */
  const changes = []
  try {
    for (const [prototype, base] of [[request, http.IncomingMessage.prototype],
      [response, http.ServerResponse.prototype]]) {
      for (let layer = prototype; layer !== base; layer = Object.getPrototypeOf(layer)) {
        for (const key of Reflect.ownKeys(layer)) {
          const undo = addSetter(layer, key)
          if (undo !== null) changes.push([layer, undo])
        }
      }
    }
  } catch { // A prototype is frozen, or is a Proxy that throws.
    for (const [, undo] of changes) undo()
    return false
  }
  for (const [layer, undo] of changes) untilUnpinned(layer, undo)
  return true
}

/**
 * @param {object} layer
 * @param {string | symbol} key
 * @returns {(() => void) | null} removes the setter; null: the property can be assigned without one
 */
function addSetter (layer, key) {
  const original = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(layer, key))
  if (original.set !== undefined || original.writable === true) return null
  const get = original.get ?? (() => original.value)
  /** @this {object} @param {unknown} value */
  const set = function (value) { // A function expression, because methods and arrow functions have no `caller`.
    const req = /** @type {Message} */ (this).req ?? this
    if (kResource in req && !isEntered(req)) {
      Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true })
    } else if (set.caller === null) {
      Object.assign(Object.create(this, { [key]: original }), { [key]: value }) // Throws what the assignment would.
    }
  }
  Object.defineProperty(layer, key, { configurable: true, enumerable: original.enumerable, get, set })
  return () => {
    // If other code has replaced the setter or the getter meanwhile, its function stays.
    const now = Object.getOwnPropertyDescriptor(layer, key)
    if (now?.set === set) Reflect.defineProperty(layer, key, now.get === get ? original : { ...now, set: undefined })
  }
}

module.exports = { isEntered, makeAssignable }
