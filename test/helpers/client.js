'use strict'

// The other side of the wire for tests about servers: listening, Node's own client, plain sockets.

const nodeHttp = require('node:http')
const net = require('node:net')
const { once } = require('node:events')

/**
 * Listens (by default on a free port of 127.0.0.1) and resolves to the port.
 *
 * @param {any} server
 * @param {...any} args those of server.listen()
 * @returns {Promise<number>}
 */
async function listen (server, ...args) {
  server.listen(...(args.length === 0 ? [0, '127.0.0.1'] : args))
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' ? address.port : 0
}

/**
 * Ends a server with all its connections.
 *
 * @param {any} server
 */
async function stop (server) {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

/**
 * A server that listens while a test runs.
 *
 * @param {import('node:test').TestContext} t
 * @param {any} server
 * @param {...any} args those of server.listen()
 * @returns {Promise<number>} the port
 */
async function serve (t, server, ...args) {
  t.after(() => stop(server))
  return listen(server, ...args)
}

/**
 * One request with Node's client; without an agent it has a connection of its own.
 *
 * @param {number | import('node:http').RequestOptions} where port or options
 * @param {string | Buffer} [body]
 * @returns {Promise<{ status: number, headers: import('node:http').IncomingHttpHeaders, body: string, localPort: number }>}
 */
function request (where, body) {
  const options = typeof where === 'number' ? { port: where } : where
  return new Promise((resolve, reject) => {
    const req = nodeHttp.request({ host: '127.0.0.1', agent: false, ...options }, (res) => {
      const { localPort = 0 } = res.socket
      let text = ''
      res.setEncoding('latin1')
      res.on('data', (piece) => { text += piece })
      res.on('error', reject)
      res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: text, localPort }))
    })
    req.on('error', reject)
    req.end(body)
  })
}

/**
 * Counts how often a text has something in it, each time that the text has grown. A long text that comes in many pieces
 * is read once, not once a piece.
 *
 * @param {string} wanted
 * @returns {(text: string) => number}
 */
function counter (wanted) {
  let found = 0
  let from = 0
  return (text) => {
    for (let at = text.indexOf(wanted, from); at !== -1; at = text.indexOf(wanted, from)) {
      found++
      from = at + wanted.length
    }
    from = Math.max(from, text.length - wanted.length + 1)
    return found
  }
}

/**
 * A plain connection that keeps what arrives.
 */
class Wire {
  /** @param {net.NetConnectOpts} options */
  constructor (options) {
    this.text = ''
    this.ended = false
    this.closed = false
    /** @type {Error | null} */
    this.error = null
    this.socket = net.connect({ noDelay: true, ...options })
    this.socket.on('data', (piece) => { this.text += piece.toString('latin1') })
    this.socket.on('end', () => { this.ended = true })
    this.socket.on('error', (error) => { this.error = error })
    this.socket.on('close', () => { this.closed = true })
  }

  /** @param {string | Buffer} bytes */
  write (bytes) {
    this.socket.write(bytes, 'latin1')
    return this
  }

  /**
   * Waits for text; fails when the connection closes first.
   *
   * @param {string | RegExp} wanted
   * @param {number} [times] how often it must be there
   * @returns {Promise<string>} everything received
   */
  async until (wanted, times = 1) {
    const count = typeof wanted === 'string' ? counter(wanted) : (/** @type {string} */ text) => (text.match(new RegExp(wanted, 'g')) ?? []).length
    while (count(this.text) < times) {
      if (this.closed) throw new Error(`closed before ${wanted} (${times}): ${JSON.stringify(this.text.slice(-2000))}`)
      await this.#change()
    }
    return this.text
  }

  /** Resolves when something arrived or the connection closed. */
  #change () {
    return new Promise((resolve) => {
      const done = () => {
        this.socket.off('data', done).off('close', done)
        resolve(null)
      }
      this.socket.on('data', done).on('close', done)
    })
  }

  /** @returns {Promise<string>} everything received, once the connection is closed */
  async untilClosed () {
    if (!this.closed) await new Promise((resolve) => this.socket.once('close', resolve))
    return this.text
  }

  destroy () {
    this.socket.destroy()
  }
}

/**
 * A connected Wire that ends with the test.
 *
 * @param {import('node:test').TestContext} t
 * @param {number | net.NetConnectOpts} where
 */
async function dial (t, where) {
  const wire = new Wire(typeof where === 'number' ? { port: where, host: '127.0.0.1' } : where)
  t.after(() => wire.destroy())
  await once(wire.socket, 'connect')
  return wire
}

/** @param {string} [path] @returns {string} the bytes of a GET request */
function get (path = '/') {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
}

module.exports = { Wire, dial, get, listen, request, serve, stop }
