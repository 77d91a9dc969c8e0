'use strict'

// Clients of the test `one-way`: each sends the requests of a batch in its way, and says what came back.

const http2 = require('node:http2')
const net = require('node:net')
const tls = require('node:tls')
const { simple } = require('./requests')

/** @typedef {import('./requests').Request} Request */
/** @typedef {{ status: number | string, fields: [string, string][], body: Buffer }} Answer status: a word where no answer came */
/** @typedef {{ port: number, secure: tls.ConnectionOptions | null }} Where */

/** A request without an answer has failed then: the slowest takes a hundredth of it. */
const kAnswerMs = 30_000
const kConnections = 5
/** Requests that are sent at once on one connection. */
const kPipelined = 6

/** @param {string} word @returns {Answer} */
const noAnswer = (word) => ({ status: word, fields: [], body: Buffer.alloc(0) })

/** The bytes of a request. @param {Request} request @returns {[Buffer, Buffer]} head and body */
function bytesOf ({ method, target, host, fields, body, framing }) {
  const lines = [`${method} ${target} HTTP/1.1`]
  if (host !== null) lines.push(`Host: ${host}`)
  for (const [name, value] of fields) lines.push(`${name}: ${value}`)
  if (body === null) return [Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.alloc(0)]
  lines.push(framing === 'length' ? `Content-Length: ${body.length}` : 'Transfer-Encoding: chunked')
  const chunk = body.length === 0 ? '' : `${body.length.toString(16)}\r\n${body}\r\n`
  return [Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), framing === 'length' ? body : Buffer.from(`${chunk}0\r\n\r\n`)]
}

/** What becomes of a request behind one that ended its connection: it was not read, or that is not known. Both are sent again. */
const [kUnread, kUnknown] = [noAnswer('unread'), noAnswer('unknown')]

/** @typedef {{ request: Request, resolve: (answer: Answer) => void, onContinue?: () => void }} Waiting */

/** A connection of HTTP/1.1. Its answers come in order. */
class Connection {
  #buffer = Buffer.alloc(0)
  /** @type {Waiting[]} */
  #waiting = []
  /** @type {{ status: number, fields: [string, string][], isChunked: boolean, length: number, pieces: Buffer[] } | null} */
  #answer = null
  #timer
  isOpen = true

  /** @param {Where} where */
  constructor ({ port, secure }) {
    this.socket = secure === null ? net.connect({ port, host: '127.0.0.1', noDelay: true }) : tls.connect({ port, host: '127.0.0.1', ...secure })
    // Later connections resume it.
    if (secure !== null) this.socket.on('session', (session) => { secure.session = session })
    let end = 'closed'
    this.socket.on('data', (piece) => {
      this.#timer.refresh()
      this.#buffer = this.#buffer.length === 0 ? piece : Buffer.concat([this.#buffer, piece])
      while (this.#read());
    })
    this.socket.on('error', (/** @type {any} */ { code }) => {
      if (code === 'ECONNRESET' || code === 'EPIPE') end = 'reset'
    })
    this.socket.on('close', () => this.#end(end))
    this.#timer = setTimeout(() => {
      if (this.#waiting.length === 0) return
      end = 'none'
      this.socket.destroy()
    }, kAnswerMs)
  }

  /** @param {string} how */
  #end (how) {
    clearTimeout(this.#timer)
    this.isOpen = false
    this.socket.destroy()
    const { status = how, fields = [], length = 0 } = this.#answer ?? {}
    const isAnswer = length === Infinity && how === 'closed'
    if (isAnswer) this.#waiting.shift()?.resolve({ status, fields, body: this.#buffer })
    else if (how !== 'answered') this.#waiting.shift()?.resolve(noAnswer(this.#answer === null ? how : `${how} within an answer`))
    for (const { resolve } of this.#waiting.splice(0)) resolve(isAnswer || how === 'answered' ? kUnread : kUnknown)
  }

  /** @returns {boolean} whether more may be there */
  #read () {
    if (this.#answer === null) {
      const end = this.#buffer.indexOf('\r\n\r\n')
      if (end === -1) return false
      const [first, ...lines] = this.#buffer.latin1Slice(0, end).split('\r\n')
      this.#buffer = this.#buffer.subarray(end + 4)
      const status = Number(first.split(' ')[1])
      const [waiting] = this.#waiting
      if (waiting === undefined) throw new Error(`an answer without a request: ${first}`)
      if (status < 200) {
        waiting.onContinue?.()
        return true
      }
      const fields = lines.map((line) => {
        const colon = line.indexOf(':')
        return /** @type {[string, string]} */ ([line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()])
      })
      const isBodiless = waiting.request.method === 'HEAD' || status === 204 || status === 304
      const length = fields.find(([name]) => name === 'content-length')?.[1]
      const isChunked = !isBodiless && fields.some(([name]) => name === 'transfer-encoding')
      this.#answer = { status, fields, isChunked, length: isBodiless ? 0 : Number(length ?? (isChunked ? 0 : Infinity)), pieces: [] }
    }
    const answer = this.#answer
    if (!answer.isChunked) return this.#take(answer.length) && this.#done()
    const end = this.#buffer.indexOf('\r\n')
    if (end === -1) return false
    const bytes = parseInt(this.#buffer.latin1Slice(0, end), 16)
    if (this.#buffer.length < end + 4 + bytes) return false
    this.#buffer = this.#buffer.subarray(end + 2)
    this.#take(bytes)
    this.#buffer = this.#buffer.subarray(2)
    return bytes > 0 || this.#done()
  }

  /** @param {number} bytes of a body */
  #take (bytes) {
    if (this.#buffer.length < bytes) return false
    this.#answer?.pieces.push(this.#buffer.subarray(0, bytes))
    this.#buffer = this.#buffer.subarray(bytes)
    return true
  }

  #done () {
    const { status, fields, pieces } = /** @type {NonNullable<typeof this.#answer>} */ (this.#answer)
    this.#answer = null
    const isLast = fields.some(([name, value]) => name === 'connection' && value === 'close')
    this.#waiting.shift()?.resolve({ status, fields, body: Buffer.concat(pieces) })
    if (isLast) this.#end('answered')
    return !isLast
  }

  /** @param {Request} request @param {boolean} waits for the interim answer that a request asks for @returns {Promise<Answer>} */
  send (request, waits) {
    return new Promise((resolve) => {
      if (!this.isOpen) return resolve(kUnread)
      this.#timer.refresh()
      const [head, body] = bytesOf(request)
      const isAwaited = waits && request.fields.some(([, value]) => value === '100-continue')
      let isSent = !isAwaited
      const onContinue = isAwaited
        ? () => {
            isSent = true
            this.socket.write(body)
          }
        : undefined
      /** @type {(answer: Answer) => void} */
      const settle = (answer) => {
        resolve(answer)
        // The body that was announced will not come.
        if (!isSent) this.#end('closed')
      }
      this.#waiting.push({ request, resolve: settle, onContinue })
      if (isAwaited || request.isLate) {
        this.socket.write(head)
        if (!isAwaited) this.socket.write(body)
      } else this.socket.write(body.length === 0 ? head : Buffer.concat([head, body]))
    })
  }

  close () { this.#end('closed') }
}

/** The request that another member of the port answers. */
const kElsewhere = simple('/elsewhere/')

/**
 * A client of HTTP/1.1 with several connections.
 */
class Http1Client {
  /** @type {(Connection | null)[]} */
  #connections = Array(kConnections).fill(null)
  /** Ids of the requests that the server may have had twice. @type {Set<number>} */
  again = new Set()

  /** @param {Where} where @param {{ isPipelined?: boolean, isMoved?: boolean }} how isMoved: another member answers before */
  constructor (where, { isPipelined = false, isMoved = false }) {
    this.where = where
    this.group = isPipelined ? kPipelined : 1
    this.isMoved = isMoved
  }

  /** @param {Request[]} requests @param {(request: Request, answer: Answer) => void} onAnswer */
  async play (requests, onAnswer) {
    let next = 0
    await Promise.all(this.#connections.map(async (_, number) => {
      /** @type {Request[]} */
      let group = []
      for (;;) {
        // What follows an answer that ended the connection is sent again.
        while (group.length < this.group && next < requests.length) group.push(requests[next++])
        if (group.length === 0) return
        const connection = this.#connections[number]?.isOpen ? this.#connections[number] : new Connection(this.where)
        this.#connections[number] = connection
        if (this.isMoved && this.group === 1) await connection.send(kElsewhere, false)
        else if (this.isMoved) connection.send(kElsewhere, false)
        connection.socket.cork()
        const answers = group.map((request) => connection.send(request, this.group === 1))
        connection.socket.uncork()
        const got = await Promise.all(answers)
        group = group.filter((request, index) => {
          if (got[index] === kUnknown) this.again.add(request.id)
          if (got[index] === kUnknown || got[index] === kUnread) return true
          onAnswer(request, got[index])
          return false
        })
      }
    }))
  }

  close () { for (const connection of this.#connections) connection?.close() }
}

/** A client of HTTP/2 with several sessions. */
class Http2Client {
  /** @type {http2.ClientHttp2Session[]} */
  #sessions = []

  /** @param {Where} where */
  constructor ({ port, secure }) {
    this.url = `${secure === null ? 'http' : 'https'}://127.0.0.1:${port}`
    this.secure = secure === null ? {} : { ...secure, ALPNProtocols: ['h2'] }
  }

  /** @param {number} number */
  #session (number) {
    const known = this.#sessions[number]
    if (known !== undefined) return known
    const made = http2.connect(this.url, this.secure)
    made.on('error', () => {})
    made.setMaxListeners(0)
    this.#sessions[number] = made
    return made
  }

  /** @param {Request[]} requests @param {(request: Request, answer: Answer) => void} onAnswer */
  async play (requests, onAnswer) {
    await Promise.all(requests.map(async (request, index) => onAnswer(request, await this.#send(this.#session(index % 2), request))))
  }

  /** @param {http2.ClientHttp2Session} session @param {Request} request @returns {Promise<Answer>} */
  #send (session, { method, target, host, fields, body, framing, isLate }) {
    return new Promise((resolve) => {
      /** @type {http2.OutgoingHttpHeaders} */
      const headers = { ':method': method, ':path': target, ':authority': host ?? '' }
      for (const [name, value] of fields) {
        const known = headers[name.toLowerCase()]
        headers[name.toLowerCase()] = known === undefined ? value : [String(known), value]
      }
      if (framing === 'length') headers['content-length'] = String(body?.length)
      const stream = session.request(headers, { endStream: body === null })
      /** @type {Answer | null} */
      let answer = null
      /** @type {Buffer[]} */
      const pieces = []
      let end = 'closed'
      const timer = setTimeout(() => {
        end = 'none'
        stream.destroy()
      }, kAnswerMs)
      // The third argument has the fields as they came.
      stream.on('response', (/** @type {any} */ { ':status': status }, /** @type {number} */ _flags, /** @type {any} */ raw) => {
        /** @type {[string, string][]} */
        const pairs = []
        for (let i = 0; i < raw.length; i += 2) if (raw[i] !== ':status') pairs.push([raw[i], raw[i + 1]])
        answer = { status, fields: pairs, body: Buffer.alloc(0) }
      })
      let hasEnded = false
      stream.on('data', (piece) => pieces.push(piece)).on('end', () => { hasEnded = true })
      stream.on('error', () => { end = end === 'closed' ? 'reset' : end })
      stream.on('close', () => {
        clearTimeout(timer)
        if (answer === null) return resolve(noAnswer(end))
        if (!hasEnded) return resolve(noAnswer(`${end} within an answer`))
        resolve({ ...answer, body: Buffer.concat(pieces) })
      })
      if (body === null) return
      if (isLate) setImmediate(() => stream.destroyed || stream.end(body))
      else stream.end(body)
    })
  }

  close () { for (const session of this.#sessions.splice(0)) session.destroy() }
}

module.exports = { Connection, Http1Client, Http2Client }
