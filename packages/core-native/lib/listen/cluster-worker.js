'use strict'

// listen(port) in a worker of node:cluster. The worker asks its primary first, as on Node, and shares the port with other
// processes if the primary grants it or other members have it: docs/port-sharing.md.

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster'))) // Cast as in node-internals.js.
const fs = require('node:fs')
const os = require('node:os')
const { setImmediate } = require('node:timers')
const { bindError } = require('./listen-error')
const { addressOf, theEngine } = require('./listener')
const { servers } = require('../http/connection')
const { dropHandle, hasSocket, joinPort, openHandle, takeConnection, takeConnections, withPort } = require('./endpoints')
const { queryPrimary } = require('../node-private/node-internals')
const { hasHandle } = require('../node-private/server')
const { kOurs, meet, warnOfStranger } = require('./port-name')
const { register } = require('./registrations')
const { kBegin, kListener } = require('../http/symbols')

/** @import { Done, Opened, Plan } from './endpoints' */
/** @import { BoundHandle, ListenServer } from '../../types/internal' */
/** @import { PrimaryQuery as Query } from '../../types/node-internals' */
/** @import { Listener } from './listener' */

const kErrnoEADDRINUSE = -os.constants.errno.EADDRINUSE
const kErrnoEINVAL = -os.constants.errno.EINVAL
const kPortMax = 65535
/** Value of `cmd` by which Node's primary recognizes internal messages of a worker. */
const kClusterMessage = 'NODE_CLUSTER'

/** Converts a value as Node's own toNumber() does. @param {unknown} value @returns {number | false} */
function toNumber (value) {
  const number = Number(value)
  return number >= 0 ? number : false
}

/**
 * Adds `exclusive: true` to the arguments of listen(), so that Node does not ask the primary but calls _listen2(), where we ask it.
 *
 * @param {unknown[]} args
 * @returns {unknown[] | null} null: not a worker, or a form of listen() that is left to Node
 */
function argsOfWorker (args) {
  if (!cluster.isWorker) return null
  const [first] = args
  if (typeof first === 'object' && first !== null) {
    const { fd, port, exclusive, ipv6Only, reusePort } = /** @type {Record<string, unknown>} */ (first)
    const isElsewhere = hasHandle(first) || (typeof fd === 'number' && fd >= 0)
    if (isElsewhere || !('port' in first) || exclusive || ipv6Only || reusePort) return null
    if (port !== undefined && port !== null && typeof port !== 'number' && typeof port !== 'string') return null
    // The new options inherit from the given ones, because Node also reads inherited options.
    return [Object.assign(Object.create(first), { exclusive: true }), ...args.slice(1)]
  }
  const isAny = first === undefined || first === null || typeof first === 'function'
  if (!isAny && typeof first !== 'number' && (typeof first !== 'string' || toNumber(first) === false)) return null
  const callback = args.at(-1)
  const options = {
    port: isAny ? 0 : first,
    ...(typeof args[1] === 'string' && { host: args[1] }),
    backlog: toNumber(args.length > 1 && args[1]) || toNumber(args.length > 2 && args[2]) || undefined,
    exclusive: true
  }
  return typeof callback === 'function' ? [options, callback] : [options]
}

/**
 * Checks a primary's answer to listen(port). The answer is not trusted: it may have any form.
 *
 * @param {unknown} status @param {unknown} handle @param {number} bound the handle's port, unchecked @param {number} port that was asked for, or 0
 * @returns {number} a negative errno, or 0 if `bound` is a port to listen on
 */
function errnoOf (status, handle, bound, port) {
  const asked = /** @type {Partial<BoundHandle> | null | undefined} */ (handle)
  const errno = /** @type {number | undefined} */ (status || asked?.getsockname?.({}))
  if (errno) return Number.isSafeInteger(errno) && errno < 0 ? errno : kErrnoEINVAL
  // If the address is in use, bind() may succeed with another port; the error would come in listen(2), or never.
  if (port > 0 && Number.isInteger(bound) && bound !== port) return kErrnoEADDRINUSE
  return bound > 0 && bound <= kPortMax && Number.isInteger(bound) ? 0 : kErrnoEINVAL
}

/** @param {ListenServer} server @param {Plan} plan listen(port) @param {Query} query @param {Done} done */
function openAsWorker (server, plan, query, done) {
  const { port } = query
  const { opening } = server[kListener]
  const inUse = () => bindError(kErrnoEADDRINUSE, query.address, port)
  const ask = /** @type {NonNullable<typeof queryPrimary>} */ (queryPrimary)
  Reflect.apply(ask, cluster, [server, query, (/** @type {unknown} */ status, /** @type {unknown} */ handle) => {
    if (server[kListener].opening !== opening) { // close(), or another listen(), came first.
      dropHandle(handle)
      return
    }
    const bound = /** @type {number} */ (handle ? addressOf(/** @type {BoundHandle} */ (handle)).port : undefined)
    const errno = errnoOf(status, handle, bound, port)
    if (errno !== 0) {
      const settled = (/** @type {Error | null} */ error, /** @type {Opened[]} */ opened) => {
        done(error, opened)
        // Drop the handle after 'listening': without it Node would not report that event to the primary.
        setImmediate(dropHandle, handle)
      }
      if (errno === kErrnoEADDRINUSE) return joinOthers(server, plan, query, inUse, settled)
      return settled(bindError(errno, query.address, port), [])
    }
    const kind = hasSocket(handle) ? takeShared : takeFed
    // errnoOf() found the port of the handle.
    kind(server, { ...withPort(plan, bound), port: bound, inUse }, /** @type {BoundHandle} */ (handle), done)
  }])
}

/** @typedef {Plan & { port: number, inUse: () => Error }} Wanted */

// Joins a port that the primary found in use, if the process that uses it is a member.
/** @param {ListenServer} server @param {Plan} plan @param {Query} query @param {() => Error} inUse @param {Done} done */
function joinOthers (server, plan, { port, backlog = 0 }, inUse, done) {
  const listener = server[kListener]
  const { native } = listener.open()
  let meeting
  try {
    meeting = meet(listener, { ...plan, port })
  } catch (error) {
    return done(/** @type {Error} */ (error), [])
  }
  // kOurs: no member has the port. A negative errno: members cannot meet. Both mean that the port is in use.
  if (meeting.found <= kOurs) {
    if (meeting.found === kOurs) native.leave(port)
    return done(inUse(), [])
  }
  // Use another queue than workers that got the port from the primary: as on Node, the port is then in use for this worker. A queue that the
  // application has named is shared with these workers.
  const { queueName, isImplied } = listener.sharing
  joinPort(server, { ...plan, port, inUse, ...(isImplied && { queueName: `${queueName}, joined` }) }, backlog, (error, opened) => {
    if (error === null) endWithPrimary(listener)
    done(error, opened)
  })
}

// Takes a handle whose connections the primary accepts and sends. They are held until kBegin, because their owner is known only
// after the port's members have registered this server.
/** @param {ListenServer} server @param {Wanted} wanted @param {BoundHandle} handle of Node's, without a descriptor @param {Done} done */
function takeFed (server, wanted, handle, done) {
  const listener = server[kListener]
  /** @type {[status: number, client: unknown][] | null} */
  let held = []
  takeConnections(listener, handle, (status, client) => {
    if (held === null) takeConnection(listener, status, client)
    else held.push([status, client])
  })
  handle[kBegin] = () => {
    const waiting = held ?? []
    held = null
    for (const [status, client] of waiting) takeConnection(listener, status, client)
  }
  // The engine keeps the process alive, as for all other sockets.
  handle.unref()
  const { close } = handle
  handle.close = (/** @type {unknown} */ closed) => {
    for (const [, client] of held?.splice(0) ?? []) /** @type {BoundHandle | undefined} */ (client)?.close()
    close.call(handle)
    disconnected(listener, closed)
    // Node's close() of such a handle never calls back, but a disconnecting worker waits for this callback.
    if (typeof closed === 'function') closed()
  }
  join(server, { ...wanted, isFed: true }, handle, (sockets) => {
    for (const fd of sockets) fs.closeSync(fd)
    return true
  }, done)
}

// Takes a handle with a socket on which all workers accept (cluster.SCHED_NONE).
/** @param {ListenServer} server @param {Wanted} wanted @param {BoundHandle} handle @param {Done} done */
function takeShared (server, wanted, handle, done) {
  const { close } = handle
  handle.close = (/** @type {[closed?: () => void]} */ ...args) => {
    disconnected(server[kListener], args[0])
    return close.apply(handle, args)
  }
  const { address } = addressOf(handle)
  // If another worker has contributed this socket to the port, the engine accepts on it already.
  join(server, wanted, handle, (sockets) => sockets.some((fd) => {
    const other = openHandle(fd)
    if (typeof other === 'number') return false
    const isSame = addressOf(other).address === address
    other.close()
    return isSame
  }), done)
}

// Must be called when a handle is closed. If worker.disconnect() has closed it (only that passes a callback to close()), ends the listen()
// that is under way: worker.disconnect() does not close the server itself.
/** @param {Listener} listener @param {unknown} closed the argument of close() */
function disconnected (listener, closed) {
  if (typeof closed === 'function') listener.stopOpening()
}

/**
 * @param {ListenServer} server
 * @param {Wanted & { isFed?: boolean }} wanted
 * @param {BoundHandle} handle
 * @param {(sockets: number[]) => boolean} isShared owns the descriptors; returns whether another member accepts, so that the engine need not
 * @param {Done} done
 */
function join (server, wanted, handle, isShared, done) {
  const listener = server[kListener]
  const [endpoint] = wanted.endpoints
  const opened = (/** @type {number[]} */ sockets) =>
    [{ endpoint, handle, isShared: isShared(sockets), isForeign: true }]
  let meeting
  try {
    meeting = meet(listener, wanted)
  } catch (error) {
    handle.close()
    return done(/** @type {Error} */ (error), [])
  }
  const { found, stranger } = meeting
  // A negative errno: processes cannot meet on this system, so the port is not shared.
  if (found < 0) return done(null, opened([]))
  // On a machine without IPv6 the wildcard address is 0.0.0.0.
  const host = endpoint.host ?? (addressOf(handle).address === '0.0.0.0' ? '0.0.0.0' : undefined)
  register(listener, { ...wanted, endpoints: [{ ...endpoint, host }] }, (error, sockets) => {
    if (error === null && stranger !== null) warnOfStranger(wanted.port, stranger)
    if (error === null) return done(null, opened(sockets))
    handle.close()
    theEngine().native.leave(wanted.port)
    done(error, [])
  })
}

/**
 * Reports a server on prefixes to the cluster's primary, which has no part in its listening. A program written for node:http expects that:
 * its primary waits for 'listening', and worker.disconnect() closes the server.
 *
 * @param {ListenServer} server that listens
 */
function appearToPrimary (server) {
  endWithPrimary(server[kListener])
  const { address, family, port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const isEverywhere = address === '::' || address === '0.0.0.0'
  if (!process.connected) return
  process.send?.({
    cmd: kClusterMessage,
    act: 'listening',
    address: isEverywhere ? null : address,
    addressType: family === 'IPv6' && !isEverywhere ? 6 : 4,
    port
  })
}

// Closes a server on the worker's 'disconnect': worker.disconnect() itself closes only handles that came from the primary.
/** @param {Listener} listener */
function endWithPrimary (listener) {
  listener.endsWithPrimary = true
  const worker = /** @type {import('node:cluster').Worker} */ (cluster.worker)
  if (!worker.listeners('disconnect').includes(onDisconnect)) worker.on('disconnect', onDisconnect)
}

function onDisconnect () {
  for (const server of servers.values()) {
    if (/** @type {Listener} */ (server[kListener]).endsWithPrimary && server.listening) server.close()
  }
}

module.exports = { appearToPrimary, argsOfWorker, openAsWorker }
