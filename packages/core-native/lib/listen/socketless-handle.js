'use strict'

// A server's handle without a socket of its own. A program that is no member of the port has the socket (a cluster's primary, say), and
// the members to which it gives connections pass them on. If all of these end, no process accepts, so the handle keeps looking for a socket.

const net = require('node:net')
const { clearInterval, setInterval } = require('node:timers')
const { kBegin } = require('../http/symbols')
const { systemErrorText } = require('../base/system-error')

// Polling interval (ms): there is no event when another process closes its socket. One attempt costs four system calls.
const kLookMs = 200
// Failed attempts before a warning, 5 s in all. When the workers that passed connections on have ended, their primary closes its
// socket at once; one of the next attempts then succeeds.
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
   * @param {() => number} look looks for a socket. Returns a negative errno if there is none and no member passes connections on
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
