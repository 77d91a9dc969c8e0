'use strict'

// Two processes on one queue, of which one blocks its JavaScript thread: how long do requests wait that it was not given?

const net = require('node:net')
const { setTimeout: sleep } = require('node:timers/promises')
const { spread } = require('../lib/statistics')
const { Group } = require('./group')

const kConnections = 64
const kBlocks = 5
const kBlockMs = 2000
const kTargetMs = 50
/** Before a block, so that V8 has optimized both; as long as a connection pauses between two requests. */
const kWarmMs = 1500
const kPauseMs = 20

/** One keep-alive connection, one request at a time. */
class Connection {
  #text = ''
  /** @type {{ resolve: (pid: string) => void, reject: (error: Error) => void } | null} */
  #waiting = null

  /** @param {number} port */
  constructor (port) {
    this.socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
    this.socket.setEncoding('latin1')
    this.socket.on('data', (piece) => {
      this.#text += piece
      const end = this.#text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(this.#text)?.[1])
      if (end === -1 || this.#text.length < end + 4 + length) return
      const [status, pid] = [this.#text.slice(9, 12), this.#text.slice(end + 4)]
      this.#text = ''
      if (status === '200') this.#waiting?.resolve(pid)
      else this.#waiting?.reject(new Error(`blocked owner: answered ${status}`))
    })
    this.socket.on('close', () => this.#waiting?.reject(new Error('blocked owner: a connection was closed')))
    this.socket.on('error', () => {}) // 'close' follows.
  }

  /** @param {string} path @returns {Promise<string>} the process that has answered */
  ask (path) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    })
  }
}

/** The clock of all processes. @returns {number} ms */
const now = () => Number(process.hrtime.bigint()) / 1e6

/** @typedef {{ pid: string, since: number, ms: number }} Answer */

/** @param {Connection} connection @param {Answer[]} answers @param {{ isOver: boolean }} run @param {number} delayMs */
async function keepAsking (connection, answers, run, delayMs) {
  await sleep(delayMs)
  while (!run.isOver) {
    const since = now()
    const pid = await connection.ask('/')
    answers.push({ pid, since, ms: now() - since })
    await sleep(kPauseMs)
  }
}

/**
 * @param {number} port
 * @returns {Promise<{ longest: number, requests: number, given: number }>} longest: ms that one of `requests` waited; given: how
 *   many were before the blocked thread when it began, and are none of these
 */
async function measureBlock (port) {
  const connections = Array.from({ length: kConnections }, () => new Connection(port))
  const run = { isOver: false }
  /** @type {Answer[]} */
  const answers = []
  try {
    const asking = Promise.all(connections.map((connection, index) => keepAsking(connection, answers, run, index * kPauseMs / kConnections)))
    asking.catch(() => {}) // Reported where it is awaited.
    await sleep(kWarmMs)
    const blocking = new Connection(port)
    connections.push(blocking)
    const [blocked, began] = (await blocking.ask(`/block/${kBlockMs}`)).split(' ')
    run.isOver = true
    await asking
    const start = Number(began)
    const during = answers.filter(({ since, ms }) => since + ms > start && since < start + kBlockMs)
    // What was sent later must not be given to a thread that is known to be blocked, whoever answers it in the end.
    const isGiven = (/** @type {Answer} */ { pid, since }) => pid === blocked && since < start
    const others = during.filter((answer) => !isGiven(answer))
    if (others.length === 0) throw new Error('blocked owner: nobody has asked')
    return { longest: Math.max(...others.map(({ ms }) => ms)), requests: others.length, given: during.length - others.length }
  } finally {
    for (const { socket } of connections) socket.destroy()
  }
}

/** On all CPUs, one of which the blocked process keeps busy. */
async function measureBlocked () {
  const group = await Group.queue({ members: 2 })
  const blocks = []
  try {
    for (let block = 0; block < kBlocks; block++) {
      const measured = await measureBlock(group.port)
      console.log(`  block ${block + 1}/${kBlocks} longest wait ${measured.longest.toFixed(1)} ms of ${measured.requests} requests; ${measured.given} more were before the blocked thread`)
      blocks.push(measured)
    }
  } finally {
    await group.stop()
  }
  return {
    title: `two processes on one queue, ${kConnections} keep-alive connections, one JavaScript thread blocked for ${kBlockMs / 1000} s: the longest wait of a request that was not given to it`,
    milliseconds: spread(blocks.map(({ longest }) => longest)),
    given: spread(blocks.map(({ given }) => given)),
    requests: spread(blocks.map(({ requests }) => requests)),
    target: kTargetMs,
  }
}

module.exports = { measureBlocked }
