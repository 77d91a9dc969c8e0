'use strict'

// Puts a prototype of the engine between an Express module's prototypes and Node's. Objects of servers on
// plain node:http then inherit from it too; its methods are Node's for them.

/** How many adapters use the insertion at an object. @type {Map<object, number>} */
const users = new Map()

/**
 * @param {object} from where the search for the object right above `below` begins
 * @param {object} between
 * @param {object} below
 * @returns {() => void} takes it back when nobody else uses it; call it once
 */
function insertPrototype (from, between, below) {
  const top = objectAbove(from, between, below)
  if (top === null) return () => {}
  const inserted = Object.getPrototypeOf(top) === between
  if (inserted ? !users.has(top) : !Reflect.setPrototypeOf(top, between)) return () => {}
  users.set(top, (users.get(top) ?? 0) + 1)
  return () => {
    const left = /** @type {number} */ (users.get(top)) - 1
    users.set(top, left)
    if (left > 0) return
    users.delete(top)
    // Somebody else may have changed it meanwhile; theirs stays.
    if (Object.getPrototypeOf(top) === between) Object.setPrototypeOf(top, below)
  }
}

/**
 * @param {object} from
 * @param {object} between
 * @param {object} below
 * @returns {object | null} null when there is nothing to insert
 */
function objectAbove (from, between, below) {
  if (between === below) return null
  for (let object = from; object !== below && object !== between;) {
    const parent = Object.getPrototypeOf(object)
    if (parent === below || parent === between) return object
    if (parent === null) return null
    object = parent
  }
  return null
}

/** What was inserted for as long as the process runs. @type {Map<object, () => void>} by the object it is above */
const pins = new Map()

/** Inserts it until unpinPrototypes(). Idempotent. @param {object} from @param {object} between @param {object} below as for insertPrototype() */
function pinPrototype (from, between, below) {
  const top = objectAbove(from, between, below)
  if (top !== null && !pins.has(top)) pins.set(top, insertPrototype(from, between, below))
}

/** Takes back what was pinned. */
function unpinPrototypes () {
  for (const remove of pins.values()) remove()
  pins.clear()
}

module.exports = { insertPrototype, pinPrototype, unpinPrototypes }
