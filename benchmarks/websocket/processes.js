'use strict'

// The processes of the scenario websocket: a server on one CPU, its clients on another.

const path = require('node:path')
const { LineProgram, Server, built, pinned } = require('../lib/processes')
const { kFloor } = require('./sides')

/** @typedef {import('./parts').Part} Part */

/** V8's young generation grows with what was allocated, not with what is there. */
const kSmallYoungGeneration = '--max-semi-space-size=1'

/** @param {string} side @param {Part} part @param {number} cpu @returns {Promise<Server>} once it listens */
async function startServer (side, { mode, deflate, smallYoungGeneration = false }, cpu) {
  if (side === kFloor) return Server.program(side, cpu, [await built(path.join(__dirname, 'floor.cc'), 'websocket-floor'), mode])
  return Server.node(side, cpu, ['--expose-gc', ...smallYoungGeneration ? [kSmallYoungGeneration] : [],
    path.join(__dirname, 'server.js'), side, mode, deflate ? 'deflate' : 'plain'])
}

class Clients extends LineProgram {
  /**
   * @param {Part} part
   * @param {number} port
   * @param {{ cpu: number, connections?: number }} options
   * @returns {Promise<Clients>} once all are connected
   */
  static async start ({ mode, connections, size, binary, deflate }, port, { cpu, connections: other }) {
    const program = await built(path.join(__dirname, 'load.cc'), 'websocket-load', ['-lz'])
    const child = pinned(cpu, [program, mode, String(port), String(other ?? connections),
      String(size), binary ? 'binary' : 'text', deflate ? 'deflate' : 'plain'], ['pipe', 'pipe', 'inherit'])
    const clients = new Clients(child)
    await clients.answer()
    return clients
  }
}

module.exports = { Clients, startServer }
