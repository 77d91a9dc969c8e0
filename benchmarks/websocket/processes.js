'use strict'

// The processes of the scenario websocket: a server on one CPU, its clients on another.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const readline = require('node:readline')
const { run } = require('../../tools/lib/project')
const { kFloor } = require('./sides')

/** @typedef {import('./parts').Part} Part */

/** V8's young generation grows with what was allocated, not with what is there. */
const kSmallYoungGeneration = '--max-semi-space-size=1'

const kBuild = path.join(__dirname, '..', 'build')

/** @param {string} name of a source beside this file @param {string[]} libraries @returns {Promise<string>} the program, built if it must be */
async function built (name, libraries = []) {
  const source = path.join(__dirname, `${name}.cc`)
  const program = path.join(kBuild, `websocket-${name}`)
  const isNew = fs.existsSync(program) && fs.statSync(program).mtimeMs > fs.statSync(source).mtimeMs
  if (!isNew) {
    fs.mkdirSync(kBuild, { recursive: true })
    await run(process.env.CXX ?? 'c++', ['-O2', '-std=c++20', '-o', program, source, ...libraries])
  }
  return program
}

/**
 * The next of something, unless the process ends.
 *
 * @template T
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} name
 * @param {Promise<T>} answer
 * @returns {Promise<T>}
 */
async function unlessEnded (child, name, answer) {
  if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${name} has ended`)
  const ended = new AbortController()
  const died = once(child, 'exit', { signal: ended.signal })
    .then(() => { throw new Error(`${name} ended by itself`) }, () => new Promise(() => {}))
  try {
    return await Promise.race([answer, /** @type {Promise<any>} */ (died)])
  } finally {
    ended.abort()
  }
}

/** @param {import('node:child_process').ChildProcess} child */
async function end (child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

class Server {
  #child
  #name
  port = 0

  /** @param {import('node:child_process').ChildProcess} child @param {string} name */
  constructor (child, name) {
    this.#child = child
    this.#name = name
  }

  /** @param {string} side @param {Part} part @param {number} cpu @returns {Promise<Server>} once it listens */
  static async start (side, { mode, deflate, smallYoungGeneration = false }, cpu) {
    if (side === kFloor) {
      const child = spawn('taskset', ['-c', String(cpu), await built('floor'), mode], { stdio: ['ignore', 'pipe', 'inherit'] })
      const server = new Server(child, side)
      const [line] = await unlessEnded(child, side, once(/** @type {import('node:stream').Readable} */ (child.stdout), 'data'))
      server.port = Number(line)
      return server
    }
    const child = spawn('taskset', ['-c', String(cpu), process.execPath, '--expose-gc',
      ...smallYoungGeneration ? [kSmallYoungGeneration] : [], path.join(__dirname, 'server.js'), side,
      mode, deflate ? 'deflate' : 'plain'],
    { env: { ...process.env, NODE_ENV: 'production' }, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const server = new Server(child, side)
    const [{ port }] = await unlessEnded(child, side, /** @type {Promise<any[]>} */ (once(child, 'message')))
    server.port = port
    return server
  }

  get pid () {
    return /** @type {number} */ (this.#child.pid)
  }

  /** @returns {Promise<number>} resident bytes after garbage collection */
  async collect () {
    this.#child.send('collect')
    const [{ rss }] = await unlessEnded(this.#child, this.#name, /** @type {Promise<any[]>} */ (once(this.#child, 'message')))
    return rss
  }

  stop () {
    return end(this.#child)
  }
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
    const child = spawn('taskset', ['-c', String(cpu), await built('load', ['-lz']), mode, String(port), String(other ?? connections),
      String(size), binary ? 'binary' : 'text', deflate ? 'deflate' : 'plain'],
    { stdio: ['pipe', 'pipe', 'inherit'] })
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

module.exports = { Clients, Server }
