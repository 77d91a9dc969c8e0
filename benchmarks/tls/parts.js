'use strict'

// What is measured, and the ratios to node:https that the project wants to reach.

/**
 * @typedef {object} Part
 * @property {string} name
 * @property {string} title
 * @property {'keep' | 'full' | 'resumed'} mode of load/main.go
 * @property {'rsa' | 'ec'} key
 * @property {number} connections
 * @property {{ process: number, thread?: number }} target
 */

/** @type {Part[]} */
const kParts = [
  { name: 'keep-alive', title: '64 kept connections, P-256', mode: 'keep', key: 'ec', connections: 64, target: { process: 0.52, thread: 0.16 } },
  { name: 'full RSA-2048', title: 'a connection and a full handshake for each request, RSA-2048', mode: 'full', key: 'rsa', connections: 32, target: { process: 0.85 } },
  { name: 'full P-256', title: 'the same with P-256', mode: 'full', key: 'ec', connections: 32, target: { process: 0.75 } },
  { name: 'resumed', title: 'a connection for each request, with the session of the one before, P-256', mode: 'resumed', key: 'ec', connections: 32, target: { process: 0.68 } },
]

module.exports = { kParts }
