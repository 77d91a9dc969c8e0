'use strict'

// 1,000 clients that ask at once: for what is stored, for what is not yet, and for what may not be stored.

const net = require('node:net')
const { Buffer } = require('node:buffer')
const { once } = require('node:events')
const { drawTable, range } = require('../lib/report')
const { inRounds } = require('../lib/rounds')
const { spread } = require('../lib/statistics')
const { kSlowMs, kSmallBytes } = require('./content')
const { kCached } = require('./servers')

/** @typedef {import('./servers').Live} Live */
/** @typedef {import('./measure').Context} Context */

const kClients = 1000
/** The last answer to waiting clients may come so much later than the last of as many hits. */
const kFactor = 1.5
const kExtraMs = 20
const kEnd = Buffer.from('\r\n\r\n')

const msBetween = (/** @type {bigint} */ from, /** @type {bigint} */ to) => Number(to - from) / 1e6

/** @param {number} port @returns {Promise<net.Socket[]>} */
async function connectAll (port) {
  const sockets = Array.from({ length: kClients }, () => net.connect({ port, host: '127.0.0.1', noDelay: true }))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return sockets
}

/** @param {net.Socket} socket @returns {Promise<bigint>} when its answer had come */
function answered (socket) {
  return new Promise((resolve, reject) => {
    let got = Buffer.alloc(0)
    const onData = (/** @type {Buffer} */ piece) => {
      got = Buffer.concat([got, piece])
      const end = got.indexOf(kEnd)
      if (end === -1 || got.length < end + kEnd.length + kSmallBytes) return
      socket.off('data', onData).off('close', onClose)
      if (got.subarray(0, 12).toString('latin1') !== 'HTTP/1.1 200') reject(new Error(`cache, burst: ${got.subarray(0, end)}`))
      else resolve(process.hrtime.bigint())
    }
    const onClose = () => reject(new Error('cache, burst: a connection was closed'))
    socket.on('data', onData).on('close', onClose)
  })
}

/** @param {Live} server @param {net.Socket[]} sockets @param {string} path @param {string} [method] */
async function burst (server, sockets, path, method = 'GET') {
  const { calls: before } = await server.ask?.('count')
  const answers = sockets.map(answered)
  const request = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`
  const asked = process.hrtime.bigint()
  for (const socket of sockets) socket.write(request)
  const last = (await Promise.all(answers)).reduce((one, other) => one > other ? one : other)
  const { calls, ended } = await server.ask?.('count')
  return { calls: calls - before, last: msBetween(asked, last), afterHandler: msBetween(BigInt(ended), last) }
}

/** @param {Live} server @param {number} number of the round: each has keys of its own */
async function measureBursts (server, number) {
  const sockets = await connectAll(server.port)
  try {
    await burst(server, sockets, '/')
    const hits = await burst(server, sockets, '/')
    // Requests wait for each other only for what has been stored before; a DELETE makes that obsolete.
    for (const method of ['GET', 'DELETE']) await burst(server, sockets.slice(0, 1), `/slow/stored?${number}`, method)
    const missing = await burst(server, sockets, `/slow/stored?${number}`)
    await burst(server, sockets, `/slow/no-store?${number}`)
    const uncacheable = await burst(server, sockets, `/slow/no-store?${number}`)
    const bound = hits.last * kFactor + kExtraMs
    return { hits: hits.last, hitCalls: hits.calls, calls: missing.calls, waiting: missing.afterHandler, bound, secondCalls: uncacheable.calls, second: uncacheable.last - kSlowMs }
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

/** @param {Context} context @returns {Promise<{ figures: object[], text: string }>} */
async function compareBursts ({ plan }) {
  let number = 0
  const [rounds] = await inRounds([kCached], { ...plan, warmUp: 0 }, {
    start: (side) => side.start(plan.cpus.server, { bytes: kSmallBytes }),
    measure: (live) => measureBursts(live, number++),
    describe: (_side, { hits, calls, waiting, bound, secondCalls, second }) => `hits ${hits.toFixed(1)} ms; missing: ${calls} calls, ` +
      `last answer ${waiting.toFixed(1)} ms after the handler, at most ${bound.toFixed(1)}; uncacheable, second burst: ${secondCalls} calls, ${second.toFixed(1)} ms`,
  })
  const of = (/** @type {(round: typeof rounds[0]) => number} */ value) => spread(rounds.map(value))
  const mark = (/** @type {boolean} */ isGood) => isGood ? '' : ' !'
  const lines = [
    ['stored', `${range(of(({ hitCalls }) => hitCalls))}${mark(rounds.every(({ hitCalls }) => hitCalls === 0))}`, range(of(({ hits }) => hits)), ''],
    ['missing', `${range(of(({ calls }) => calls))}${mark(rounds.every(({ calls }) => calls === 1))}`, range(of(({ waiting }) => waiting)),
      `${range(of(({ bound }) => bound))}${mark(rounds.every(({ waiting, bound }) => waiting <= bound))}`],
    ['uncacheable, second burst', `${range(of(({ secondCalls }) => secondCalls))}${mark(rounds.every(({ secondCalls }) => secondCalls === kClients))}`,
      range(of(({ second }) => second)), ''],
  ]
  return {
    figures: [{ part: 'burst', rounds }],
    text: `${drawTable(['1,000 clients at once', 'calls of the handler', 'last answer, ms', 'at most'], lines)}

* ms from the requests on; of what is missing from the end of the handler, which takes ${kSlowMs} ms; uncacheable without these ${kSlowMs} ms
* at most: the last of 1,000 hits × ${kFactor} + ${kExtraMs} ms. The clients are one program of Node's`,
  }
}

module.exports = { compareBursts }
