'use strict'

// Functions for the undocumented members of EventEmitter.

/** Table of listeners by event: like an object without prototype, but with a hidden class. */
class Listeners {}
Object.setPrototypeOf(Listeners.prototype, null)
Reflect.deleteProperty(Listeners.prototype, 'constructor')

/**
 * Gives a new emitter a small table of listeners. Node's own table is an object in V8's dictionary form, which needs three times the memory.
 *
 * @param {NodeJS.EventEmitter} emitter must never have had a listener
 */
function shrinkListeners (emitter) {
  /** @type {import('../../types/node-internals').PrivateEmitter} */ (emitter)._events = new Listeners()
}

module.exports = { shrinkListeners }
