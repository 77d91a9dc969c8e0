'use strict'

// Finds all options in an object, including inherited ones and accessors of a class. Node accepts these, because it reads most options
// one by one; Object.keys() alone would miss them.

/**
 * Returns the names of an object's own and inherited options, without a class's methods and the members of Object.prototype.
 *
 * @param {object} options
 * @returns {string[]} each once, own ones first
 */
function namesGiven (options) {
  const names = new Set(Object.keys(options))
  const above = Object.getPrototypeOf
  for (let from = above(options); from !== null && from !== Object.prototype; from = above(from)) {
    const isRoot = Object.getPrototypeOf(from) === null // Perhaps Object.prototype of another realm.
    for (const [name, { enumerable, get }] of Object.entries(Object.getOwnPropertyDescriptors(from))) {
      if (enumerable || (get !== undefined && !isRoot)) names.add(name)
    }
  }
  return [...names]
}

/**
 * Copies an object, with all inherited options as own properties.
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
