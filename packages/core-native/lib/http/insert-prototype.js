'use strict'

// Puts a prototype of the engine between an Express module's prototypes and Node's. Objects of servers on
// plain node:http then inherit from it too; for them its methods do what Node's do.

/** Number of users of the insertion at an object: adapters, and at most one pin. @type {WeakMap<object, number>} */
const users = new WeakMap()

/**
 * Inserts a prototype in a chain, directly above another one.
 *
 * @param {object} from where the search for the object right above `below` begins
 * @param {object} between
 * @param {object} below
 * @returns {() => void} undoes the insertion if it has no other user; must be called at most once
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
    // If other code has changed the prototype meanwhile, its change stays.
    if (Object.getPrototypeOf(top) === between) Object.setPrototypeOf(top, below)
  }
}

/**
 * @param {object} from
 * @param {object} between
 * @param {object} below
 * @returns {object | null} the object whose prototype is `below` or `between`; null: nothing to insert
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

/** Functions that undo the changes of an object. @type {WeakMap<object, (() => void)[]>} */
const undos = new WeakMap()
/** The objects of `undos`; some may have been collected. @type {Set<WeakRef<object>>} */
const changed = new Set()
/** The objects that pinPrototype() has changed. */
let pinned = new WeakSet()
/** Identifies the time since the module was loaded or setPinning(true); null after setPinning(false). @type {object | null} */
let pinning = {}

/** @returns {() => boolean} whether changes may be made, and setPinning(false) was not called since watchPinning() */
function watchPinning () {
  const since = pinning
  return () => since !== null && since === pinning
}

/** @param {object} object @param {() => void} undo undoes a change of the object; setPinning(false) calls it */
function untilUnpinned (object, undo) {
  const known = undos.get(object)
  if (known !== undefined) return known.push(undo)
  undos.set(object, [undo])
  changed.add(new WeakRef(object))
}

/** Does what insertPrototype() does, until setPinning(false). Idempotent. @param {object} from @param {object} between @param {object} below as there */
function pinPrototype (from, between, below) {
  const top = objectAbove(from, between, below)
  if (top === null || pinned.has(top)) return
  pinned.add(top)
  untilUnpinned(top, insertPrototype(from, between, below))
}

/** @param {boolean} isWanted false: undoes all changes, and watchPinning() allows none until setPinning(true) */
function setPinning (isWanted) {
  if (isWanted) {
    pinning ??= {}
    return
  }
  pinning = null
  pinned = new WeakSet()
  for (const ref of changed) {
    const object = ref.deref()
    if (object === undefined) continue
    undos.get(object)?.forEach((undo) => undo())
    undos.delete(object)
  }
  changed.clear()
}

module.exports = { insertPrototype, pinPrototype, setPinning, untilUnpinned, watchPinning }
