'use strict'

// A program around an application may assign to any name of a request before the application gets it. On Node that makes an own
// property. Where the request has the application's prototype from the beginning, an accessor without a setter (Express' req.ip) would
// refuse the assignment; setters that make the own property let it through.

/** The prototypes that have these setters. @type {WeakSet<object>} */
const assignable = new WeakSet()

/**
 * Lets every name of a prototype be assigned on the objects that inherit from it. Idempotent.
 *
 * @param {object} prototype of an application
 * @param {object} base Node's prototype that it extends
 * @returns {boolean} false: the prototype does not let itself be changed
 */
function makeAssignable (prototype, base) {
  if (assignable.has(prototype)) return true
  /** @type {PropertyDescriptorMap} */
  const setters = {}
  const known = new Set()
  for (let layer = prototype; layer !== base; layer = Object.getPrototypeOf(layer)) {
    for (const key of Reflect.ownKeys(layer)) {
      if (known.has(key)) continue
      known.add(key)
      const property = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(layer, key))
      if (property.set !== undefined || property.writable === true) continue
      Reflect.set(setters, key, { configurable: true, enumerable: property.enumerable, get: getterOf(prototype, layer, key, property), set: setterOf(key) })
    }
  }
  try {
    Object.defineProperties(prototype, setters)
  } catch { // The prototype is sealed, or one of its properties is.
    return false
  }
  assignable.add(prototype)
  return true
}

/** @param {object} prototype @param {object} layer whose property it is @param {string | symbol} key @param {PropertyDescriptor} property @returns {(this: object) => unknown} */
function getterOf (prototype, layer, key, property) {
  // A program may replace the property where it is, or mount the application below another one.
  if (layer !== prototype) return function () { return Reflect.get(Object.getPrototypeOf(prototype), key, this) }
  return property.get ?? (() => property.value)
}

/** @param {string | symbol} key @returns {(this: object, value: unknown) => void} */
function setterOf (key) {
  return function (value) { Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true }) }
}

module.exports = { makeAssignable }
