'use strict'

// The client of the shapes: HTTP/1.1 with or without TLS, pipelined, and HTTP/2.

const crypto = require('node:crypto')
const http2 = require('node:http2')
const net = require('node:net')
const tls = require('node:tls')

/**
 * @typedef {object} Answer
 * @property {number} [status]
 * @property {Record<string, string>} [headers] without those of the time and of the connection
 * @property {number} [bytes] of the body
 * @property {string} [hash] of the body
 * @property {string} how it ended: end, cut, left or reset
 */

/** Headers that belong to the time, to the connection or to the version. */
const kUncompared = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding'])
/** Ends the wait for an answer that does not end: stock Node lets a client wait that was promised more. */
const kAnswerMs = 2500

/** Reads the answers to pipelined requests from the bytes of a connection. */
class Answers {
  /** @type {Answer[]} */
  whole = []
  /** Bytes of the body that is being read. */
  bytes = 0

  #buffer = Buffer.alloc(0)
  #methods
  /** @type {{ status: number, headers: Record<string, string>, left: number, isChunked: boolean, hash: crypto.Hash } | null} */
  #answer = null

  /** @param {string[]} methods of the requests */
  constructor (methods) {
    this.#methods = methods
  }

  /** @param {Buffer} piece */
  add (piece) {
    this.#buffer = this.#buffer.length === 0 ? piece : Buffer.concat([this.#buffer, piece])
    while (this.#answer === null ? this.#readHead() : this.#readBody());
  }

  /** The connection has ended. @param {string} how */
  end (how) {
    const answer = this.#answer
    if (answer === null) return
    this.#finish(how === 'end' && answer.left !== Infinity ? 'cut' : how)
  }

  #readHead () {
    const end = this.#buffer.indexOf('\r\n\r\n')
    if (end === -1) return false
    const [first, ...lines] = this.#buffer.toString('latin1', 0, end).split('\r\n')
    this.#buffer = this.#buffer.subarray(end + 4)
    const status = Number(first.split(' ')[1])
    /** @type {Record<string, string>} */
    const headers = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]))
    const isChunked = headers['transfer-encoding'] === 'chunked'
    const hasNone = this.#methods[this.whole.length] === 'HEAD' || status === 204 || status === 304
    const left = hasNone ? 0 : isChunked ? -1 : headers['content-length'] === undefined ? Infinity : Number(headers['content-length'])
    this.#answer = { status, headers, left, isChunked: isChunked && !hasNone, hash: crypto.createHash('sha1') }
    this.bytes = 0
    if (left === 0) this.#finish('end')
    return true
  }

  #readBody () {
    const answer = /** @type {NonNullable<typeof this.#answer>} */ (this.#answer)
    if (answer.isChunked && answer.left === -1) {
      const line = this.#buffer.indexOf('\r\n')
      if (line === -1) return false
      const size = parseInt(this.#buffer.toString('latin1', 0, line), 16)
      if (size === 0) {
        const end = this.#buffer.indexOf('\r\n\r\n', line)
        if (end === -1) return false
        const trailers = this.#buffer.toString('latin1', line + 2, end)
        if (trailers !== '') answer.headers.trailers = trailers
        this.#buffer = this.#buffer.subarray(end + 4)
        this.#finish('end')
        return true
      }
      this.#buffer = this.#buffer.subarray(line + 2)
      answer.left = size
    }
    if (this.#buffer.length === 0) return false
    const piece = this.#buffer.subarray(0, Math.min(this.#buffer.length, answer.left))
    answer.hash.update(piece)
    this.bytes += piece.length
    answer.left -= piece.length
    this.#buffer = this.#buffer.subarray(piece.length)
    if (answer.left > 0) return true
    if (!answer.isChunked) {
      this.#finish('end')
      return true
    }
    // The line end behind the chunk comes with the next look.
    if (this.#buffer.length < 2) {
      answer.left = 0
      return this.#skipLineEnd(answer)
    }
    this.#buffer = this.#buffer.subarray(2)
    answer.left = -1
    return true
  }

  /** @param {{ left: number }} answer */
  #skipLineEnd (answer) {
    if (this.#buffer.length < 2) return false
    this.#buffer = this.#buffer.subarray(2)
    answer.left = -1
    return true
  }

  /** @param {string} how */
  #finish (how) {
    const { status, headers, hash } = /** @type {NonNullable<typeof this.#answer>} */ (this.#answer)
    this.#answer = null
    this.whole.push({ status, headers: compared(headers), bytes: this.bytes, hash: hash.digest('hex').slice(0, 12), how })
  }
}

/** @param {Record<string, any>} headers */
function compared (headers) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !kUncompared.has(name) && !name.startsWith(':')).sort(([a], [b]) => a < b ? -1 : 1))
}

/**
 * @param {{ port: number, isSecure: boolean, isPipelined: boolean, methods: string[], paths: string[], file: number, pauseMs?: number, destroyAfter?: number }} options
 *   file: index of the request for the file
 * @returns {Promise<Answer[]>}
 */
function talkHttp1 ({ port, isSecure, isPipelined, methods, paths, file, pauseMs = 0, destroyAfter = Infinity }) {
  return new Promise((resolve) => {
    const socket = isSecure ? tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }) : net.connect(port, '127.0.0.1')
    const answers = new Answers(methods)
    let isOver = false
    const over = (/** @type {string} */ how) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      answers.end(how)
      socket.destroy()
      resolve(answers.whole.length === 0 ? [{ how }] : answers.whole)
    }
    const timer = setTimeout(() => over('cut'), kAnswerMs)
    let isPaused = false
    let asked = 0
    const ask = () => {
      socket.write(`${methods[asked]} ${paths[asked]} HTTP/1.1\r\nHost: a\r\n\r\n`)
      asked++
    }
    socket.on(isSecure ? 'secureConnect' : 'connect', () => {
      if (!isPipelined) return ask()
      while (asked < paths.length) ask()
    })
    socket.on('data', (piece) => {
      timer.refresh()
      answers.add(piece)
      if (answers.whole.length === file && answers.bytes > destroyAfter) return over('left')
      if (answers.whole.length === paths.length) return over('end')
      if (answers.whole.length === asked) ask()
      if (pauseMs > 0 && !isPaused) {
        isPaused = true
        socket.pause()
        setTimeout(() => socket.resume(), pauseMs)
      }
    })
    socket.on('end', () => over('end'))
    socket.on('error', () => over('cut'))
    socket.on('close', () => over('cut'))
  })
}

/**
 * @param {{ port: number, methods: string[], paths: string[], pauseMs?: number, destroyAfter?: number }} options
 * @returns {Promise<Answer[]>}
 */
async function talkHttp2 ({ port, methods, paths, pauseMs = 0, destroyAfter = Infinity }) {
  const session = http2.connect(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  /** @type {Answer[]} */
  const whole = []
  for (const [i, at] of paths.entries()) {
    whole.push(await new Promise((resolve) => {
      const stream = session.request({ ':path': at, ':method': methods[i] })
      const hash = crypto.createHash('sha1')
      let bytes = 0
      /** @type {any} */
      let head = {}
      let isOver = false
      const over = (/** @type {string} */ how) => {
        if (isOver) return
        isOver = true
        clearTimeout(timer)
        const { ':status': status, ...headers } = head
        resolve(status === undefined ? { how } : { status, headers: compared(headers), bytes, hash: hash.digest('hex').slice(0, 12), how })
      }
      const timer = setTimeout(() => { over('cut'); stream.close() }, kAnswerMs)
      stream.on('response', (headers) => {
        head = { ...headers }
        if (i !== 0 || pauseMs === 0) return
        stream.pause()
        setTimeout(() => stream.resume(), pauseMs)
      })
      stream.on('trailers', (trailers) => { head.trailers = Object.entries(trailers).map(([name, value]) => `${name.toUpperCase()}: ${value}`).join() })
      stream.on('data', (piece) => {
        if (isOver) return
        timer.refresh()
        bytes += piece.length
        hash.update(piece)
        if (i !== 0 || bytes <= destroyAfter) return
        stream.close(http2.constants.NGHTTP2_CANCEL)
        over('left')
      })
      stream.on('end', () => over(stream.rstCode === 0 ? 'end' : 'cut'))
      stream.on('error', () => over('cut'))
      stream.on('close', () => over(stream.rstCode === 0 ? 'end' : 'cut'))
    }))
  }
  session.destroy()
  return whole
}

module.exports = { talkHttp1, talkHttp2 }
