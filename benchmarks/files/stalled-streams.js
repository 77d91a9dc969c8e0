'use strict'

// Stalled streams of HTTP/2, each with a file of its own, on a server that may have fewer descriptors than streams.

const http2 = require('node:http2')
const { Buffer } = require('node:buffer')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { drawTable } = require('../lib/report')
const { hashOf } = require('./content')
const { manyNames } = require('./folder')
const { nodeSide } = require('./servers')

/** @typedef {import('./measure').Context} Context */

const kDescriptors = 256
const kLimited = ['sh', '-c', `ulimit -n ${kDescriptors}; exec "$@"`, 'sh']
/** Below what every server allows on a connection. */
const kStreamsPerSession = 75
/** A fraction of a file. */
const kWindowBytes = 8 * 1024
/** Between two looks at answers that come, and how long none may come. */
const kLookMs = 250
const kPatienceMs = 5000

const kSides = [
  nodeSide('node', 'pipe'),
  nodeSide('httpsys', 'pipe', { name: 'httpsys, pipe' }),
  nodeSide('httpsys', 'express.static', { name: 'httpsys, express.static' }),
  nodeSide('httpsys', 'sendFile', { name: 'httpsys, sendFile' }),
  nodeSide('httpsys', 'folder', { name: 'httpsys, folder' }),
]

/** A stream that reads the first bytes, and goes on when it may. */
class Download {
  status = 0
  bytes = 0
  isOver = false
  /** @type {Buffer[]} */
  #pieces = []
  #stream

  /** @param {http2.ClientHttp2Session} session @param {string} name */
  constructor (session, name) {
    this.#stream = session.request({ ':path': `/${name}` })
    this.#stream.on('response', (headers) => { this.status = headers[':status'] ?? 0 })
    this.#stream.on('data', (piece) => {
      if (this.bytes === 0) this.#stream.pause()
      this.bytes += piece.length
      this.#pieces.push(piece)
    })
    this.#stream.on('error', () => {})
    this.#stream.on('close', () => { this.isOver = true })
  }

  get hasBegun () {
    return this.status === 200 && this.bytes > 0
  }

  resume () {
    this.#stream.resume()
  }

  get hash () {
    return hashOf(Buffer.concat(this.#pieces))
  }
}

/** Waits until a number has stood still, or is what it may be at most. @param {() => number} look @param {number} most */
async function untilStill (look, most) {
  for (let last = look(), since = Date.now(); last < most && Date.now() - since < kPatienceMs;) {
    await sleep(kLookMs)
    const now = look()
    if (now !== last) [last, since] = [now, Date.now()]
  }
}

/** @param {import('./servers').Side} side @param {Context} context */
async function measureSide (side, { plan, files }) {
  const server = await side.start({ cpu: plan.cpus.server, wrap: kLimited }, { folder: files.folder, http2: true })
  const names = manyNames()
  /** @type {http2.ClientHttp2Session[]} */
  const sessions = []
  try {
    for (let count = 0; count < names.length; count += kStreamsPerSession) {
      const session = http2.connect(`http://127.0.0.1:${server.port}`, { settings: { initialWindowSize: kWindowBytes } })
      session.on('error', () => {})
      sessions.push(session)
      await once(session, 'connect')
    }
    const downloads = names.map((name, index) => new Download(sessions[Math.floor(index / kStreamsPerSession)], name))
    await untilStill(() => downloads.filter(({ hasBegun, status }) => hasBegun || (status !== 0 && status !== 200)).length, names.length)
    const answers = downloads.filter(({ hasBegun }) => hasBegun).length
    const begun = downloads.filter(({ hasBegun, isOver }) => hasBegun && !isOver).length
    for (const download of downloads) download.resume()
    await untilStill(() => downloads.reduce((sum, { bytes }) => sum + bytes, 0), names.reduce((sum, name) => sum + files.body(name).bytes, 0))
    const whole = downloads.filter(({ hash }, index) => hash === files.body(names[index]).hash).length
    return { name: side.name, streams: names.length, answers, stalled: begun, whole }
  } finally {
    for (const session of sessions) session.destroy()
    await server.stop()
  }
}

/** @param {Context} context */
async function measureStalledStreams (context) {
  const sides = []
  for (const side of kSides) {
    const result = await measureSide(side, context)
    console.log(`  ${side.name.padEnd(24)} ${result.answers} of ${result.streams} answers, ${result.whole} whole bodies when they are read on`)
    sides.push(result)
  }
  const lines = sides.map(({ name, answers, streams, stalled, whole }) => {
    const target = name.startsWith('httpsys') ? (answers === streams ? ` ≥ ${streams}` : ` < ! ${streams}`) : ''
    return [name, `${answers}${target}`, String(stalled), String(whole)]
  })
  return {
    figures: [{ part: 'stalled streams', descriptors: kDescriptors, sides }],
    text: `${drawTable(['stalled streams', 'answers, target', 'of them stalled', 'whole when they are read on'], lines)}\n\n` +
      `* stalled streams: ${manyNames().length} streams of HTTP/2, each with a file of its own, on a server with \`ulimit -n ${kDescriptors}\``,
  }
}

module.exports = { measureStalledStreams }
