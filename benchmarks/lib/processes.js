'use strict'

// Processes of a benchmark: programs in C++ or Go, built when they must be; servers, pinned to a CPU.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const readline = require('node:readline')
const { run } = require('../../tools/lib/project')

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

const kBuild = path.join(__dirname, '..', 'build')

/** @param {string} source a file in C++, or a program's in Go @param {string} name @param {string[]} [libraries] @returns {Promise<string>} the program, built if it must be */
async function built (source, name, libraries = []) {
  const program = path.join(kBuild, name)
  const isNew = fs.existsSync(program) && fs.statSync(program).mtimeMs > fs.statSync(source).mtimeMs
  if (!isNew) {
    fs.mkdirSync(kBuild, { recursive: true })
    if (source.endsWith('.go')) await run('go', ['build', '-buildvcs=false', '-o', program, '.'], { cwd: path.dirname(source) })
    else await run(process.env.CXX ?? 'c++', ['-O2', '-std=c++20', '-o', program, source, ...libraries])
  }
  return program
}

/** @param {number | string} cpu or a list such as 0,1 @param {string[]} command @param {import('node:child_process').StdioOptions} stdio @returns {ChildProcess} with the command's own pid */
function pinned (cpu, command, stdio) {
  return spawn('taskset', ['-c', String(cpu), ...command], { env: { ...process.env, NODE_ENV: 'production' }, stdio })
}

/**
 * The next of something, unless the process ends.
 *
 * @template T
 * @param {ChildProcess} child
 * @param {string} name
 * @param {Promise<T>} answer
 * @returns {Promise<T>}
 */
async function unlessEnded (child, name, answer) {
  if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${name} has ended`)
  const ended = new AbortController()
  const died = once(child, 'exit', { signal: ended.signal })
    .then(([status, signal]) => { throw new Error(`${name} ended by itself (${signal ?? status})`) }, () => new Promise(() => {}))
  try {
    return await Promise.race([answer, /** @type {Promise<any>} */ (died)])
  } finally {
    ended.abort()
  }
}

/** @param {ChildProcess} child */
async function end (child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

/** A server under measurement. */
class Server {
  #child
  #name

  /** @param {ChildProcess} child @param {string} name @param {number} port */
  constructor (child, name, port) {
    this.#child = child
    this.#name = name
    this.port = port
  }

  /**
   * @param {string} name
   * @param {number | string} cpu or a list such as 0,1
   * @param {string[]} args of Node: a program that sends its parent `{ port }`
   * @param {string[]} [wrap] a command that becomes Node, such as one that changes limits
   * @returns {Promise<Server>} once it listens
   */
  static async node (name, cpu, args, wrap = []) {
    const child = pinned(cpu, [...wrap, process.execPath, ...args], ['ignore', 'inherit', 'inherit', 'ipc'])
    const [{ port }] = await unlessEnded(child, name, /** @type {Promise<any[]>} */ (once(child, 'message')))
    return new Server(child, name, port)
  }

  /** @param {string} name @param {number} cpu @param {string[]} command a program that prints its port @returns {Promise<Server>} once it listens */
  static async program (name, cpu, command) {
    const child = pinned(cpu, command, ['ignore', 'pipe', 'inherit'])
    const [line] = await unlessEnded(child, name, once(/** @type {import('node:stream').Readable} */ (child.stdout), 'data'))
    return new Server(child, name, Number(line))
  }

  /** taskset replaces itself with the server. */
  get pid () {
    return /** @type {number} */ (this.#child.pid)
  }

  /** @param {string} question @returns {Promise<any>} the answer of a program of Node's */
  async ask (question) {
    this.#child.send(question)
    const [answer] = await unlessEnded(this.#child, this.#name, /** @type {Promise<any[]>} */ (once(this.#child, 'message')))
    return answer
  }

  stop () {
    return end(this.#child)
  }
}

/** A program that answers each line of its input with a line of JSON. */
class LineProgram {
  #child
  #lines

  /** @param {ChildProcess} child with pipes to its input and from its output */
  constructor (child) {
    this.#child = child
    this.#lines = readline.createInterface({ input: /** @type {import('node:stream').Readable} */ (child.stdout) })
  }

  get pid () {
    return /** @type {number} */ (this.#child.pid)
  }

  /** @returns {Promise<any>} the next line of output */
  async answer () {
    const [line] = await unlessEnded(this.#child, 'The load', /** @type {Promise<any[]>} */ (once(this.#lines, 'line')))
    return JSON.parse(line)
  }

  /** @param {string} command @returns {Promise<any>} */
  ask (command) {
    this.#child.stdin?.write(`${command}\n`)
    return this.answer()
  }

  stop () {
    return end(this.#child)
  }
}

module.exports = { LineProgram, Server, built, end, kBuild, pinned, unlessEnded }
