'use strict'

// What a differential program is written with. It runs once on stock Node and once on ours; what it says
// here, and what it prints itself, has to be the same.
//
// Events go to a log that is printed when the process ends: one that comes late, or never, shows. The
// client's side is kept apart from it, since the two sides' order is settled by the scheduler.

const { createHash } = require('node:crypto')
const { once } = require('node:events')
const { inspect } = require('node:util')
const { setImmediate, setTimeout } = require('node:timers')
const { Wire } = require('../helpers/client')

/**
 * A step of a conversation: bytes to send (a string is Latin-1; each step is a segment of its own), text
 * to wait for, an event to wait for in the log, milliseconds of silence, or null to end the sending side.
 *
 * @typedef {string | Buffer | RegExp | { event: string } | { wait: number } | null} Step
 */

/** Ends a program that waits for what never comes; none takes a quarter of it on a busy machine. */
const kProgramMs = 15_000
/** How long a program waits for what may not come at all before it goes on and shows what has happened otherwise. */
const kWithinMs = 9000

/** @type {string[]} */
const events = []
/** @type {string[]} */
const answers = []
/** @type {any[]} */
const servers = []
/** @type {Wire[]} */
const wires = []
/** Ports of this run by what they are called in the output. @type {Map<string, string>} */
const ports = new Map()
/** @type {Set<() => void>} */
const waiting = new Set()

/** Characters of a line that is shown as it is: what is written at the exit of a process has to fit into a pipe. */
const kLineMax = 2000

/** @param {string} text @returns {string} with long lines as their beginning, length and hash */
function short (text) {
  return text.split('\n').map((line) => line.length <= kLineMax
    ? line
    : `${line.slice(0, 100)}... (${line.length} characters, ${createHash('sha256').update(line).digest('base64')})`).join('\n')
}

/** @param {string} text @returns {string} without what changes from run to run */
function settled (text) {
  return text.replace(/Date: [^\r\n]* GMT/gi, 'Date: now').replace(/\b\d{4,5}\b/g, (digits) => ports.get(digits) ?? digits)
}

/** @param {unknown} word */
const show = (word) => typeof word === 'string' ? word : inspect(word, { depth: 4, breakLength: Infinity, compact: true })

/** Adds an event to the log. @param {...unknown} words */
function log (...words) {
  events.push(words.map(show).join(' '))
  for (const wake of [...waiting]) wake()
}

/** @param {string} text an event as it is in the log, or its beginning */
async function logged (text) {
  while (!events.some((event) => event.startsWith(text))) {
    await new Promise((resolve) => {
      const wake = () => {
        waiting.delete(wake)
        resolve(null)
      }
      waiting.add(wake)
    })
  }
}

/**
 * Waits for what comes at once on stock Node, and may never come on a server that differs. The limit is only for that one.
 *
 * @template T, U
 * @param {Promise<T>} promise
 * @param {U} [otherwise] the result when it has not come
 * @param {number} [ms] less where nothing may be what comes on stock Node, too
 * @returns {Promise<T | U>}
 */
function within (promise, otherwise, ms = kWithinMs) {
  return Promise.race([promise, new Promise((resolve) => setTimeout(resolve, ms, otherwise).unref())])
}

/** Adds to what the client saw. @param {...unknown} words */
function answer (...words) {
  answers.push(words.map(show).join(' '))
}

/**
 * Listens, on a free port of 127.0.0.1 unless told otherwise; the server is closed when the program is over.
 *
 * @param {any} server
 * @param {...any} args those of listen()
 * @returns {Promise<number>} the port
 */
async function listen (server, ...args) {
  server.listen(...(args.length === 0 ? [0, '127.0.0.1'] : args))
  if (!server.listening) await once(server, 'listening')
  return listening(server)
}

/** For a server that a framework has made listen. @param {any} server @returns {number} the port */
function listening (server) {
  servers.push(server)
  const address = server.address()
  if (typeof address !== 'object') return 0
  ports.set(String(address.port), 'PORT')
  return address.port
}

/**
 * A connection that stays open until the program is over.
 *
 * @param {number | import('node:net').NetConnectOpts} where
 * @returns {Promise<Wire>}
 */
async function dial (where) {
  const wire = new Wire(typeof where === 'number' ? { port: where, host: '127.0.0.1' } : where)
  wires.push(wire)
  await once(wire.socket, 'connect')
  ports.set(String(wire.socket.localPort), 'CLIENT')
  return wire
}

/** @param {Wire} wire @param {Step[]} steps */
async function play (wire, steps) {
  for (const step of steps) {
    if (step === null) wire.socket.end()
    else if (step instanceof RegExp) await wire.until(step)
    else if (typeof step === 'object' && 'event' in step) await logged(step.event)
    else if (typeof step === 'object' && 'wait' in step) await new Promise((resolve) => setTimeout(resolve, step.wait))
    else {
      await new Promise((resolve) => wire.socket.write(/** @type {string} */ (step), 'latin1', resolve))
      // The server lives in this process: its turn to read what was sent so far.
      for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

/**
 * One conversation; what came back is part of what is compared.
 *
 * @param {number | import('node:net').NetConnectOpts | Wire} where
 * @param {Step | Step[]} steps
 * @param {RegExp} [until] the client leaves when this has come; without it, when the server has closed
 * @returns {Promise<string>} what came back
 */
async function talk (where, steps, until) {
  const wire = where instanceof Wire ? where : await dial(where)
  await play(wire, Array.isArray(steps) ? steps : [steps])
  await (until === undefined ? wire.untilClosed() : wire.until(until))
  answer(wire.text)
  if (!(where instanceof Wire)) wire.destroy()
  return wire.text
}

/**
 * The bytes of a request; without header lines of its own it asks for the connection to be closed.
 *
 * @param {string} line e.g. `GET /`
 * @param {string[]} [headers]
 * @param {string} [body] as it is on the wire
 */
function message (line, headers = ['Connection: close'], body = '') {
  return `${line} HTTP/1.1\r\n${['Host: a', ...headers].join('\r\n')}\r\n\r\n${body}`
}

/** Logs each of these events of an emitter, with its first argument when that is an error. @param {string} name @param {any} emitter @param {string[]} types */
function watch (name, emitter, types) {
  for (const type of types) {
    emitter.on(type, (/** @type {any} */ value) => {
      log(name, type, ...(value instanceof Error ? [(value).code ?? value.message] : []))
    })
  }
}

/**
 * Runs the program, then leaves and closes its servers. The process has to end by itself then.
 *
 * @param {() => Promise<void>} main
 */
function program (main) {
  process.on('exit', () => {
    process.stdout.write(short(settled(`events\n${events.map((event) => `  ${event}\n`).join('')}answers\n` +
      answers.map((text) => `  ${text.replaceAll('\r', '\\r').replaceAll('\n', '\n  ')}\n`).join(''))))
  })
  // What has happened so far tells more than a process that had to be killed.
  setTimeout(() => {
    log('no end')
    process.exit(1)
  }, kProgramMs).unref()
  main().finally(() => {
    for (const wire of wires) wire.destroy()
    for (const server of servers) {
      if (!server.listening) continue
      server.close()
      // A server that does not read (a paused upload) does not notice that the client left.
      setTimeout(() => server.closeAllConnections?.(), 500).unref()
    }
  })
}

module.exports = { answer, dial, listen, listening, log, logged, message, play, program, talk, watch, within }
