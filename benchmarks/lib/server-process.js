'use strict'

// A server under measurement: one process per scenario and implementation, pinned to one CPU.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')

const kServerProgram = path.join(__dirname, '..', 'server.js')

class ServerProcess {
  #child
  port = 0

  /** @param {import('node:child_process').ChildProcess} child */
  constructor (child) {
    this.#child = child
  }

  /**
   * @param {object} what
   * @param {string} what.scenario
   * @param {string} what.implementation
   * @param {number} what.cpu
   * @returns {Promise<ServerProcess>} once it listens
   */
  static async start ({ scenario, implementation, cpu }) {
    const child = spawn('taskset', [
      '-c', String(cpu), process.execPath, '--expose-gc', kServerProgram, scenario, implementation,
    ], {
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const server = new ServerProcess(child)
    const { port } = await server.#answer()
    server.port = port
    return server
  }

  /** The process's id: taskset replaces itself with Node. */
  get pid () {
    return /** @type {number} */ (this.#child.pid)
  }

  /** @returns {Promise<{ bytes: number }>} body bytes the application has received so far */
  count () {
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
