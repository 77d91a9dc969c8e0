'use strict'

// How long others wait while clients ask for files whose reads take seconds.

const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { Buffer } = require('node:buffer')
const { runLoad } = require('../lib/load')
const { built } = require('../lib/processes')
const { against, drawTable, range } = require('../lib/report')
const { inRounds } = require('../lib/rounds')
const { ratioOf, spreads } = require('../lib/statistics')
const { kNoFuse, startFuse } = require('../../test/helpers/fuse')
const { checkBody, mustBe, request } = require('./check')
const { hashOf } = require('./content')
const { kSlow } = require('./folder')
const { kConnections } = require('./parts')
const { nodeSide, startChecked } = require('./servers')

/** @typedef {import('./measure').Context} Context */
/** @typedef {import('./servers').Live} Live */

const kReadMs = 2000
const kSlowBytes = 5000
/** Twice the threads of libuv's pool: a server whose reads wait there stands still. */
const kSlowClients = 8
/** Each is asked for once: the second time its bytes are in memory. */
const kSlowFiles = 2000
/** Until the first reads wait. */
const kBeginMs = 300
/** "As in the same run without it": on a quiet machine two such figures differ by less, and a wait for a read is a hundred times as long. */
const kTarget = 1.25

/** Requests per second of each connection: all servers have time for them. */
const kPerSecond = 20

const kSides = [
  nodeSide('node', 'express.static'),
  nodeSide('httpsys', 'express.static'),
  nodeSide('httpsys', 'sendFile', { name: 'httpsys, sendFile' }),
  nodeSide('httpsys', 'folder', { name: 'httpsys, folder' }),
]

const names = Array.from({ length: kSlowFiles }, (_, index) => `${index}.txt`)
/** Byte n of each file of test/fixtures/fuse-files.js. */
const kSlowHash = hashOf(Buffer.from(Uint8Array.from({ length: kSlowBytes }, (_, n) => n % 251)))

/** Clients that ask for one slow file after the other. */
class SlowClients {
  answers = 0
  #name
  #port
  #next
  #isStopped = false
  /** @type {Promise<void>[]} */
  #running

  /** @param {string} name of the server @param {number} port @param {() => string} next path */
  constructor (name, port, next) {
    this.#name = name
    this.#port = port
    this.#next = next
    this.#running = Array.from({ length: kSlowClients }, () => this.#run())
    for (const client of this.#running) client.catch(() => {}) // Reported by stop().
  }

  async #run () {
    while (!this.#isStopped) {
      const began = performance.now()
      const { status, body } = await request({ port: this.#port, path: this.#next() })
      mustBe(this.#name, 'the status of a slow file', status, 200)
      mustBe(this.#name, 'the hash of a slow file', hashOf(body), kSlowHash)
      // Otherwise nobody has waited, and the figures say nothing.
      mustBe(this.#name, 'a slow file', performance.now() - began >= kReadMs ? 'slow' : 'quick', 'slow')
      this.answers++
    }
  }

  /** Lets each of them wait for the answer that it has asked for. */
  stop () {
    this.#isStopped = true
    return Promise.all(this.#running)
  }
}

/** @typedef {{ requests: number, p50: number, p99: number, max: number }} Delays ms */

/** @param {Live} server @param {Context} context @param {number} seconds @returns {Promise<Delays>} */
async function askInTime ({ port }, { plan }, seconds) {
  const program = await built(path.join(__dirname, 'load', 'main.go'), 'files-load')
  return JSON.parse(await runLoad([program, 'paced', String(port), String(kConnections), String(seconds), String(kPerSecond), '/13.txt'], plan.cpus.client).summary)
}

/** @param {Live} server @param {string} name @param {Context} context @param {number} seconds @param {() => string} next */
async function measureSide (server, name, context, seconds, next) {
  const without = await askInTime(server, context, seconds)
  const clients = new SlowClients(name, server.port, next)
  await sleep(kBeginMs)
  const asking = askInTime(server, context, seconds)
  asking.catch(() => {}) // Reported where it is awaited.
  // A server that stands still would otherwise never answer what was due meanwhile.
  await sleep(seconds * 1000)
  await clients.stop()
  const beside = await asking
  return { without: without.p99, beside: beside.p99, maxWithout: without.max, maxBeside: beside.max, slowAnswers: clients.answers }
}

/** @param {Context} context @param {string[]} notes */
async function measureSlowFile (context, notes) {
  if (kNoFuse !== false) {
    notes.push(`files: no part "slow file": ${kNoFuse}`)
    return { figures: [], text: `* slow file: left out, because ${kNoFuse}` }
  }
  const { plan, files } = context
  const unmount = await startFuse(Object.fromEntries(names.map((name) => [name, { size: kSlowBytes, delayMs: kReadMs }])), path.join(files.folder, kSlow))
  // A mount outlives the processes that use it.
  const end = () => {
    unmount()
    process.exit(1)
  }
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM'])
  for (const signal of signals) process.once(signal, end)
  let rounds
  try {
    rounds = await inRounds(kSides, plan, {
      start: (side) => startChecked(side, { cpu: plan.cpus.server }, { folder: files.folder },
        ({ port }) => checkBody(side.name, { port, path: '/13.txt' }, files.body('13.txt'))),
      warmUp: (server, _side, seconds) => askInTime(server, context, seconds),
      measure: (server, { name }, seconds) => measureSide(server, name, context, seconds, () => `/${kSlow}/${names.shift()}`),
      describe: ({ name }, { without, beside, maxBeside, slowAnswers }) => `${name.padEnd(18)} p99 ${without.toFixed(1)} ms, beside slow files ${beside.toFixed(1)} ms (longest ${maxBeside.toFixed(0)}), ${slowAnswers} slow answers`,
    })
  } finally {
    for (const signal of signals) process.off(signal, end)
    unmount()
  }
  const sides = kSides.map(({ name }, index) => {
    const figures = spreads(rounds[index])
    return { name, ...figures, ratio: ratioOf(figures.beside, figures.without) }
  })
  const columns = ['slow file', 'p99 ms without', 'p99 ms beside', 'ratio, target', 'longest without', 'longest beside', 'slow answers']
  const lines = sides.map(({ name, without, beside, ratio, maxWithout, maxBeside, slowAnswers }) => [
    name, range(without), range(beside), against(ratio, name.startsWith('httpsys') ? kTarget : undefined), range(maxWithout), range(maxBeside), range(slowAnswers),
  ])
  return {
    figures: [{ part: 'slow file', target: kTarget, sides }],
    text: `${drawTable(columns, lines)}\n\n* slow file: ${kConnections} connections that ask for a file of 13 bytes ${kPerSecond} times a second, from when a request is due to its answer, while ${kSlowClients} others ask for files (FUSE) whose reads take ${kReadMs / 1000} s`,
  }
}

module.exports = { measureSlowFile }
