'use strict'

// What tests about shared ports are made of: processes that do as they are told, clients that count.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http2 = require('node:http2')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const tls = require('node:tls')
const { spawn, spawnSync } = require('node:child_process')
const { EventEmitter, once } = require('node:events')
const { createInterface } = require('node:readline')
const { setTimeout: sleep } = require('node:timers/promises')
const { loadBinding } = require('../../packages/core-native/lib/backend/binding')
const { backend } = require('../helpers/backend')
const { readByPeer, silence, until } = require('../helpers/waiting')

const kMember = path.join(__dirname, '..', 'fixtures', 'sharing-member.js')
// Ends what hangs; nothing here takes a tenth of it on a busy machine.
const kAnswerMs = 30_000
const kSkip = backend === 'node'
  ? 'node:http knows neither prefixes nor shared ports'
  : process.platform === 'win32' && 'HTTP.SYS itself shares the ports there'

/**
 * Files by which the JavaScript of another process is kept busy, at most until the end of the test. A request with `?block=<folder>` does it,
 * too.
 *
 * @param {import('node:test').TestContext} t
 */
function blockade (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-block-'))
  const [begun, over] = ['begun', 'over'].map((name) => path.join(folder, name))
  const release = () => fs.writeFileSync(over, '')
  t.after(() => {
    release()
    fs.rmSync(folder, { recursive: true })
  })
  return { folder, begun, over, release, isBusy: () => until(() => fs.existsSync(begun), 'the process is busy') }
}

/** Signals that no test sends. @type {(string | null)[]} */
const kCrashes = ['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE', 'SIGTRAP']

/**
 * A process that listens with others.
 */
class Member {
  #waiting = /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */ (new Map())
  #lastId = 0
  output = ''

  /** @param {NodeJS.ProcessEnv} [env] beside that of the test @param {string[]} [through] a command that runs the rest of its line
   * @param {number[]} [fds] what it has as 4 and above */
  constructor (env, through = [], fds = []) {
    const [program, ...args] = [...through, process.execPath, kMember]
    this.process = spawn(program, args, {
      // Under the test runner a child would take itself for a test file.
      env: { ...process.env, ...env, NODE_TEST_CONTEXT: undefined },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', ...fds]
    })
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.on('data', (piece) => { this.output += piece })
    }
    this.process.on('message', (/** @type {any} */ { id, value, error }) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error === undefined) waiting?.resolve(value)
      else waiting?.reject(Object.assign(new Error(error.message), error))
    })
    /** @type {Promise<{ code: number | null, signal: string | null }>} */
    this.exit = new Promise((resolve) => {
      this.process.on('close', (code, signal) => {
        for (const { reject } of this.#waiting.values()) reject(new Error(`the member has ended (${code ?? signal}): ${this.output}`))
        this.#waiting.clear()
        resolve({ code, signal })
        // Neither a test that expects an error nor one that has seen all it wants may hide a crash.
        if (kCrashes.includes(signal)) throw new Error(`the member has crashed (${signal}): ${this.output}`)
      })
    })
    this.ready = this.#answer(0)
  }

  get pid () { return this.process.pid ?? 0 }

  /** @param {number} id @returns {Promise<any>} */
  #answer (id) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`no answer from the member after ${kAnswerMs} ms: ${this.output}`))
        this.process.kill('SIGKILL')
      }, kAnswerMs)
      const settle = (/** @type {(value: any) => void} */ how) => (/** @type {any} */ value) => {
        clearTimeout(timer)
        how(value)
      }
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject) })
    })
  }

  /** @param {string} command one of the fixture's @param {any} [args] @returns {Promise<any>} */
  async tell (command, args = {}) {
    await this.ready
    const id = ++this.#lastId
    const answer = this.#answer(id)
    this.process.send?.({ id, command, args })
    return answer
  }

  /**
   * A server in this process.
   *
   * @param {string} name in its answers
   * @param {...any} on arguments of listen()
   */
  listen (name, ...on) {
    return this.tell('listen', { name, on })
  }

  /**
   * Keeps the JavaScript of this process busy, at most until the end of the test.
   *
   * @param {import('node:test').TestContext} t
   * @returns {Promise<() => void>} ends it
   */
  async block (t) {
    const { begun, over, isBusy, release } = blockade(t)
    await this.tell('block', { begun, over })
    await isBusy()
    return release
  }

  /** @param {string} name @param {any} [options] */
  close (name, options) {
    return this.tell('close', { name, options })
  }

  // A thread that has not heard of it is still woken for a connection, and then nobody else is: the kernel wakes one.
  async standStill () {
    this.process.kill('SIGSTOP')
    const tasks = `/proc/${this.pid}/task`
    const isStopped = (/** @type {string} */ thread) => fs.readFileSync(path.join(tasks, thread, 'stat'), 'latin1').includes(') T ')
    await until(() => fs.readdirSync(tasks).every(isStopped), 'the process is stopped')
  }

  /** @param {NodeJS.Signals} [signal] */
  kill (signal = 'SIGKILL') {
    this.process.kill(signal)
    return this.exit
  }
}

/**
 * A process that ends with the test; with a name and arguments of listen() it listens.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} [name]
 * @param {...any} on
 */
async function member (t, name, ...on) {
  const started = new Member()
  t.after(() => started.kill())
  await started.ready
  if (name !== undefined) await started.listen(name, ...on)
  return started
}

/** What a connection ended with instead of an answer. */
class LostError extends Error {
  /** @param {string} message @param {boolean} isNew the first request of its connection */
  constructor (message, isNew) {
    super(message)
    this.isNew = isNew
  }
}

/** @typedef {{ status: number, headers: Record<string, string>, body: string, owner: string, pid: string }} Answer */

/**
 * A connection that sends requests and reads the answers, which come in order.
 */
class Client {
  #buffer = Buffer.alloc(0)
  #waiting = /** @type {{ resolve: (answer: Answer) => void, reject: (error: Error) => void, isNew: boolean, timer: NodeJS.Timeout }[]} */ ([])
  #end = ''
  answered = 0

  /** @param {number} port @param {string} [host] @param {tls.ConnectionOptions} [secure] */
  constructor (port, host = '127.0.0.1', secure) {
    this.port = port
    this.socket = secure === undefined ? net.connect({ port, host, noDelay: true }) : tls.connect({ port, host, ...secure })
    this.socket.on('data', (piece) => {
      this.#buffer = this.#buffer.length === 0 ? piece : Buffer.concat([this.#buffer, piece])
      this.#parse()
    })
    this.socket.on('error', (error) => { this.#end = /** @type {any} */ (error).code })
    this.closed = new Promise((resolve) => {
      this.socket.on('close', () => {
        this.#end ||= 'end'
        const rest = this.#buffer.toString('latin1', 0, 300)
        for (const { reject, isNew, timer } of this.#waiting.splice(0)) {
          clearTimeout(timer)
          reject(new LostError(`the connection to ${port} ended (${this.#end}) before an answer came; unread: ${JSON.stringify(rest)}`, isNew))
        }
        resolve(null)
      })
    })
  }

  get isOpen () { return this.#end === '' && !this.socket.destroyed && !this.socket.readableEnded }

  #parse () {
    for (;;) {
      const end = this.#buffer.indexOf('\r\n\r\n')
      if (end === -1) return
      const [first, ...lines] = this.#buffer.toString('latin1', 0, end).split('\r\n')
      const headers = Object.fromEntries(lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }))
      const length = Number(headers['content-length'] ?? 0)
      const total = end + 4 + length
      if (this.#buffer.length < total) return
      const body = this.#buffer.toString('latin1', end + 4, total)
      this.#buffer = this.#buffer.subarray(total)
      this.answered++
      const [owner, pid] = body.split(' ')
      const status = Number(first.split(' ')[1])
      // An interim answer or one that nobody waits for is a defect.
      const waiting = this.#waiting.shift()
      assert.ok(waiting !== undefined, `an answer without a request: ${first}`)
      clearTimeout(waiting.timer)
      waiting.resolve({ status, headers, body, owner, pid })
    }
  }

  // Without it a request that nobody answers is a test that does not end.
  /** @param {string | Buffer} bytes */
  #watch (bytes) {
    const code = `no answer in ${kAnswerMs} ms to ${String(bytes).split('\r\n', 1)[0]}`
    return setTimeout(() => this.socket.destroy(Object.assign(new Error(code), { code })), kAnswerMs).unref()
  }

  /** @param {string | Buffer} bytes @param {number} [count] of the requests in them @returns {Promise<Answer>[]} */
  send (bytes, count = 1) {
    const answers = Array.from({ length: count }, () => new Promise((resolve, reject) => {
      const isNew = this.answered === 0
      if (this.socket.destroyed) reject(new LostError(`the connection to ${this.port} is closed (${this.#end})`, isNew))
      else this.#waiting.push({ resolve, reject, isNew, timer: this.#watch(bytes) })
    }))
    this.socket.write(bytes, 'latin1')
    return /** @type {Promise<Answer>[]} */ (answers)
  }

  /** @param {string} target @param {{ method?: string, headers?: string[], body?: string, version?: string, host?: string }} [options] */
  request (target, { method = 'GET', headers = [], body = '', version = '1.1', host = 'shared.test' } = {}) {
    const length = body === '' ? [] : [`Content-Length: ${body.length}`]
    return this.send([`${method} ${target} HTTP/${version}`, `Host: ${host}`, ...headers, ...length, '', body].join('\r\n'))[0]
  }

  destroy () {
    this.socket.destroy()
    return this.closed
  }
}

/** @param {import('node:test').TestContext} t @param {number} port @param {string} [host] @param {tls.ConnectionOptions} [secure] */
async function connect (t, port, host, secure) {
  const client = new Client(port, host, secure)
  t.after(() => client.destroy())
  await once(client.socket, secure === undefined ? 'connect' : 'secureConnect')
  return client
}

/** A session of HTTP/2. @param {import('node:test').TestContext} t @param {number} port @param {tls.ConnectionOptions} secure */
async function session (t, port, secure) {
  const client = http2.connect(`https://127.0.0.1:${port}`, secure)
  client.on('error', () => {})
  t.after(() => client.destroy())
  await once(client, 'remoteSettings')
  return client
}

/**
 * One request on a connection of its own.
 *
 * @param {number} port @param {string} target @param {{ host?: string, headers?: string[] }} [options]
 */
async function ask (port, target, { host, headers = [] } = {}) {
  const client = new Client(port, host)
  try {
    return await client.request(target, { headers: ['Connection: close', ...headers] })
  } finally {
    client.destroy()
  }
}

/** @param {number} port @param {string} [host] */
async function assertFree (port, host = '127.0.0.1') {
  await assert.rejects(ask(port, '/', { host }), /ECONNREFUSED/)
}

/**
 * What goes on while something else happens: connections that ask one after the other, each in its own turn.
 *
 * @typedef {object} LoadOptions
 * @property {number} port
 * @property {string[]} targets by turns; the first segment is the owner's name unless `owners` says otherwise
 * @property {number} [connections]
 * @property {boolean} [isKept] keep-alive; otherwise a connection for each request
 * @property {number} [pauseMs] between two requests of a connection
 * @property {(target: string) => RegExp} [owners] who may answer
 * @property {tls.ConnectionOptions} [secure] with TLS
 */
class Load {
  #isOver = false
  #work
  /** 'answer': one came that was a 200. */
  #events = new EventEmitter().setMaxListeners(0)
  /** @type {{ target: string, answers: number, statuses: Record<number, number>, lost: { kept: string[], new: string[] }, wrong: string[], at: number }[]} */
  targets
  /** The new connections that were lost. @type {Loss[]} */
  losses = []
  /** Answers other than 200. @type {Refusal[]} */
  refusals = []

  /** @param {import('node:test').TestContext} t @param {LoadOptions} options */
  constructor (t, { port, targets, connections = 4, isKept = true, pauseMs = 2, secure, owners = (target) => new RegExp(`^${target.split('/')[1]}$`) }) {
    this.targets = targets.map((target) => ({ target, answers: 0, statuses: {}, lost: { kept: [], new: [] }, wrong: [], at: 0 }))
    const run = async (/** @type {number} */ number) => {
      /** @type {Client | null} */
      let client = null
      let began = 0
      for (let turn = number; !this.#isOver; turn++) {
        const target = isKept ? this.targets[number % targets.length] : this.targets[turn % targets.length]
        // A server may close a connection between two requests; a client that has seen it opens the next one.
        if (client === null || !client.isOpen) {
          began = performance.now()
          client = new Client(port, undefined, secure)
        }
        try {
          const { status, owner } = await client.request(target.target, isKept ? {} : { headers: ['Connection: close'] })
          target.statuses[status] = (target.statuses[status] ?? 0) + 1
          if (status === 200 && !owners(target.target).test(owner)) target.wrong.push(owner)
          if (status === 200) {
            target.answers++
            this.#events.emit('answer')
          } else this.refusals.push({ target: target.target, status, at: performance.now() })
        } catch (error) {
          const { isNew, message } = /** @type {LostError} */ (error)
          target.lost[isNew ? 'new' : 'kept'].push(message)
          if (isNew) this.losses.push({ target: target.target, from: began, to: performance.now() })
        }
        if (!isKept) {
          client.destroy()
          client = null
        }
        // The rate of the load: clients without a pause would leave no time to the members, which share the processor with them.
        await sleep(pauseMs)
      }
      client?.destroy()
    }
    t.after(() => this.stop())
    this.#work = Promise.all(Array.from({ length: connections }, (_, number) => run(number)))
  }

  get answers () { return this.targets.reduce((sum, { answers }) => sum + answers, 0) }

  /** Resolves after that many further answers to each target, or to one of them. @param {number} count @param {string} [target] */
  async further (count, target) {
    const watched = this.targets.filter((item) => target === undefined || item.target === target)
    const wanted = watched.map(({ answers }) => answers + count)
    const signal = AbortSignal.timeout(kAnswerMs)
    while (watched.some(({ answers }, i) => answers < wanted[i])) {
      await once(this.#events, 'answer', { signal }).catch((error) => {
        throw new Error(`no ${count} further answers: ${JSON.stringify(this.targets)}`, { cause: error })
      })
    }
  }

  async stop () {
    this.#isOver = true
    await this.#work
    return this.targets
  }

  /** Ends it; nothing may have failed but what is excepted. @param {(target: string) => boolean} [isExcepted] */
  async stopUnharmed (isExcepted = () => false) {
    for (const { target, answers, statuses, lost, wrong } of await this.stop()) {
      assert.deepEqual(wrong, [], `${target}: answered by others`)
      if (isExcepted(target)) continue
      assert.ok(answers > 0, `${target}: nobody asked`)
      assert.deepEqual({ statuses, ...lost }, { statuses: { 200: answers }, kept: [], new: [] }, target)
    }
  }
}

/** @typedef {{ from: number, to: number }} Span in ms of performance.now() */
/** @typedef {{ target: string, status: number, at: number }} Refusal when its answer was there */
/** @typedef {Span & { target: string }} Loss when the connection was begun and when its end was seen */

/** The kernel ends a dead process's connections at once; one that it had handed over waits 5 s for an acknowledgement. */
const kDeadMs = 4000

/**
 * What a process had accepted and not handed over yet dies with it: how much that is depends on when it last had a CPU. No
 * other connection may be lost.
 *
 * @param {Loss[]} losses
 * @param {Span[]} kills from the signal until the end was seen
 * @returns {Loss[]} those that were not there at the time of any kill
 */
const unexplained = (losses, kills) => losses.filter((loss) => !kills.some((kill) => loss.from <= kill.to && loss.to >= kill.from && loss.to <= kill.to + kDeadMs))

/** @param {number} pid @returns {number} open descriptors of a process */
function descriptorsOf (pid) {
  return fs.readdirSync(`/proc/${pid}/fd`).length
}

/**
 * What the members of a port tell about it.
 *
 * @param {number} port
 * @returns {Promise<any>}
 */
function stateOf (port) {
  return new Promise((resolve, reject) => {
    loadBinding().serviceState(port, (/** @type {number} */ errno, /** @type {any} */ state) => {
      if (errno === 0) resolve(state)
      else reject(new Error(`no state of port ${port}: ${errno}`))
    })
  })
}

/** The name under which the members of a port meet. @param {number} port */
function meetingPlace (port) {
  return `httpsys/1/${process.geteuid?.()}/${port}`
}

/** The name under which a member is reached. @param {string} id */
function dataSocket (id) {
  return `httpsys/1/${process.geteuid?.()}/m/${id}`
}

const kSkipStranger = kSkip || (process.platform !== 'linux' && 'abstract sockets are of Linux') ||
  (spawnSync('python3', ['-c', 'import socket; socket.send_fds']).status !== 0 && 'Node cannot name these sockets; Python 3.9 can, and is not there')

/**
 * Somebody who is no member: speaks at the sockets of members, or is in their place.
 */
class Stranger {
  #lines
  /** @param {import('node:test').TestContext} t @param {{ uid?: number }} [options] */
  constructor (t, { uid } = {}) {
    const source = fs.readFileSync(path.join(__dirname, '..', 'fixtures', 'abstract-socket.py'), 'utf8')
    // Not by its path, which another user may not read.
    this.process = spawn('python3', ['-c', source], { stdio: ['pipe', 'pipe', 'inherit'], cwd: '/', ...(uid !== undefined && { uid, gid: uid }) })
    t.after(() => this.process.kill('SIGKILL'))
    this.#lines = createInterface({ input: /** @type {any} */ (this.process.stdout) })[Symbol.asyncIterator]()
  }

  /** @param {any} command see the fixture @returns {Promise<any>} */
  async tell (command) {
    this.process.stdin?.write(`${JSON.stringify(command)}\n`)
    return JSON.parse((await this.#lines.next()).value)
  }
}

module.exports = {
  Client,
  Load,
  LostError,
  Member,
  Stranger,
  ask,
  assertFree,
  blockade,
  connect,
  dataSocket,
  descriptorsOf,
  kSkip,
  kSkipStranger,
  meetingPlace,
  member,
  readByPeer,
  session,
  silence,
  sleep,
  stateOf,
  unexplained,
  until
}
