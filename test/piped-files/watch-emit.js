'use strict'

// Preloaded before anything else: sees the events of chosen emitters without being one of their listeners, which would change what happens.
// As the package finds this emit() when it loads, it takes it for Node's.

const { EventEmitter } = require('node:events')

/** @type {WeakMap<object, (event: string, args: unknown[]) => void>} */
const watched = new WeakMap()

const { emit } = EventEmitter.prototype
EventEmitter.prototype.emit = function (event) {
  const see = watched.get(this)
  if (see !== undefined && typeof event === 'string') see(event, [...arguments].slice(1))
  return Reflect.apply(emit, this, arguments)
}

module.exports = { watched }
