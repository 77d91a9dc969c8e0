'use strict'

// Functions for the undocumented members of EventEmitter.

/** Listeners by event: without a prototype to speak of, but with a hidden class. */
class Listeners {}
Object.setPrototypeOf(Listeners.prototype, null)
Reflect.deleteProperty(Listeners.prototype, 'constructor')

/**
 * Makes a new emitter's listeners small: Node's own object for them has the form that V8 makes for many keys, and takes three times the memory.
 *
 * @param {NodeJS.EventEmitter} emitter that never had a listener
 */
function shrinkListeners (emitter) {
  /** @type {import('../../types/node-internals').PrivateEmitter} */ (emitter)._events = new Listeners()
}

module.exports = { shrinkListeners }
