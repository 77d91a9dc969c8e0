'use strict'

// What Node's http client takes for a connection, and is a session of HTTP/2: the text of HTTP/1.1 that the client
// writes becomes frames, and frames become the text that it reads. Requests and responses themselves stay as they are.

const http = require('node:http')
const http2 = require('node:http2')
const net = require('node:net')

/** Those about a connection of HTTP/1.1 (RFC 9113, section 8.2.2). */
const kOfConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'host'])
const kAddresses = /** @type {const} */ (['remoteAddress', 'remoteFamily', 'remotePort', 'localAddress', 'localFamily', 'localPort'])
const kHeadEnd = '\r\n\r\n'

/** Takes a request of HTTP/1.1 apart. */
class RequestReader {
  /** @type {Buffer} */
  #rest = Buffer.alloc(0)
  /** @type {'head' | 'length' | 'chunk' | 'chunkEnd' | 'trailers' | 'raw'} */
  #state = 'head'
  #left = 0
  #to

  /** @param {{ head: (head: any) => void, body: (piece: Buffer, done: () => void) => void, end: (trailers: any) => void }} to */
  constructor (to) {
    this.#to = to
  }

  /** @param {Buffer} bytes @param {() => void} done when it is all on its way */
  read (bytes, done) {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    let waiting = 1
    const settle = () => { if (--waiting === 0) done() }
    while (this.#step((piece) => {
      waiting++
      this.#to.body(piece, settle)
    }));
    settle()
  }

  /** @param {string} end @returns {string | null} the text before it, which is taken off */
  #upTo (end) {
    const at = this.#rest.indexOf(end)
    if (at === -1) return null
    const text = this.#rest.toString('latin1', 0, at)
    this.#rest = this.#rest.subarray(at + end.length)
    return text
  }

  /** @param {(piece: Buffer) => void} body @returns {boolean} whether there may be more */
  #step (body) {
    switch (this.#state) {
      case 'head': {
        const text = this.#upTo(kHeadEnd)
        if (text === null) return false
        this.#begin(text)
        return true
      }
      case 'raw':
      case 'length': {
        const piece = this.#rest.subarray(0, this.#left)
        if (piece.length === 0) return false
        this.#rest = this.#rest.subarray(piece.length)
        this.#left -= piece.length
        body(piece)
        if (this.#left === 0) this.#end({})
        return true
      }
      case 'chunk': {
        const size = this.#upTo('\r\n')
        if (size === null) return false
        this.#left = parseInt(size, 16)
        this.#state = this.#left === 0 ? 'trailers' : 'chunkEnd'
        return true
      }
      case 'chunkEnd': {
        if (this.#rest.length < this.#left + 2) return false
        body(this.#rest.subarray(0, this.#left))
        this.#rest = this.#rest.subarray(this.#left + 2)
        this.#state = 'chunk'
        return true
      }
      case 'trailers': {
        // Without any there is only the second of two line ends.
        const text = this.#rest.subarray(0, 2).equals(Buffer.from('\r\n')) ? this.#upTo('\r\n') : this.#upTo(kHeadEnd)
        if (text === null) return false
        this.#end(fieldsOf(text === '' ? [] : text.split('\r\n')))
        return true
      }
    }
  }

  /** @param {string} text */
  #begin (text) {
    const [line, ...lines] = text.split('\r\n')
    const [method, target] = line.split(' ')
    const fields = fieldsOf(lines)
    const isChunked = /chunked/i.test(fields['transfer-encoding'] ?? '')
    this.#left = isChunked ? 0 : Number(fields['content-length'] ?? 0)
    this.#state = method === 'CONNECT' ? 'raw' : isChunked ? 'chunk' : 'length'
    if (method === 'CONNECT') this.#left = Infinity
    this.#to.head({ method, target, fields, hasBody: isChunked || this.#left > 0 })
    if (this.#left === 0 && !isChunked) this.#end(null)
  }

  /** @param {any} trailers null = there was no body */
  #end (trailers) {
    this.#state = 'head'
    this.#to.end(trailers)
  }
}

/** @param {string[]} lines @returns {Record<string, any>} several of a name as a list */
function fieldsOf (lines) {
  /** @type {Record<string, any>} */
  const fields = Object.create(null)
  for (const line of lines) {
    const at = line.indexOf(':')
    const name = line.slice(0, at).toLowerCase()
    const value = line.slice(at + 1).trim()
    fields[name] = name in fields ? [fields[name], value].flat() : value
  }
  return fields
}

/** @param {number} status @param {string[]} raw names and values @param {string[]} more lines @returns {Buffer} */
function headText (status, raw, more) {
  const lines = [`HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? 'unknown'}`]
  for (let i = 0; i < raw.length; i += 2) if (!raw[i].startsWith(':')) lines.push(`${raw[i]}: ${raw[i + 1]}`)
  return Buffer.from([...lines, ...more].join('\r\n') + kHeadEnd, 'latin1')
}

class Http2Socket extends net.Socket {
  /** @type {http2.ClientHttp2Session} */
  #session
  /** @type {net.Socket} */
  #wire
  /** The one that is under way. @type {http2.ClientHttp2Stream | null} */
  #stream = null
  /** Whose request is: an answer may come before its end. @type {http2.ClientHttp2Stream | null} */
  #sending = null
  #reader = new RequestReader({
    head: (head) => this.#open(head),
    body: (piece, done) => {
      if (this.#sending === null || !this.#sending.writable) return done()
      this.#sending.write(piece, () => done())
    },
    end: (trailers) => this.#endRequest(trailers)
  })

  /** @type {http2.OutgoingHttpHeaders} */
  #trailers = {}

  /** @param {net.NetConnectOpts & { host?: string, port?: number }} options of net.connect */
  constructor (options) {
    super()
    this.connecting = true
    this.#wire = net.connect(/** @type {any} */ ({ ...options, timeout: undefined }))
    this.#session = http2.connect(`http://${options.host ?? 'localhost'}:${options.port}`, { createConnection: () => this.#wire })
    for (const name of kAddresses) Object.defineProperty(this, name, { get: () => this.#wire[name], configurable: true })
    this.#wire.once('connect', () => {
      this.connecting = false
      this.emit('connect')
      this.emit('ready')
    })
    this.#wire.once('lookup', (...args) => this.emit('lookup', ...args))
    this.#session.on('error', (error) => this.destroy(error))
    this.#session.on('close', () => {
      if (this.#stream === null) this.#hangUp()
    })
    if (options.timeout) this.setTimeout(options.timeout)
  }

  address () { return this.#wire.address() }

  ref () {
    this.#session?.ref()
    return super.ref()
  }

  unref () {
    this.#session?.unref()
    return super.unref()
  }

  _read () { this.#stream?.resume() }

  /** @param {Buffer} chunk @param {BufferEncoding} encoding @param {(error?: Error | null) => void} done */
  _write (chunk, encoding, done) {
    this.#restartTimer()
    this.#reader.read(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk, done)
  }

  /** @param {{ chunk: Buffer, encoding: BufferEncoding }[]} chunks @param {(error?: Error | null) => void} done */
  _writev (chunks, done) {
    this._write(Buffer.concat(chunks.map(({ chunk, encoding }) => typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk)), 'latin1', done)
  }

  /** @param {(error?: Error | null) => void} done */
  _final (done) {
    // A tunnel's end; otherwise whoever ends a connection wants no more of it.
    if (this.#stream?.writable) this.#stream.end()
    else if (this.#stream === null) this.#session.close()
    done()
  }

  /** @param {Error | null} error @param {(error?: Error | null) => void} done */
  _destroy (error, done) {
    this.#stream?.close(http2.constants.NGHTTP2_CANCEL)
    this.#session.destroy()
    super._destroy(error, done)
  }

  // That of setTimeout().
  #restartTimer () {
    const self = /** @type {any} */ (this)
    self._unrefTimer()
  }

  /** Nothing more will be read. */
  #hangUp () {
    if (!this.destroyed && !this.readableEnded) this.push(null)
  }

  /** @param {{ method: string, target: string, fields: Record<string, any>, hasBody: boolean }} request */
  #open ({ method, target, fields, hasBody }) {
    const isConnect = method === 'CONNECT'
    const absolute = /^(https?):\/\/([^/?]*)(.*)$/.exec(target)
    /** @type {any} */
    const headers = { ':method': method, ':authority': isConnect ? target : absolute?.[2] ?? fields.host }
    if (!isConnect) Object.assign(headers, { ':scheme': absolute?.[1] ?? 'http', ':path': absolute === null ? target : absolute[3] || '/' })
    for (const [name, value] of Object.entries(fields)) if (!kOfConnection.has(name)) headers[name] = value
    const isLast = /close/i.test(fields.connection ?? '')
    this.#trailers = {}
    const stream = this.#stream = this.#sending = this.#session.request(headers, { endStream: !hasBody && !isConnect, waitForTrailers: hasBody })
    stream.on('wantTrailers', () => stream.sendTrailers(this.#trailers))
    stream.on('headers', (/** @type {any} */ info, /** @type {number} */ _flags, /** @type {any} */ raw) => this.push(headText(Number(info[':status']), raw, [])))
    stream.on('response', (/** @type {any} */ got, /** @type {number} */ _flags, /** @type {any} */ raw) => {
      const status = Number(got[':status'])
      const isTunnel = isConnect && status < 300
      const isBare = method === 'HEAD' || status === 204 || status === 304 || isTunnel
      const isChunked = !isBare && got['content-length'] === undefined
      this.push(headText(status, raw, isChunked ? ['transfer-encoding: chunked'] : []))
      this.#readBody(stream, isChunked, isLast)
    })
    stream.on('error', () => {})
    // Reset, or ended without an answer.
    stream.on('close', () => {
      if (this.#stream === stream) this.#hangUp()
    })
  }

  /** @param {http2.ClientHttp2Stream} stream @param {boolean} isChunked @param {boolean} isLast */
  #readBody (stream, isChunked, isLast) {
    /** @type {[string, string][]} */
    let trailers = []
    stream.on('trailers', (got) => { trailers = Object.entries(got).map(([name, value]) => [name, String(value)]) })
    stream.on('data', (/** @type {Buffer} */ piece) => {
      this.#restartTimer()
      const text = isChunked ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]) : piece
      if (!this.push(text)) stream.pause()
    })
    stream.on('end', () => {
      if (stream.rstCode !== http2.constants.NGHTTP2_NO_ERROR || this.destroyed) return
      this.#stream = null
      if (isChunked) this.push(`0\r\n${trailers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
      if (!isLast) return
      this.#session.close()
      this.#hangUp()
    })
  }

  /** @param {any} trailers null = there was no body */
  #endRequest (trailers) {
    if (trailers === null) return
    this.#trailers = trailers
    this.#sending?.end()
  }
}

module.exports = { Http2Socket }
