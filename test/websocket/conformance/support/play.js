'use strict'

// Plays a table of conversations: the same bytes go to every column, in several cuts. What comes back
// must be what the table says, and what the server's program sees must be what it sees on the reference.

const { after, test } = require('node:test')
const assert = require('node:assert/strict')
const net = require('node:net')
const { listen, stop } = require('../../../helpers/client')
const { kColumns } = require('./columns')
const { Context, Reader, close, show } = require('./frames')
const { handshake } = require('./handshake')

/** @typedef {import('./columns').Column} Column */

/**
 * @typedef {object} Case
 * @property {string} name a sentence that says what the server does
 * @property {(Buffer | number)[]} send frames; a number: wait for so many messages of the server's first
 * @property {string[]} expect the server's messages; without a close the client ends with 1000; `end`: none came
 * @property {string} [error] the code of the server's 'error'
 * @property {object} [options] of the WebSocketServer
 * @property {string} [offer] Sec-WebSocket-Extensions
 * @property {{ windowBits?: number, takeover?: boolean }} [answers] how the server compresses
 * @property {boolean} [ends] the client's sending side after all that, instead of a close frame
 * @property {(socket: any) => void} [app] instead of an echo; a function with a name
 */

/** Ends a conversation that hangs; none takes a tenth of it on a busy machine. */
const kConversationMs = 20_000
/** Longer conversations are cut into pieces rather than into bytes. */
const kBytewiseMax = 600
const kPiece = 997

/** @param {any} socket */
function echo (socket) {
  socket.on('message', (/** @type {Buffer} */ data, /** @type {boolean} */ isBinary) => socket.send(data, { binary: isBinary }))
}

/** @typedef {{ events: string[], closed: () => void }} Log */
/** @typedef {{ server: any, port: number, logs: Map<string, Log> }} Running */

/** @type {Map<string, Promise<Running>>} */
const servers = new Map()
let paths = 0

after(async () => {
  for (const running of servers.values()) await stop((await running).server)
})

/** @param {Column} column @param {object} options @param {(socket: any) => void} app @returns {Promise<Running>} */
async function start (column, options, app) {
  const server = column.createServer()
  /** @type {Map<string, Log>} */
  const logs = new Map()
  const wss = new column.WebSocketServer({ server, ...options })
  wss.on('connection', (/** @type {any} */ socket, /** @type {import('node:http').IncomingMessage} */ { url = '' }) => {
    const log = logs.get(url)
    if (log === undefined) throw new Error(`nobody opened ${url}`)
    const { events } = log
    socket.on('message', (/** @type {Buffer} */ data, /** @type {boolean} */ isBinary) => events.push(`message ${isBinary ? 'binary' : 'text'} ${show(data)}`))
    socket.on('ping', (/** @type {Buffer} */ data) => events.push(`ping ${show(data)}`))
    socket.on('pong', (/** @type {Buffer} */ data) => events.push(`pong ${show(data)}`))
    socket.on('error', (/** @type {any} */ error) => events.push(`error ${error.code} ${error.name}: ${error.message}`))
    socket.on('close', (/** @type {number} */ code, /** @type {Buffer} */ reason) => {
      events.push(`close ${code} ${show(reason)}`)
      log.closed()
    })
    app(socket)
  })
  return { server, port: await listen(server), logs }
}

/** @param {Column} column @param {object} options @param {(socket: any) => void} app @returns {Promise<Running>} one for all cases that want the same */
function serverOf (column, options, app) {
  const key = `${column.name} ${JSON.stringify(options)} ${app.name}`
  let running = servers.get(key)
  if (running === undefined) {
    running = start(column, options, app)
    servers.set(key, running)
  }
  return running
}

/** How the same bytes are cut. @type {Record<string, (frames: Buffer[]) => Buffer[]>} */
const kDeliveries = {
  'at once': (frames) => [Buffer.concat(frames)],
  'a frame at a time': (frames) => frames,
  'in pieces': (frames) => {
    const bytes = Buffer.concat(frames)
    const size = bytes.length > kBytewiseMax ? kPiece : 1
    return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))
  },
}

/** A client that knows nothing of WebSockets but the head of an answer. */
class Peer {
  #head = Buffer.alloc(0)
  #wake = () => {}
  #reader
  isOpen = false
  isClosed = false

  /** @param {number} port @param {Reader} reader */
  constructor (port, reader) {
    this.#reader = reader
    this.socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
    this.socket.on('data', (piece) => this.#take(piece))
    // A server that has said why it closes may well reset what is still sent.
    this.socket.on('error', () => {})
    this.socket.on('close', () => {
      this.isClosed = true
      this.#wake()
    })
  }

  get head () {
    return this.#head.toString('latin1')
  }

  /** @param {Buffer} piece */
  #take (piece) {
    if (this.isOpen) {
      this.#reader.push(piece)
    } else {
      this.#head = Buffer.concat([this.#head, piece])
      const end = this.#head.indexOf('\r\n\r\n')
      if (end !== -1) {
        const rest = this.#head.subarray(end + 4)
        this.#head = this.#head.subarray(0, end + 4)
        this.isOpen = true
        if (rest.length > 0) this.#reader.push(rest)
      }
    }
    this.#wake()
  }

  /** @param {() => boolean} isThere @returns {Promise<void>} when it is, or the connection is closed */
  async until (isThere) {
    while (!isThere() && !this.isClosed) await /** @type {Promise<void>} */ (new Promise((resolve) => { this.#wake = resolve }))
  }

  /** @param {Buffer} bytes */
  async write (bytes) {
    if (this.isClosed || this.socket.writableEnded) return
    await new Promise((resolve) => this.socket.write(bytes, resolve))
    // The server lives in this process: its turn to read what was sent so far.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/**
 * @param {Column} column
 * @param {Case} item
 * @param {(frames: Buffer[]) => Buffer[]} deliver
 * @returns {Promise<{ messages: string[], events: string[] }>}
 */
async function converse (column, { send, expect, options = {}, offer, answers, ends = false, app = echo }, deliver) {
  const { port, logs } = await serverOf(column, options, app)
  const path = `/${++paths}`
  const events = /** @type {string[]} */ ([])
  const closed = /** @type {Promise<void>} */ (new Promise((resolve) => logs.set(path, { events, closed: resolve })))
  const reader = new Reader(offer === undefined ? undefined : new Context(answers))
  const peer = new Peer(port, reader)
  const talk = async () => {
    peer.socket.write(handshake(path, offer))
    await peer.until(() => peer.isOpen)
    if (!peer.head.startsWith('HTTP/1.1 101')) throw new Error(`no handshake: ${peer.head}`)
    const frames = [...send, ...ends || expect.some((message) => /^(close|end)/.test(message)) ? [] : [close(1000)]]
    while (frames.length > 0) {
      const [first] = frames
      if (typeof first === 'number') {
        await peer.until(() => reader.messages.length >= first)
        frames.shift()
        continue
      }
      const stop = frames.findIndex((each) => typeof each === 'number')
      const run = /** @type {Buffer[]} */ (frames.splice(0, stop === -1 ? frames.length : stop))
      for (const bytes of deliver(run)) await peer.write(bytes)
    }
    if (ends) peer.socket.end()
    await peer.until(() => false)
    await closed
  }
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const late = new Promise((resolve) => { timer = setTimeout(resolve, kConversationMs, 'late') })
  const ended = await Promise.race([talk(), late]).finally(() => clearTimeout(timer))
  peer.socket.destroy()
  return { messages: ended === 'late' ? [...reader.messages, `NO END WITHIN ${kConversationMs} ms`] : reader.messages, events }
}

/** @param {Column} column @param {string[]} messages of the server @returns {string[]} in an order that can be compared */
function comparable ({ pongsOvertake = false }, messages) {
  if (!pongsOvertake) return messages
  const isPong = (/** @type {string} */ message) => message.startsWith('pong ')
  // A close frame is the last one for both.
  const end = messages.findIndex((message) => message.startsWith('close'))
  const before = end === -1 ? messages : messages.slice(0, end)
  return [...before.filter(isPong), ...before.filter((message) => !isPong(message)), ...messages.slice(before.length)]
}

/** @param {Case} item @param {(frames: Buffer[]) => Buffer[]} deliver @param {string} delivery @returns {Promise<string[]>} what is wrong */
async function differences (item, deliver, delivery) {
  const { expect, error } = item
  const expected = expect.some((message) => /^(close|end)/.test(message)) ? expect.filter((message) => message !== 'end') : [...expect, 'close 1000']
  const results = await Promise.all(kColumns.map((column) => converse(column, item, deliver)))
  return results.flatMap(({ messages, events }, index) => {
    const column = kColumns[index]
    const where = `${column.name}, ${delivery}`
    const problems = []
    const differ = (/** @type {string} */ what, /** @type {string[]} */ actual, /** @type {string[]} */ wanted) => {
      if (actual.join('\n') !== wanted.join('\n')) problems.push(`${where}: ${what}\n  ${actual.join('\n  ')}\ninstead of\n  ${wanted.join('\n  ')}`)
    }
    differ('the server said', comparable(column, messages), comparable(column, expected))
    if (index > 0) differ('its program saw', events, results[0].events)
    const errors = events.filter((event) => event.startsWith('error')).map((event) => event.split(' ')[1])
    differ('errors', errors, error === undefined ? [] : [error])
    return problems
  })
}

/**
 * Every column must do what the reference does.
 *
 * @param {Case} item whose `expect` does not count
 * @param {string} delivery
 */
async function agree (item, delivery) {
  const [wanted, ...others] = await Promise.all(kColumns.map((column) => converse(column, item, kDeliveries[delivery])))
  for (const [index, actual] of others.entries()) {
    const column = kColumns[index + 1]
    const order = ({ messages, events } = actual) => ({ messages: comparable(column, messages), events })
    const bytes = Buffer.concat(item.send.filter((each) => typeof each !== 'number')).toString('hex')
    assert.deepEqual(order(), order(wanted), `${column.name}, ${delivery}, not as ${kColumns[0].name}:\n${bytes}\n` +
      `${JSON.stringify(actual, null, 1)}\ninstead of\n${JSON.stringify(wanted, null, 1)}`)
  }
  return wanted
}

/** @param {Case[]} cases */
function conform (cases) {
  for (const item of cases) {
    test(item.name, async () => {
      const problems = []
      for (const [name, deliver] of Object.entries(kDeliveries)) problems.push(...await differences(item, deliver, name))
      assert.equal(problems.join('\n'), '')
    })
  }
}

/**
 * @param {Column} column
 * @param {object} options of the WebSocketServer
 * @param {string} offer
 * @returns {Promise<string>} the extensions in the answer, or its status when it refuses
 */
async function negotiate (column, options, offer) {
  const { port, logs } = await serverOf(column, options, echo)
  const path = `/${++paths}`
  logs.set(path, { events: [], closed: () => {} })
  const peer = new Peer(port, new Reader())
  peer.socket.write(handshake(path, offer))
  await peer.until(() => peer.isOpen)
  peer.socket.destroy()
  const status = peer.head.slice(9, 12)
  return status === '101' ? /^sec-websocket-extensions: (.*)\r$/im.exec(peer.head)?.[1] ?? 'none' : status
}

module.exports = { Peer, agree, conform, kDeliveries, negotiate }
