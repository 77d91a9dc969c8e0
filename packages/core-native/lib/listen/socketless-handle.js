'use strict'

// A server's handle without a socket of its own: whoever has the port's is no member of it, and the members that it gives
// connections pass them on. When that ends nobody accepts, so it looks for a socket all the while.

const net = require('node:net')
const { clearInterval, setInterval } = require('node:timers')
const { kBegin } = require('../http/symbols')
const { systemErrorText } = require('../base/system-error')

// Nobody tells that somebody else has closed a socket. An attempt is four calls of the kernel.
const kLookMs = 200
// How long to wait after the processes that passed connections on have gone: their primary closes its socket at once.
const kLooksBeforeWarning = 25

class SocketlessHandle {
  #address
  #port
  #look
  #looks = 0
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /**
   * @param {string} address
   * @param {number} port
   * @param {() => number} look for a socket: a negative errno when there is none, and nobody who passes connections on
   */
  constructor (address, port, look) {
    this.#address = address
    this.#port = port
    this.#look = look
  }

  [kBegin] () {
    this.#timer = setInterval(() => {
      const failed = this.#look()
      if (failed === 0) this.#looks = 0
      else if (++this.#looks === kLooksBeforeWarning) this.#warn(failed)
    }, kLookMs).unref()
  }

  /** @param {number} errno */
  #warn (errno) {
    const { family } = this.#sockname()
    const where = family === 'IPv6' ? `[${this.#address}]:${this.#port}` : `${this.#address}:${this.#port}`
    process.emitWarning(`Nobody passes connections to ${where} on to this process any more, and it cannot listen there itself: ` +
      `${systemErrorText(errno)}. End the program that has the port, or this one`, { code: 'HTTPSYS_SOCKET_MISSING' })
  }

  #sockname () {
    return { address: this.#address, family: net.isIPv6(this.#address) ? 'IPv6' : 'IPv4', port: this.#port }
  }

  /** @param {object} out */
  getsockname (out) {
    Object.assign(out, this.#sockname())
    return 0
  }

  close () {
    clearInterval(this.#timer)
  }
}

module.exports = { SocketlessHandle }
