'use strict'

// Turns an error that our code has intercepted into an uncaught exception, with the message of the original throw.

const { nodeProcess } = require('./node-process')

/** The members of Node's JSStream that are used here. @typedef {{ onreadstart: () => void, readStart: () => void }} Caller */

// Makes a JSStream of Node, or returns null. Its readStart() calls onreadstart() at once, and an error thrown there becomes an uncaught
// exception whose message names the place of the throw. Node-API's message would name the place where the error was created.
function findCaller () {
  const { noDeprecation } = nodeProcess
  try {
    nodeProcess.noDeprecation = true // No warning to the application: this call of binding() is ours.
    const { JSStream } = /** @type {NodeJS.Process & { binding: (name: string) => { JSStream: new () => Caller } }} */ (nodeProcess).binding('js_stream')
    const found = new JSStream()
    return typeof found.readStart === 'function' ? found : null
  } catch {
    return null // The permission model forbids it.
  } finally {
    nodeProcess.noDeprecation = noDeprecation
  }
}

/**
 * @param {Generator<unknown, void, unknown>} thrower suspended in a `finally` after a throw: its next() throws the error, which is then uncaught
 * @param {(error: unknown) => void} fatalException of Node-API
 */
function throwOn (thrower, fatalException) {
  // With a listener no message is printed, so fatalException() is enough; hooks of node:async_hooks would see the JSStream call begin, but not end.
  const isHeard = nodeProcess.listenerCount('uncaughtException') !== 0 || nodeProcess.hasUncaughtExceptionCaptureCallback()
  const caller = isHeard ? null : findCaller()
  if (caller !== null) {
    caller.onreadstart = () => { thrower.next() }
    caller.readStart()
    return
  }
  try {
    thrower.next()
  } catch (error) {
    fatalException(error)
  }
}

module.exports = { throwOn }
