'use strict'

// http.IncomingMessage with the fields that connection.js keeps on a request.

const http = require('node:http')
const { kResource, kEndHeld } = require('./symbols')

/** @this {any} @param {any} socket */
function EngineIncomingMessage (socket) {
  Reflect.apply(http.IncomingMessage, this, [socket])
  this[kResource] = null
  this[kEndHeld] = false
}

class Methods extends http.IncomingMessage {}

EngineIncomingMessage.prototype = Methods.prototype
Object.defineProperty(EngineIncomingMessage.prototype, 'constructor', {
  value: EngineIncomingMessage, writable: true, configurable: true
})
Object.defineProperty(EngineIncomingMessage, 'name', { value: 'IncomingMessage' })
Object.setPrototypeOf(EngineIncomingMessage, http.IncomingMessage)

module.exports = { EngineIncomingMessage }
