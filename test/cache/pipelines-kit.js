'use strict'

// Clients that keep connections busy with pipelined requests, and look at each answer.

const net = require('node:net')
const { Buffer } = require('node:buffer')

const kHeadEnd = Buffer.from('\r\n\r\n')

/** @typedef {{ target: string, headers?: string }} Request */
/** @typedef {{ request: Request, status: number, head: string, body: string }} Answer */

/** A connection that sends some requests at a time, and the next ones when all of them are answered. */
class Pipeline {
  #kept = Buffer.alloc(0)
  /** @type {Request[]} */
  #due = []
  #onAnswer
  /** @type {{ resolve: (isAlive: boolean) => void, reject: (error: unknown) => void } | null} */
  #waiting = null
  #isOver = false

  /** @param {number} port @param {(answer: Answer) => void} onAnswer of each; what it throws is that of send() */
  constructor (port, onAnswer) {
    this.#onAnswer = onAnswer
    this.socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
    this.socket.on('data', (piece) => this.#take(piece))
    this.socket.on('error', () => {})
    this.socket.on('close', () => this.#end())
  }

  /** @param {Buffer} piece */
  #take (piece) {
    this.#kept = this.#kept.length === 0 ? piece : Buffer.concat([this.#kept, piece])
    try {
      let at = 0
      for (;;) {
        const end = this.#kept.indexOf(kHeadEnd, at)
        if (end === -1) break
        const head = this.#kept.latin1Slice(at, end)
        const total = end + kHeadEnd.length + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? NaN)
        if (Number.isNaN(total)) throw new Error(`an answer without a length: ${head}`)
        if (this.#kept.length < total) break
        const request = this.#due.shift()
        if (request === undefined) throw new Error(`an answer without a request: ${head}`)
        this.#onAnswer({ request, status: Number(head.slice(9, 12)), head, body: this.#kept.latin1Slice(end + kHeadEnd.length, total) })
        at = total
      }
      this.#kept = this.#kept.subarray(at)
    } catch (error) {
      this.#waiting?.reject(error)
      this.socket.destroy()
      return
    }
    if (this.#due.length === 0) this.#waiting?.resolve(true)
  }

  #end () {
    this.#isOver = true
    this.#waiting?.resolve(false)
  }

  /** @param {Request[]} requests @returns {Promise<boolean>} true when all are answered, false when the connection has ended before */
  send (requests) {
    if (this.#isOver) return Promise.resolve(false)
    this.#due = [...requests]
    const answered = new Promise((resolve, reject) => { this.#waiting = { resolve, reject } })
    this.socket.write(requests.map(({ target, headers = '' }) => `GET ${target} HTTP/1.1\r\nHost: shared.test\r\n${headers}\r\n`).join(''))
    return answered
  }

  destroy () {
    this.socket.destroy()
  }
}

module.exports = { Pipeline }
