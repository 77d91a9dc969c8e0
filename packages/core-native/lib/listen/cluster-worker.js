'use strict'

// listen(port) in a worker of node:cluster. The primary is asked first, as on Node, and whatever it answers, the port
// is shared with other processes: docs/port-sharing.md.

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster'))) // As in node-internals.js.
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

/**
 * @typedef {import('./endpoints').Done} Done
 * @typedef {import('./endpoints').Plan} Plan
 *
 * @typedef {import('../../types/internal').BoundHandle} BoundHandle
 * @typedef {import('../../types/internal').ListenServer} ListenServer
 * @typedef {import('../../types/node-internals').PrimaryQuery} Query
 */

const kErrnoEADDRINUSE = -os.constants.errno.EADDRINUSE
const kErrnoEINVAL = -os.constants.errno.EINVAL
const kPortMax = 65535
/** What Node's primary takes for a message of its own code in the worker. */
const kClusterMessage = 'NODE_CLUSTER'

/** Reads a value that may be a number as Node does. @param {unknown} value @returns {number | false} */
function toNumber (value) {
  const number = Number(value)
  return number >= 0 ? number : false
}

/**
 * The arguments of listen() with which Node leaves the port to _listen2(), where the primary is asked.
 *
 * @param {unknown[]} args
 * @returns {unknown[] | null} null: Node's own way
 */
function argsOfWorker (args) {
  if (!cluster.isWorker) return null
  const [first] = args
  if (typeof first === 'object' && first !== null) {
    const { fd, port, exclusive, ipv6Only, reusePort } = /** @type {Record<string, unknown>} */ (first)
    const isElsewhere = hasHandle(first) || (typeof fd === 'number' && fd >= 0)
    if (isElsewhere || !('port' in first) || exclusive || ipv6Only || reusePort) return null
    if (port !== undefined && port !== null && typeof port !== 'number' && typeof port !== 'string') return null
    // Node finds in these options all that it would find in the given ones, also what those inherit.
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
 * Reads what a primary has answered, 0 for a port. It may have answered anything.
 *
 * @param {unknown} status @param {unknown} handle @param {number} bound its port, or what stands for it @param {number} port that was asked for, or 0
 * @returns {number} an errno
 */
function errnoOf (status, handle, bound, port) {
  const errno = /** @type {number | undefined} */ (status || /** @type {Partial<BoundHandle> | null | undefined} */ (handle)?.getsockname?.({}))
  if (errno) return Number.isSafeInteger(errno) && errno < 0 ? errno : kErrnoEINVAL
  // An address in use may be told as late as in listen(2), or never: the socket is then at another port.
  if (port > 0 && Number.isInteger(bound) && bound !== port) return kErrnoEADDRINUSE
  return bound > 0 && bound <= kPortMax && Number.isInteger(bound) ? 0 : kErrnoEINVAL
}

/**
 * @param {ListenServer} server
 * @param {Plan} plan listen(port)
 * @param {Query} query
 * @param {Done} done
 */
function openAsWorker (server, plan, query, done) {
  const { port } = query
  const { opening } = server[kListener]
  const inUse = () => bindError(kErrnoEADDRINUSE, query.address, port)
  Reflect.apply(/** @type {NonNullable<typeof queryPrimary>} */ (queryPrimary), cluster, [server, query, (/** @type {unknown} */ status, /** @type {unknown} */ handle) => {
    if (server[kListener].opening !== opening) { // close(), or another listen(), came first.
      dropHandle(handle)
      return
    }
    const bound = /** @type {number} */ (handle ? addressOf(/** @type {BoundHandle} */ (handle)).port : undefined)
    const errno = errnoOf(status, handle, bound, port)
    if (errno !== 0) {
      const settled = (/** @type {Error | null} */ error, /** @type {import('./endpoints').Opened[]} */ opened) => {
        done(error, opened)
        // Behind 'listening', of which Node's primary does not hear without it.
        setImmediate(dropHandle, handle)
      }
      if (errno === kErrnoEADDRINUSE) return joinOthers(server, plan, query, inUse, settled)
      return settled(bindError(errno, query.address, port), [])
    }
    const kind = hasSocket(handle) ? takeShared : takeFed
    kind(server, { ...withPort(plan, bound), port: bound, inUse }, /** @type {BoundHandle} */ (handle), done) // It has a port.
  }])
}

/** @typedef {Plan & { port: number, inUse: () => Error }} Wanted */

// Joins the members of a port that is in use, as a process does, if a member of ours has it.
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
  // The port is in use also where the name is another user's.
  if (meeting.found <= kOurs) {
    if (meeting.found === kOurs) native.leave(port)
    return done(inUse(), [])
  }
  // A worker that has the port from the primary is in the way of one that has not, as on Node: they are not one queue,
  // unless the application says so.
  const { queueName, isImplied } = listener.sharing
  joinPort(server, { ...plan, port, inUse, ...(isImplied && { queueName: `${queueName}, joined` }) }, backlog, (error, opened) => {
    if (error === null) endWithPrimary(listener)
    done(error, opened)
  })
}

// The primary accepts, and sends connections from now on. Whose they are is known when the port's members have heard
// of this one.
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
    // Node's own never calls back: it has a server to wait for whenever a worker disconnects.
    if (typeof closed === 'function') closed()
  }
  join(server, { ...wanted, isFed: true }, handle, (sockets) => {
    for (const fd of sockets) fs.closeSync(fd)
    return true
  }, done)
}

// Everybody accepts on it (cluster.SCHED_NONE).
/** @param {ListenServer} server @param {Wanted} wanted @param {BoundHandle} handle @param {Done} done */
function takeShared (server, wanted, handle, done) {
  const { close } = handle
  handle.close = (/** @type {[closed?: () => void]} */ ...args) => {
    disconnected(server[kListener], args[0])
    return close.apply(handle, args)
  }
  const { address } = addressOf(handle)
  // Another worker may have brought it: then the engine accepts on it already.
  join(server, wanted, handle, (sockets) => sockets.some((fd) => {
    const other = openHandle(fd)
    if (typeof other === 'number') return false
    const isSame = addressOf(other).address === address
    other.close()
    return isSame
  }), done)
}

// A worker that disconnects closes its handles; those of a server that does not listen yet by themselves.
/** @param {import('./listener').Listener} listener @param {unknown} closed what close() was given */
function disconnected (listener, closed) {
  if (typeof closed === 'function') listener.stopOpening()
}

/**
 * @param {ListenServer} server
 * @param {Wanted & { isFed?: boolean }} wanted
 * @param {BoundHandle} handle
 * @param {(sockets: number[]) => boolean} isShared whether the engine need not accept on the handle; the descriptors are its
 * @param {Done} done
 */
function join (server, wanted, handle, isShared, done) {
  const listener = server[kListener]
  const [endpoint] = wanted.endpoints
  const opened = (/** @type {number[]} */ sockets) => [{ endpoint, handle, isShared: isShared(sockets), isForeign: true }]
  let meeting
  try {
    meeting = meet(listener, wanted)
  } catch (error) {
    handle.close()
    return done(/** @type {Error} */ (error), [])
  }
  const { found, stranger } = meeting
  // On this system processes cannot meet.
  if (found < 0) return done(null, opened([]))
  // A machine without IPv6.
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
 * Makes a server on prefixes, in which a cluster's primary has no part, one that listens to the primary of a program that knows node:http
 * alone: it waits for 'listening', and worker.disconnect() closes the server.
 *
 * @param {ListenServer} server that listens
 */
function appearToPrimary (server) {
  endWithPrimary(server[kListener])
  const { address, family, port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const isEverywhere = address === '::' || address === '0.0.0.0'
  if (process.connected) process.send?.({ cmd: kClusterMessage, act: 'listening', address: isEverywhere ? null : address, addressType: family === 'IPv6' && !isEverywhere ? 6 : 4, port })
}

// worker.disconnect() closes what the primary knows of. This server it does not know of: it ends when it hears that.
/** @param {import('./listener').Listener} listener */
function endWithPrimary (listener) {
  listener.endsWithPrimary = true
  const worker = /** @type {import('node:cluster').Worker} */ (cluster.worker)
  if (!worker.listeners('disconnect').includes(onDisconnect)) worker.on('disconnect', onDisconnect)
}

function onDisconnect () {
  for (const server of servers.values()) {
    if (/** @type {import('./listener').Listener} */ (server[kListener]).endsWithPrimary && server.listening) server.close()
  }
}

module.exports = { appearToPrimary, argsOfWorker, openAsWorker }
