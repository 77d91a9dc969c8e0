'use strict'

// The options that an object gives. Node reads most of them one by one, so that inherited ones and those of a class's accessors
// count; whoever looks at the object's own properties alone would ignore the others in silence.

/**
 * The names of an object's own and inherited options. Methods of a class are none, nor is anything that every object has.
 *
 * @param {object} options
 * @returns {string[]} each once, own ones first
 */
function namesGiven (options) {
  const names = new Set(Object.keys(options))
  for (let from = Object.getPrototypeOf(options); from !== null && from !== Object.prototype; from = Object.getPrototypeOf(from)) {
    const isRoot = Object.getPrototypeOf(from) === null // Perhaps Object.prototype of another realm.
    for (const [name, { enumerable, get }] of Object.entries(Object.getOwnPropertyDescriptors(from))) {
      if (enumerable || (get !== undefined && !isRoot)) names.add(name)
    }
  }
  return [...names]
}

/**
 * A copy that has all of them as its own.
 *
 * @template {object} T
 * @param {T} options
 * @returns {T}
 */
function withInherited (options) {
  const all = /** @type {Record<string, unknown>} */ ({ ...options })
  for (const name of namesGiven(options)) all[name] = /** @type {Record<string, unknown>} */ (options)[name]
  return /** @type {T} */ (all)
}

module.exports = { namesGiven, withInherited }
