'use strict'

// The processes of the scenario websocket: a server on one CPU, its clients on another.

const { once } = require('node:events')
const path = require('node:path')
const readline = require('node:readline')
const { Server, built, end, pinned, unlessEnded } = require('../lib/processes')
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

class Clients {
  #child
  #lines

  /** @param {import('node:child_process').ChildProcess} child */
  constructor (child) {
    this.#child = child
    this.#lines = readline.createInterface({ input: /** @type {import('node:stream').Readable} */ (child.stdout) })
  }

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
    await clients.#line()
    return clients
  }

  get pid () {
    return /** @type {number} */ (this.#child.pid)
  }

  /** @returns {Promise<any>} */
  async #line () {
    const [line] = await unlessEnded(this.#child, 'The load', /** @type {Promise<any[]>} */ (once(this.#lines, 'line')))
    return JSON.parse(line)
  }

  /** @param {string} command see load.cc @returns {Promise<{ messages: number, bytes: number, seconds: number }>} */
  ask (command) {
    this.#child.stdin?.write(`${command}\n`)
    return this.#line()
  }

  stop () {
    return end(this.#child)
  }
}

module.exports = { Clients, startServer }
