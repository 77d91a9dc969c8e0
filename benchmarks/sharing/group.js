'use strict'

// Server processes that are measured together: members of one port, or applications behind a proxy.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { childrenOf, processTimes } = require('../lib/cpu')
const { spawnNginx, untilReady } = require('../lib/nginx')
const { unlessEnded } = require('../lib/processes')
const { freePort } = require('../../test/helpers/free-port')

const kProgram = path.join(__dirname, 'server.js')
/** Processes that start at a time: more only wait for each other. */
const kStartingMax = 4
/** While others are measured a process has nothing to do: V8 would take it for idle, and throw away what it has learned. */
const kNodeOptions = ['--no-memory-reducer']

/** @typedef {{ port: number, milliseconds: number }} Listening */

class Group {
  /** @type {import('node:child_process').ChildProcess[]} */
  #children = []
  /** @type {string[]} */
  #folders = []
  /** @type {string[]} */
  #wrap
  port = 0
  /** Of each process, where they share none. @type {number[]} */
  ports = []

  /** @param {number | undefined} cpu all its processes are pinned to; undefined = any */
  constructor (cpu) {
    this.#wrap = cpu === undefined ? [] : ['taskset', '-c', String(cpu)]
  }

  /**
   * Members of one port. Member n has the prefixes /p<n>/, /p<n>/1/, /p<n>/2/, …
   *
   * @param {{ cpu?: number, members: number, prefixes?: number }} what prefixes of each
   */
  static async httpsys ({ cpu, members, prefixes = 1 }) {
    const group = new Group(cpu)
    group.port = await freePort()
    return group.#orStop(async () => {
      const start = (/** @type {number} */ number) => group.#start('httpsys', prefixesOf(group.port, number, prefixes))
      await start(1)
      await inTurns(members - 1, (index) => start(index + 2))
    })
  }

  /**
   * Members of one port that have its root prefix together, as one queue.
   *
   * @param {{ members: number, files?: { key: string, cert: string } | null }} what files: for https
   */
  static async queue ({ members, files = null }) {
    const group = new Group(undefined)
    group.port = await freePort()
    const args = files === null ? [`http://*:${group.port}/`] : [`https://*:${group.port}/`, files.key, files.cert]
    return group.#orStop(() => inTurns(members, () => group.#start('queue', args), 1))
  }

  /**
   * Members of one port with many prefixes. Member n has /t<n>/0/, /t<n>/1/, …
   *
   * @param {{ counts: number[] }} what prefixes of each; the first one coordinates
   */
  static async tables ({ counts }) {
    const group = new Group(undefined)
    group.port = await freePort()
    return group.#orStop(() => inTurns(counts.length, (index) => group.#start('table', [group.port, index + 1, counts[index]].map(String)), 1))
  }

  /** A process with as many prefixes, each at an address and on a socket of its own. @param {{ count: number }} what */
  static async addresses ({ count }) {
    const group = new Group(undefined)
    group.port = await freePort()
    return group.#orStop(async () => { await group.#start('addresses', [group.port, count].map(String)) })
  }

  /** Processes that share nothing: process n has the prefix /p<n>/ of a port of its own. @param {{ cpu: number, members: number }} what */
  static async apart ({ cpu, members }) {
    const group = new Group(cpu)
    return group.#orStop(() => inTurns(members, async (index) => {
      group.ports[index] = await freePort()
      await group.#start('httpsys', prefixesOf(group.ports[index], index + 1, 1))
    }, 1))
  }

  /** @param {number} number of a prefix, from 1 */
  portOf (number) {
    return this.ports[number - 1] ?? this.port
  }

  /** @param {{ cpu: number, applications: number }} what */
  static async nginx ({ cpu, applications }) {
    const group = new Group(cpu)
    return group.#orStop(async () => {
      const ports = await group.#startApplications(applications)
      group.port = await freePort()
      await group.#startNginx(ports)
    })
  }

  /** Workers of node:cluster that serve an Express application on stock Node. @param {{ cpu: number, workers: number }} what */
  static async expressCluster ({ cpu, workers }) {
    const group = new Group(cpu)
    return group.#orStop(async () => { group.port = (await group.#start('express-cluster', [String(workers)])).port })
  }

  /** The same application, one process of stock Node behind nginx. @param {{ cpu: number }} what */
  static async expressBehindNginx ({ cpu }) {
    const group = new Group(cpu)
    return group.#orStop(async () => {
      const { port } = await group.#start('express', [])
      group.port = await freePort()
      await group.#startNginx([port])
    })
  }

  /** The same application, one process of httpsys on a URL prefix. @param {{ cpu: number }} what */
  static async expressOnPrefix ({ cpu }) {
    const group = new Group(cpu)
    group.port = await freePort()
    return group.#orStop(async () => { await group.#start('express-httpsys', prefixesOf(group.port, 1, 1)) })
  }

  /** @param {{ cpu: number, applications: number }} what */
  static async httpxy ({ cpu, applications }) {
    const group = new Group(cpu)
    return group.#orStop(async () => {
      const ports = await group.#startApplications(applications)
      group.port = (await group.#start('httpxy', ports.map(String))).port
    })
  }

  /**
   * Lets a member of tables() add and remove prefixes.
   *
   * @param {number} index @param {{ changes: number, perSecond?: number }} what without perSecond each waits for the one before
   */
  async change (index, { changes, perSecond = 0 }) {
    const child = this.#children[index]
    child.send({ changes, perSecond })
    await unlessEnded(child, 'A server under measurement (table)', /** @type {Promise<any[]>} */ (once(child, 'message')))
  }

  /** One more member. @param {number} number @returns {Promise<number>} milliseconds from listen() to 'listening' */
  async join (number) {
    const { milliseconds } = await this.#start('httpsys', prefixesOf(this.port, number, 1))
    return milliseconds
  }

  get #pids () {
    return this.#children.map(({ pid }) => /** @type {number} */ (pid))
  }

  /** The processes and their children. */
  get pids () {
    return this.#pids.flatMap((pid) => [pid, ...childrenOf(pid)])
  }

  /** @param {number} [index] of one process only; the first one is 0 @returns {{ user: number, system: number }} seconds of CPU */
  times (index) {
    const pids = index === undefined ? this.pids : [this.#pids[index]]
    return pids.map(processTimes).reduce((a, b) => ({ user: a.user + b.user, system: a.system + b.system }))
  }

  /** Every prefix must answer as expected, so that no error page is measured. @param {number} count */
  async probe (count) {
    for (let number = 1; number <= count; number++) {
      const text = await get(this.portOf(number), `/p${number}/`)
      if (text !== '200 Hello, world!') throw new Error(`/p${number}/ was answered "${text.slice(0, 200)}"`)
    }
  }

  async stop () {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const exit = once(child, 'exit')
      // nginx takes its worker along only when it is asked.
      child.kill(child.channel == null ? 'SIGTERM' : 'SIGKILL')
      await exit
    }
    for (const folder of this.#folders) fs.rmSync(folder, { recursive: true, force: true })
  }

  /** @param {() => Promise<void>} start @returns {Promise<Group>} */
  async #orStop (start) {
    try {
      await start()
    } catch (error) {
      await this.stop()
      throw error
    }
    return this
  }

  /** @param {string} kind @param {string[]} args @returns {Promise<Listening>} */
  async #start (kind, args) {
    const [program, ...before] = [...this.#wrap, process.execPath]
    const child = spawn(program, [...before, ...kNodeOptions, kProgram, kind, ...args], {
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#children.push(child)
    const [listening] = await unlessEnded(child, `A server under measurement (${kind})`, /** @type {Promise<any[]>} */ (once(child, 'message')))
    return listening
  }

  /** @param {number} count @returns {Promise<number[]>} */
  async #startApplications (count) {
    /** @type {number[]} */
    const ports = []
    await inTurns(count, async (index) => { ports[index] = (await this.#start('node', [])).port })
    return ports
  }

  /** @param {number[]} ports */
  async #startNginx (ports) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-bench-'))
    this.#folders.push(folder)
    const child = spawnNginx(this.#wrap, folder, proxyOf(this.port, ports))
    this.#children.push(child)
    await untilReady(child, async () => await get(this.port, '/p1/').catch(() => '') !== '')
  }
}

/** @param {number} port @param {number} number @param {number} count @returns {string[]} */
function prefixesOf (port, number, count) {
  return Array.from({ length: count }, (_, index) => `http://*:${port}/p${number}/${index === 0 ? '' : `${index}/`}`)
}

/**
 * Connections to the applications are kept: nginx at its best for this task.
 *
 * @param {number} port
 * @param {number[]} ports of the applications
 */
function proxyOf (port, ports) {
  return `${ports.map((application, index) => `upstream p${index + 1} {
    server 127.0.0.1:${application};
    keepalive 128;
    keepalive_requests 1000000000;
  }`).join('\n  ')}
  server {
    listen ${port} backlog=511;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    ${ports.map((_, index) => `location /p${index + 1}/ { proxy_pass http://p${index + 1}; }`).join('\n    ')}
  }`
}

/** @param {number} count @param {(index: number) => Promise<unknown>} start @param {number} [atATime] */
async function inTurns (count, start, atATime = kStartingMax) {
  let next = 0
  await Promise.all(Array.from({ length: atATime }, async () => {
    while (next < count) await start(next++)
  }))
}

/** @param {number} port @param {string} path @returns {Promise<string>} status and body */
function get (port, path) {
  return new Promise((resolve, reject) => {
    http.get({ host: '127.0.0.1', port, path, agent: false }, (res) => {
      let received = ''
      res.setEncoding('latin1')
      res.on('data', (piece) => { received += piece })
      res.on('end', () => resolve(`${res.statusCode} ${received}`))
    }).on('error', reject)
  })
}

module.exports = { Group, inTurns }
