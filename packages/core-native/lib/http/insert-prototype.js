'use strict'

// Puts a prototype of the engine between an Express module's prototypes and Node's. Objects of servers on
// plain node:http then inherit from it too; its methods are Node's for them.

/** How many use the insertion at an object: adapters, and one pin. @type {WeakMap<object, number>} */
const users = new WeakMap()

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

/** Takes back what was pinned at an object. @type {WeakMap<object, () => void>} */
const removals = new WeakMap()
/** The objects of `removals`, of which some may be gone. @type {Set<WeakRef<object>>} */
const pins = new Set()
let isPinning = true

/** Inserts it until setPinning(false). Idempotent. @param {object} from @param {object} between @param {object} below as for insertPrototype() */
function pinPrototype (from, between, below) {
  const top = isPinning ? objectAbove(from, between, below) : null
  if (top === null || removals.has(top)) return
  removals.set(top, insertPrototype(from, between, below))
  pins.add(new WeakRef(top))
}

/** @param {boolean} isWanted false: takes back what was pinned, and pins nothing until true */
function setPinning (isWanted) {
  isPinning = isWanted
  if (isWanted) return
  for (const pin of pins) {
    const top = pin.deref()
    if (top === undefined) continue
    removals.get(top)?.()
    removals.delete(top)
  }
  pins.clear()
}

module.exports = { insertPrototype, pinPrototype, setPinning }
