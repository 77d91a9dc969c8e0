'use strict'

// A server of Node's under callgrind: instructions in user mode do not depend on what else the machine does.

const { execFile } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { promisify } = require('node:util')
const { Server, pinned, unlessEnded } = require('./processes')

const run = promisify(execFile)

class CountedServer {
  #server
  #folder
  #dumps = 0

  /** @param {Server} server @param {string} folder of callgrind's files */
  constructor (server, folder) {
    this.#server = server
    this.#folder = folder
  }

  /** @param {string} name @param {number} cpu @param {string[]} args of Node: a program that sends its parent `{ port }` @returns {Promise<CountedServer>} once it listens */
  static async start (name, cpu, args) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-callgrind-'))
    const child = pinned(cpu, ['valgrind', '--tool=callgrind', '--instr-atstart=no', '--smc-check=all-non-file',
      `--callgrind-out-file=${path.join(folder, 'counts')}`, `--log-file=${path.join(folder, 'log')}`, process.execPath, ...args], ['ignore', 'inherit', 'inherit', 'ipc'])
    try {
      const [{ port }] = await unlessEnded(child, name, /** @type {Promise<any[]>} */ (once(child, 'message')))
      return new CountedServer(new Server(child, name, port), folder)
    } catch (error) {
      await new CountedServer(new Server(child, name, 0), folder).stop()
      throw error
    }
  }

  get port () {
    return this.#server.port
  }

  /** @param {...string} args of callgrind_control */
  #control (...args) {
    return run('callgrind_control', [...args, String(this.#server.pid)])
  }

  /**
   * Counts from now on. To begin, callgrind forgets all code that it has translated; and as slow as a counted process is, its threads
   * meet in other ways, so that V8 sees types that are new to it and compiles again. The load lets both get over it.
   *
   * @param {() => Promise<unknown>} load
   */
  async begin (load) {
    await this.#control('-i', 'on')
    await load()
  }

  /** @param {() => Promise<number>} load tells how many requests it made @returns {Promise<number>} instructions per request, after begin() */
  async measure (load) {
    await this.#control('-z')
    const requests = await load()
    await this.#control('-d')
    const found = /^totals: (\d+)/m.exec(fs.readFileSync(path.join(this.#folder, `counts.${++this.#dumps}`), 'utf8'))
    if (found === null) throw new Error('callgrind told no total')
    return Number(found[1]) / requests
  }

  async stop () {
    await this.#server.stop()
    fs.rmSync(this.#folder, { recursive: true, force: true })
  }
}

module.exports = { CountedServer }
