'use strict'

// Children for tests about whole processes: exits, signals, memory. A child is a function; its source
// is run by a new Node process, so it must not use anything from around it.

const { spawn } = require('node:child_process')
const path = require('node:path')

const kRoot = path.resolve(__dirname, '..', '..')
// Ends a child that hangs; nothing here takes a tenth of it on a busy machine.
const kChildMs = 60_000

/**
 * What a child function is called with.
 *
 * @typedef {object} ChildContext
 * @property {typeof import('node:http')} http the server under test
 * @property {(message: any) => void} report sends a message to the test
 * @property {any[]} args what the test gave to startChild()
 */

/** @typedef {{ code: number | null, signal: string | null, stdout: string, stderr: string }} Exit */

class Child {
  #messages = /** @type {any[]} */ ([])
  #waiting = /** @type {((error: Error | null) => void)[]} */ ([])

  /** @param {string[]} argv @param {NodeJS.ProcessEnv} [env] @param {number[]} [fds] */
  constructor (argv, env = {}, fds = []) {
    this.stdout = ''
    this.stderr = ''
    this.process = spawn(process.execPath, argv, {
      cwd: kRoot,
      // Under the test runner a child would take itself for a test file.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', ...fds]
    })
    const timer = setTimeout(() => {
      this.stderr += `\nended by the test: still running after ${kChildMs} ms`
      this.process.kill('SIGKILL')
    }, kChildMs)
    this.process.stdout?.on('data', (piece) => { this.stdout += piece })
    this.process.stderr?.on('data', (piece) => { this.stderr += piece })
    this.process.on('message', (message) => {
      this.#messages.push(message)
      this.#wake(null)
    })
    /** @type {Promise<Exit>} resolves when the process has ended and its output is complete */
    this.exit = new Promise((resolve) => {
      this.process.on('close', (code, signal) => {
        clearTimeout(timer)
        const { stdout, stderr } = this
        this.#wake(new Error(`the child ended (${code ?? signal}) without that message:\n${stdout}${stderr}`))
        resolve({ code, signal, stdout, stderr })
      })
    })
  }

  /** @param {Error | null} error */
  #wake (error) {
    for (const wake of this.#waiting.splice(0)) wake(error)
  }

  /**
   * The first message that has this property, now or later.
   *
   * @param {string} property
   * @returns {Promise<any>} its value
   */
  async message (property) {
    for (;;) {
      const found = this.#messages.find((message) => property in message)
      if (found !== undefined) return found[property]
      await /** @type {Promise<void>} */ (new Promise((resolve, reject) => {
        if (this.process.exitCode !== null && !this.process.connected) {
          reject(new Error(`the child ended without the message "${property}":\n${this.stdout}${this.stderr}`))
        }
        this.#waiting.push((error) => error === null ? resolve() : reject(error))
      }))
    }
  }

  /** @param {any} message */
  send (message) {
    this.process.send?.(message)
  }

  /** @param {NodeJS.Signals} [signal] @returns {Promise<Exit>} */
  kill (signal = 'SIGKILL') {
    this.process.kill(signal)
    return this.exit
  }
}

/**
 * Runs a function in a process of its own.
 *
 * @param {(context: ChildContext) => void} run
 * @param {object} [options]
 * @param {any[]} [options.args]
 * @param {string[]} [options.flags] for node
 * @param {NodeJS.ProcessEnv} [options.env]
 * @param {number[]} [options.fds] descriptors of this process that become 4, 5, … of the child
 */
function startChild (run, { args = [], flags = [], env = {}, fds = [] } = {}) {
  const source = `'use strict';(${run})({
    http: require('@httpsys/core-native'),
    report: (message) => process.send(message),
    args: ${JSON.stringify(args)}
  })`
  return new Child([...flags, '-e', source], env, fds)
}

/**
 * Runs a file in a process of its own.
 *
 * @param {string} name below test/fixtures
 * @param {string[]} [args]
 * @param {NodeJS.ProcessEnv} [env]
 */
function startFixture (name, args = [], env = {}) {
  return new Child([path.join(__dirname, '..', 'fixtures', name), ...args], env)
}

module.exports = { startChild, startFixture }
