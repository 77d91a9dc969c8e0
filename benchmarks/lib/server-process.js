'use strict'

// A server under measurement: one process per scenario and implementation, pinned to one CPU.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { run } = require('../../tools/lib/project')

const kServerProgram = path.join(__dirname, '..', 'server.js')
const kFloorSource = path.join(__dirname, '..', 'floor.cc')
const kFloorProgram = path.join(__dirname, '..', 'build', 'floor')

/** @returns {Promise<string>} the program of the row "floor", built if it must be */
async function floorProgram () {
  const isNew = fs.existsSync(kFloorProgram) && fs.statSync(kFloorProgram).mtimeMs > fs.statSync(kFloorSource).mtimeMs
  if (!isNew) {
    fs.mkdirSync(path.dirname(kFloorProgram), { recursive: true })
    await run(process.env.CXX ?? 'c++', ['-O2', '-std=c++20', '-o', kFloorProgram, kFloorSource])
  }
  return kFloorProgram
}

class ServerProcess {
  #child
  #talks
  port = 0

  /** @param {import('node:child_process').ChildProcess} child @param {boolean} talks over an IPC channel */
  constructor (child, talks) {
    this.#child = child
    this.#talks = talks
  }

  /**
   * @param {object} what
   * @param {string} what.scenario
   * @param {string} what.implementation
   * @param {number} what.cpu
   * @returns {Promise<ServerProcess>} once it listens
   */
  static async start ({ scenario, implementation, cpu }) {
    if (implementation === 'floor') return ServerProcess.#startFloor(cpu)
    const child = spawn('taskset', [
      '-c', String(cpu), process.execPath, '--expose-gc', kServerProgram, scenario, implementation,
    ], {
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const server = new ServerProcess(child, true)
    const { port } = await server.#answer()
    server.port = port
    return server
  }

  /** @param {number} cpu */
  static async #startFloor (cpu) {
    const child = spawn('taskset', ['-c', String(cpu), await floorProgram()], { stdio: ['ignore', 'pipe', 'inherit'] })
    const server = new ServerProcess(child, false)
    const [line] = await Promise.race([
      once(/** @type {import('node:stream').Readable} */ (child.stdout), 'data'),
      once(child, 'exit').then(() => { throw new Error('benchmarks/build/floor ended by itself') })
    ])
    server.port = Number(line)
    return server
  }

  /** The process's id: taskset replaces itself with Node. */
  get pid () {
    return /** @type {number} */ (this.#child.pid)
  }

  /** @returns {Promise<{ bytes: number }>} body bytes the application has received so far */
  async count () {
    if (!this.#talks) return { bytes: 0 }
    this.#child.send('count')
    return this.#answer()
  }

  /** @returns {Promise<{ rss: number }>} resident bytes after garbage collection */
  collect () {
    this.#child.send('collect')
    return this.#answer()
  }

  async stop () {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }

  /** @returns {Promise<any>} */
  async #answer () {
    const ended = new AbortController()
    const died = once(this.#child, 'exit', { signal: ended.signal }).then(([status, signal]) => {
      throw new Error(`A server under measurement ended by itself (${signal ?? status})`)
    }, () => {})
    try {
      const [message] = await Promise.race([once(this.#child, 'message'), /** @type {Promise<any>} */ (died)])
      return message
    } finally {
      ended.abort()
    }
  }
}

module.exports = { ServerProcess }
