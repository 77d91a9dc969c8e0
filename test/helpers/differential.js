'use strict'

// The same program on node:http and on the server under test: the same bytes go to both; what comes back
// and the events that the program logs are compared. Under HTTPSYS_BACKEND=node both are stock Node, which
// shows that a test's own order is settled.

const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const nodeHttp = require('node:http')
const { inspect } = require('node:util')
const { http, backend } = require('./backend')
const { dial, listen, stop } = require('./client')

// Ends a conversation that hangs; none takes a tenth of it on a busy machine.
const kConversationMs = 20_000
// What a server gets to notice by itself that the client has left, also on a busy machine; one that does not read never does.
const kLeaveMs = 2000
// Ends the wait for the last events, those of the closing connection, where fewer come than on node:http.
const kSettleMs = 10_000
const kShownCharacters = 2000

/**
 * One step of the client: bytes to send (a string is Latin-1; each step is a segment of its own), text to
 * wait for in the answer, an event to wait for in the log, or null, which ends the sending side.
 *
 * @typedef {string | Buffer | RegExp | { event: string } | null} Step
 */
/** @typedef {(...words: any[]) => void} Log appends its words, joined, to the events that are compared */
/** @typedef {(req: any, res: any, log: Log) => void} Handler */
/**
 * @typedef {object} Options
 * @property {import('node:http').ServerOptions | object} [server] of createServer()
 * @property {(server: any, log: Log) => void} [prepare] called before listen()
 * @property {RegExp} [until] in the answer: the client leaves then; without it, when the server has closed
 * @property {number} [times] how often `until` has to be there
 * @property {boolean} [unchunked] the chunks of the one answer are taken for one chunk
 */
/** @typedef {{ text: string, events: string[] }} Outcome the answer (Latin-1, without the time of day), and the log */

/** @param {string} text an answer in chunks @returns {string} the same in one chunk */
function unchunk (text) {
  const start = text.indexOf('\r\n\r\n') + 4
  let body = ''
  for (let at = start; ;) {
    const data = text.indexOf('\r\n', at) + 2
    const size = parseInt(text.slice(at, data), 16)
    if (!(size > 0)) return `${text.slice(0, start)}${body.length.toString(16)}\r\n${body}\r\n${text.slice(at)}`
    body += text.slice(data, data + size)
    at = data + size + 2
  }
}

/** @param {() => boolean} isThere @param {EventEmitter} changes @param {AbortSignal} [signal] gives up */
async function waitFor (isThere, changes, signal) {
  while (!isThere() && !signal?.aborted) await once(changes, 'change', { signal }).catch(() => {})
}

/**
 * @param {import('../helpers/client').Wire} wire
 * @param {Step[]} steps
 * @param {string[]} events
 * @param {EventEmitter} changes
 */
async function play (wire, steps, events, changes) {
  for (const step of steps) {
    if (step === null) wire.socket.end()
    else if (step instanceof RegExp) await wire.until(step)
    else if (typeof step === 'object' && 'event' in step) await waitFor(() => events.includes(step.event), changes)
    else {
      await new Promise((resolve) => wire.socket.write(/** @type {string} */ (step), 'latin1', resolve))
      // The server lives in this process: its turn to read what was sent so far.
      for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

/**
 * @param {import('node:test').TestContext} t
 * @param {any} api node:http or what replaces it
 * @param {Handler} handler
 * @param {Step[]} steps
 * @param {Options} options
 * @param {number} wanted events to wait for
 * @returns {Promise<Outcome>}
 */
async function run (t, api, handler, steps, options, wanted) {
  const events = /** @type {string[]} */ ([])
  const changes = new EventEmitter()
  /** @type {Log} */
  const log = (...words) => {
    events.push(words.map((word) => typeof word === 'string' ? word : JSON.stringify(word) ?? String(word)).join(' '))
    changes.emit('change')
  }
  const server = api.createServer(options.server ?? {}, (/** @type {any} */ req, /** @type {any} */ res) => handler(req, res, log))
  options.prepare?.(server, log)
  t.after(() => stop(server))
  const wire = await dial(t, await listen(server))
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const late = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${JSON.stringify(wire.text.slice(-2000))}, events ${JSON.stringify(events)}`)), kConversationMs)
  })
  const talk = async () => {
    await play(wire, steps, events, changes)
    await (options.until === undefined ? wire.untilClosed() : wire.until(options.until, options.times))
  }
  await Promise.race([talk(), late]).finally(() => clearTimeout(timer))
  wire.destroy()
  const closed = once(server, 'close')
  server.close()
  // A server that does not read (a paused upload) does not notice that the client left.
  const leave = setTimeout(() => server.closeAllConnections(), kLeaveMs)
  await closed
  clearTimeout(leave)
  // A server emits 'close' before the last connection does.
  const settled = new AbortController()
  const settle = setTimeout(() => settled.abort(), kSettleMs)
  await waitFor(() => events.length >= wanted, changes, settled.signal)
  clearTimeout(settle)
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
  const text = wire.text.replace(/Date: [^\r]* GMT\r\n/g, 'Date: now\r\n')
  return { text: options.unchunked ? unchunk(text) : text, events }
}

/**
 * Runs a handler on both servers and fails where they differ.
 *
 * @param {import('node:test').TestContext} t
 * @param {Handler} handler
 * @param {Step | Step[]} steps what the client does
 * @param {Options} [options]
 * @returns {Promise<Outcome>} that of both
 */
async function compare (t, handler, steps, options = {}) {
  const list = Array.isArray(steps) ? steps : [steps]
  const expected = await run(t, nodeHttp, handler, list, options, 0)
  const actual = await run(t, http, handler, list, options, expected.events.length)
  try {
    assert.equal(actual.text, expected.text, 'answers')
    assert.deepEqual(actual.events, expected.events, 'events')
  } catch (error) {
    const { message, actual, expected } = /** @type {any} */ (error)
    const input = list.map((step) => Buffer.isBuffer(step) ? step.toString('latin1') : step)
    assert.fail(`the ${message} of the backend "${backend}" are not those of node:http\n` +
      [input, actual, expected].map((value, i) => `${['input', backend, 'node:http'][i]}: ${inspect(value).slice(0, kShownCharacters)}`).join('\n'))
  }
  return actual
}

/**
 * A segment for every byte.
 *
 * @param {string | Buffer} bytes
 * @returns {Buffer[]}
 */
function bytewise (bytes) {
  return [...(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)].map((byte) => Buffer.of(byte))
}

/**
 * The bytes of a request; with no header lines of its own it asks for the connection to be closed.
 *
 * @param {string} line e.g. `GET /`
 * @param {string[]} [headers]
 * @param {string} [body] as it is on the wire
 */
function message (line, headers = ['Connection: close'], body = '') {
  return `${line} HTTP/1.1\r\n${['Host: a', ...headers].join('\r\n')}\r\n\r\n${body}`
}

module.exports = { bytewise, compare, message }
