'use strict'

// Raw bytes to a server of this process, and everything that becomes of them: what the handler saw, what
// came back, which errors 'clientError' told, and whether the server closed the connection by itself.

const net = require('node:net')

/**
 * A request as its handler saw it.
 *
 * @typedef {object} Seen
 * @property {any[]} head method, URL, version, raw headers; 'upgrade' or 'connect' in front for those events
 * @property {string} body Latin-1
 * @property {string[]} trailers raw
 * @property {string} end 'end', or the code of its error
 */

/**
 * @typedef {object} Outcome
 * @property {string} text everything that came back, Latin-1
 * @property {Seen[]} seen
 * @property {string[]} errors codes of 'clientError'; one that is repeated for bytes that came later counts once
 * @property {boolean} [open] whether the server kept the connection until the client ended it; only with `hold`
 * @property {boolean} [late] no end within the time limit
 */

/** @typedef {{ seen: Seen[], errors: string[], closed: Promise<void> }} Record */
/** @typedef {{ server: import('node:http').Server, port: number, records: Map<number, Record> }} Side */

/** Ends an exchange that hangs; nothing here takes a tenth of it on a busy machine. */
const kLimitMs = 60_000
/** What a server gets to close its own side of a connection that the client has closed. */
const kServerCloseMs = 1000

const immediate = () => new Promise((resolve) => setImmediate(resolve))

/** @param {Seen} entry @param {any} socket @param {Buffer} head what came with the request */
function serveTunnel (entry, socket, head) {
  entry.body = head.toString('latin1')
  socket.on('error', () => {})
  socket.on('data', (/** @type {Buffer} */ piece) => { entry.body += piece.toString('latin1') })
  socket.on('end', () => {
    entry.end = 'end'
    socket.end(`HTTP/1.1 101 X\r\n\r\n${JSON.stringify(entry)}`)
  })
}

/**
 * @param {{ createServer: Function }} http node:http or what replaces it
 * @param {boolean} listens whether it has listeners for 'clientError', 'upgrade' and 'connect'
 * @returns {Promise<Side>}
 */
function startSide (http, listens) {
  /** @type {Map<number, Record>} */
  const records = new Map()
  /** @type {WeakMap<object, Record>} */
  const ofSocket = new WeakMap()
  /** @param {any} socket @param {string[]} event @param {any} req @returns {Seen} */
  const see = (socket, event, { method, url, httpVersion, rawHeaders }) => {
    const entry = { head: [...event, method, url, httpVersion, rawHeaders], body: '', trailers: [], end: 'open' }
    ofSocket.get(socket)?.seen.push(entry)
    return entry
  }
  // Most fixtures have no Host, and would all be refused for it alone.
  const server = http.createServer({ requireHostHeader: false }, (/** @type {any} */ req, /** @type {any} */ res) => {
    const entry = see(req.socket, [], req)
    req.on('error', (/** @type {any} */ error) => { if (entry.end === 'open') entry.end = error.code })
    req.on('data', (/** @type {Buffer} */ piece) => { entry.body += piece.toString('latin1') })
    req.on('end', () => {
      entry.end = 'end'
      entry.trailers = req.rawTrailers
      res.sendDate = false
      res.end(JSON.stringify(entry))
    })
  })
  server.on('connection', (/** @type {any} */ socket) => {
    const record = { seen: [], errors: [], closed: new Promise((resolve) => socket.on('close', resolve)) }
    ofSocket.set(socket, record)
    records.set(socket.remotePort, record)
  })
  if (listens) {
    server.on('clientError', (/** @type {any} */ error, /** @type {any} */ socket) => {
      const errors = ofSocket.get(socket)?.errors
      if (errors?.at(-1) !== error.code) errors?.push(error.code)
      if (socket.writable) socket.end(`HTTP/1.1 400 X\r\nX-Code: ${error.code}\r\n\r\n`)
      else socket.destroy()
    })
    for (const event of ['upgrade', 'connect']) {
      server.on(event, (/** @type {any} */ req, /** @type {any} */ socket, /** @type {Buffer} */ head) => {
        serveTunnel(see(socket, [event], req), socket, head)
      })
    }
  }
  return new Promise((resolve, reject) => {
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => resolve({ server, port: server.address().port, records }))
  })
}

/** @param {Side} side */
function stopSide ({ server }) {
  server.close()
  server.closeAllConnections()
}

/**
 * @param {net.Socket} socket
 * @param {Buffer[]} segments
 * @param {() => boolean} isOver
 */
async function send (socket, segments, isOver) {
  for (const segment of segments) {
    if (isOver()) return
    await new Promise((resolve) => socket.write(segment, resolve))
    // The server lives in this process: its turn to read what was sent so far.
    for (let i = 0; i < 3; i++) await immediate()
  }
}

/**
 * @param {Side} side
 * @param {Buffer[]} segments
 * @param {object} [options]
 * @param {number} [options.holdMs] the client ends its side after so long without an answer; 0: at once
 * @returns {Promise<Outcome>}
 */
function exchange (side, segments, { holdMs = 0 } = {}) {
  return new Promise((resolve) => {
    const socket = net.connect({ port: side.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    /** @type {Outcome} */
    const outcome = { text: '', seen: [], errors: [] }
    let hasEnded = false
    let localPort = 0
    /** @type {NodeJS.Timeout | undefined} */
    let quiet
    const leave = () => {
      outcome.open = true
      socket.end()
    }
    const limit = setTimeout(() => {
      outcome.late = true
      socket.destroy()
    }, kLimitMs)
    socket.on('connect', async () => {
      localPort = /** @type {number} */ (socket.localPort)
      if (holdMs === 0 && segments.length === 1) return socket.end(segments[0])
      await send(socket, segments, () => hasEnded || socket.destroyed)
      if (hasEnded || socket.destroyed) return
      if (holdMs === 0) socket.end()
      else quiet = setTimeout(leave, holdMs)
    })
    socket.on('data', (piece) => {
      outcome.text += piece.toString('latin1')
      quiet?.refresh()
    })
    socket.on('error', () => {})
    socket.on('end', () => {
      hasEnded = true
      clearTimeout(quiet)
      if (holdMs > 0) outcome.open ??= false
      socket.end()
    })
    socket.on('close', async () => {
      clearTimeout(limit)
      clearTimeout(quiet)
      if (holdMs > 0) outcome.open ??= false
      const record = side.records.get(localPort)
      if (record !== undefined) {
        /** @type {NodeJS.Timeout | undefined} */
        let timer
        await Promise.race([record.closed, new Promise((resolve) => { timer = setTimeout(resolve, kServerCloseMs) })])
        clearTimeout(timer)
        for (let i = 0; i < 3; i++) await immediate()
        side.records.delete(localPort)
        outcome.seen = record.seen
        outcome.errors = record.errors
      }
      resolve(outcome)
    })
  })
}

/** @param {Buffer} bytes @returns {Buffer[]} a segment for every byte */
const bytewise = (bytes) => Array.from(bytes, (byte) => Buffer.of(byte))

/** @param {Buffer} bytes @returns {Buffer[]} cut behind every CRLF */
function linewise (bytes) {
  return (bytes.toString('latin1').match(/[^]*?\r\n|[^]+$/g) ?? []).map((line) => Buffer.from(line, 'latin1'))
}

module.exports = { bytewise, exchange, linewise, startSide, stopSide }
