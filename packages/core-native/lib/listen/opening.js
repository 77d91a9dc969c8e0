'use strict'

// Implements server._listen2(), which Node's listen() calls after it has sorted its arguments and looked up the host: opens the sockets
// or URLs on which the server listens.

const net = require('node:net')
const { clearInterval, setImmediate, setInterval } = require('node:timers')
const { loadBinding } = require('../backend/binding')
const { listenAgain } = require('../http/closing')
const { kListener } = require('../http/symbols')
const { createServerHandle } = require('../node-private/node-internals')
const { nodeProcess } = require('../node-private/node-process')
const { checkingIntervalOf, handleOf, setHandle } = require('../node-private/server')
const { appearToPrimary, openAsWorker } = require('./cluster-worker')
const { emitError, listenBeside, openAll, takeHandle } = require('./endpoints')
const { impliedBy, isAnyPort, planForPort, refusalOf } = require('./implied-prefix')
const { listenError, raisedAt } = require('./listen-error')
const { addressOf, theEngine } = require('./listener')
const { watch: watchReservations } = require('./live-reservations')
const { isServedByNode } = require('./served-by-node')
const { openUrls } = require('./url-endpoints')

/** @import { ListenServer } from '../../types/internal' */
/** @import { ListenHandle, PrimaryQuery } from '../../types/node-internals' */
/** @import { Opened, Plan } from './endpoints' */

/**
 * @typedef {object} Bound the arguments of server._listen2()
 * @property {string | null} address
 * @property {number | null} port
 * @property {number | null} addressType
 * @property {number} backlog
 * @property {number} [fd]
 * @property {number} [flags]
 */

/** One call of server._listen2(). Errors are emitted on the server later, with the stack of listen(). */
class Opening {
  /** @param {ListenServer} server @param {Bound} bound @param {(bound: Bound) => void} listenAsNode Node's own _listen2(), on the server's handle if there is one */
  constructor (server, bound, listenAsNode) {
    this.server = server
    this.listener = server[kListener]
    this.bound = bound
    this.listenAsNode = listenAsNode
    this.origin = this.listener.origin
    this.listener.origin = null
    /** Error found before anything was opened. */
    this.failure = this.listener.failure
    /** True until run() returns; false when answers of other processes arrive later. */
    this.isWithinListen = true
    this.listener.failure = null
  }

  run () {
    this.open()
    this.isWithinListen = false
  }

  open () {
    const { addressType, fd } = this.bound
    if (this.failure !== null) return this.refuse(this.failure)
    if (isServedByNode(this.server)) return this.listen()
    const isPort = typeof fd !== 'number' && addressType !== -1
    // The server listens on a pipe, on a socket that another program has bound, or on a handle of a cluster's primary.
    if (handleOf(this.server) || !isPort) return this.onForeignHandle()
    const plan = this.listener.plan ?? planForPort(
      this.server, this.bound.address, /** @type {number} */ (this.bound.port), this.bound.flags)
    const refusal = refusalOf(plan, this.listener.sharing)
    if (refusal !== null) return this.refuse(refusal)
    if (loadBinding().capabilities.listensOnSockets) this.onSockets(plan)
    else this.onUrls(plan)
  }

  /** @param {unknown} error */
  fail (error) {
    const failure = raisedAt(/** @type {Error} */ (error), this.origin)
    if (this.isWithinListen) nodeProcess.nextTick(emitError, this.server, failure)
    // In a callback of the addon, emit later: Node prints the source line of an uncaught error only if it called JavaScript itself.
    else setImmediate(emitError, this.server, failure)
  }

  /** @param {unknown} error of a listen() that has opened nothing */
  refuse (error) {
    // A handle here came from a cluster's primary.
    handleOf(this.server)?.close()
    setHandle(this.server, null)
    this.fail(error)
    this.listener.listenFailed()
  }

  /** @param {() => void} [take] makes the server's handle the engine's @param {() => void} [beside] listens on further sockets */
  listen (take, beside) {
    const { server } = this
    listenAgain(server, () => {
      take?.()
      this.listenAsNode(this.bound)
      if (!handleOf(server) || beside === undefined) return
      try {
        beside()
      } catch (error) {
        handleOf(server)?.close()
        setHandle(server, null)
        throw error
      }
    })
  }

  onForeignHandle () {
    const { server, bound: { address, port, addressType, fd, flags } } = this
    if (!loadBinding().capabilities.listensOnSockets) return this.listen()
    if (!handleOf(server)) {
      const handle = createServerHandle(address, port, addressType, fd, flags)
      if (typeof handle === 'number') return this.fail(listenError(handle, /** @type {string} */ (address), /** @type {number} */ (port)))
      setHandle(server, handle)
    }
    this.listen(() => takeHandle(server, /** @type {ListenHandle} */ (handleOf(server)), { isForeign: true }))
    if (handleOf(server)) startChecking(server)
  }

  /** Listens with HTTP.SYS, which takes URLs, not sockets. @param {Plan} plan */
  onUrls (plan) {
    try {
      this.listen(() => setHandle(this.server, openUrls(this.server, plan)))
    } catch (error) {
      this.fail(error)
    }
  }

  /** @param {Plan} plan */
  onSockets (plan) {
    const { bound, listener, server } = this
    const opening = listener.opening = {}
    const onOpened = (/** @type {Error | null} */ error, /** @type {Opened[]} */ opened) => {
      if (listener.opening !== opening) { // close() or another listen() came before the answer of other processes.
        for (const { handle } of opened) handle.close()
        return
      }
      if (error === null) return this.listenOn(plan, opened)
      listener.opening = null
      this.refuse(error)
    }
    if (listener.asksPrimary) openAsWorker(server, plan, /** @type {PrimaryQuery} */ (bound), onOpened)
    else openAll(server, plan, bound.backlog, onOpened)
  }

  /** @param {Plan} plan @param {Opened[]} opened for its endpoints */
  listenOn (plan, [own, ...others]) {
    const { bound, listener, server } = this
    const { handle } = own
    if (plan.isPlain) listener.prefixes.implied = impliedBy(plan, handle)
    if (listener.ports.size > 0 && !isAnyPort(plan)) watchReservations(listener)
    // `opening` is cleared here and no earlier: while it is null, configure() treats a server that was closed before as still closed.
    listener.opening = null
    setHandle(server, handle)
    if (!bound.address && !listener.asksPrimary) {
      // listen(2) may still find the address in use; the error then names the bound address, as on Node.
      const address = addressOf(handle).address ?? '::'
      this.bound = { ...bound, address, addressType: net.isIPv6(address) ? 6 : 4 }
    }
    try {
      this.listen(() => takeHandle(server, handle, own), () => listenBeside(server, others, bound.backlog))
      if (!handleOf(server)) return
      // Release requests that have waited for this server; they arrive after 'listening', which Node emits in the next tick.
      listener.configure()
      startChecking(server)
      if (plan.isKnownToPrimary) appearToPrimary(server)
    } catch (error) {
      this.fail(error)
    }
  }
}

/** Starts the interval that enforces headersTimeout and requestTimeout, as Node does. @param {ListenServer} server */
function startChecking (server) {
  const listener = server[kListener]
  clearInterval(listener.checker)
  if (listener.id === 0) return
  // Look in the next tick, because most applications set keepAliveTimeout after listen().
  nodeProcess.nextTick(() => listener.lookAtIdleTime())
  listener.checker = setInterval(() => {
    listener.lookAtIdleTime()
    let { headersTimeout, requestTimeout } = server
    if (headersTimeout === 0 && requestTimeout === 0) return
    // createServer() refuses headersTimeout > requestTimeout. If the application sets them so later, swap the two, as Node does.
    if (requestTimeout > 0 && headersTimeout > requestTimeout) {
      [headersTimeout, requestTimeout] = [requestTimeout, headersTimeout]
    }
    theEngine().native.checkConnections(listener.id, headersTimeout, requestTimeout)
  }, checkingIntervalOf(server)).unref()
}

module.exports = { Opening }
