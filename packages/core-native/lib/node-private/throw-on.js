'use strict'

// Throws an error as if it had never been caught.

const { nodeProcess } = require('./node-process')

/** What of Node's JSStream is used here. @typedef {{ onreadstart: () => void, readStart: () => void }} Caller */

// Node calls onreadstart() at once, and what that throws becomes an uncaught exception with the message that V8 has of it. Node-API would
// make another message, of the place where the error was created.
function findCaller () {
  const { noDeprecation } = nodeProcess
  try {
    nodeProcess.noDeprecation = true // The application does not call binding().
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
 * @param {Generator<unknown, void, unknown>} thrower waits in a `finally` into which something was thrown: what leaves it is an uncaught exception
 * @param {(error: unknown) => void} fatalException of Node-API
 */
function throwOn (thrower, fatalException) {
  // Whoever hears of the error gets no message. Hooks of node:async_hooks would see the call begin and not end.
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
