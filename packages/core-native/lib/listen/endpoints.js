'use strict'

// Opens and closes the sockets of a server: server._handle, which is Node's handle except for accepting, and further
// sockets for prefixes on other ports and addresses.

const net = require('node:net')
const os = require('node:os')
const { performance } = require('node:perf_hooks')
const { setTimeout } = require('node:timers')
const { PrefixStateError } = require('../base/errors')
const { createServerHandle } = require('../node-private/node-internals')
const { nodeProcess } = require('../node-private/node-process')
const { handleOf, setHandle } = require('../node-private/server')
const { isSameSocket, placeGiven, settleGiven } = require('./given-socket')
const { endpointsOf } = require('./listen-args')
const { addressOf, theEngine } = require('./listener')
const { canDoWithout, kMember, kOurs, kTaken, meet, strangerOf, warnOfStranger } = require('./port-name')
const { register } = require('./registrations')
const { served } = require('../http/served')
const { listenError } = require('./listen-error')
const { systemError } = require('../base/system-error')
const { SocketlessHandle } = require('./socketless-handle')
const { isServedByNode } = require('./served-by-node')
const { kBegin, kGiveToNode, kListener } = require('../http/symbols')

/** @import { BoundHandle, ListenServer } from '../../types/internal' */
/** @import { ListenHandle } from '../../types/node-internals' */
/** @import { Endpoint } from './listen-args' */
/** @import { UrlPrefix } from '../prefixes/url-prefix' */
/** @import { Listener } from './listener' */
/**
 * @typedef {object} Plan
 * @property {Endpoint[]} endpoints
 * @property {{ id: number, port: number, text: string }[]} prefixes for a port without any, the server gets all requests on the port's sockets
 * @property {boolean} isPlain made by listen(port), without prefixes
 * @property {import('../options/stand-in').Mapping} [mapping] the entry of HTTPSYS_LISTEN by which the program's port became prefixes
 * @property {boolean} [isKnownToPrimary] in a worker of node:cluster: the primary must be informed that this mapped server listens
 * @property {number} [fd] a bound socket of one of the ports
 *
 * @typedef {object} Opened
 * @property {Endpoint} endpoint
 * @property {BoundHandle} handle bound; other members of the port may have the socket, too
 * @property {boolean} isShared this server need not accept: another server does, or a program that is no member of the port
 * @property {boolean} [isForeign] bound by another program, which may have given the socket to other programs, too
 * @property {boolean} [hasMore] listen() opens further sockets of the same port after it
 *
 * @typedef {(error: Error | null, opened: Opened[]) => void} Done
 */

const kErrnoEMFILE = -os.constants.errno.EMFILE
const kErrnoENFILE = -os.constants.errno.ENFILE
const kErrnoEADDRINUSE = -os.constants.errno.EADDRINUSE
/** Maximum time (ms) for which a shared port may lack a meeting place, between two coordinators: kElectionMs of limits.h. */
const kElectionMs = 200
const kElectionRetryMs = 5
const kBacklogDefault = 511 // Node's.
// Flags of libuv's bind functions.
const kBindIpv6Only = 1
const kBindReusePort = 2

/**
 * Replaces the methods of a bound libuv handle, so that the engine accepts on its socket. Everything else about it stays Node's.
 *
 * @param {ListenServer} server
 * @param {BoundHandle} handle
 * @param {object} [how]
 * @param {boolean} [how.isShared] as in Opened
 * @param {boolean} [how.isForeign] as in Opened
 * @param {boolean} [how.hasMore] as in Opened
 */
function takeHandle (server, handle, { isShared = false, isForeign = false, hasMore = false } = {}) {
  const listener = server[kListener]
  if (!isShared && !hasSocket(handle)) {
    takeClusterHandle(listener, handle)
    return
  }
  const stock = Object.getOwnPropertyDescriptors(handle)
  const { close } = handle
  let backlog = 0
  let referenced = false
  let isListening = false
  let key = 0
  const own = {
    /** @param {number} wanted */
    listen (wanted) {
      backlog = wanted
      // getsockname() reports an address in use, because uv_tcp_bind() delays that error.
      const delayed = handle.getsockname?.({}) ?? 0
      if (delayed !== 0) return delayed
      key = isShared ? listener.listenShared() : listener.listen(handle, backlog, isForeign)
      if (key < 0) return key
      isListening = true
      if (!isShared) listener.contribute(handle, !hasMore)
      own.ref()
      handle[kBegin]?.()
      return 0
    },
    ref () {
      if (referenced || listener.listening === 0) return
      referenced = true
      theEngine().ref()
    },
    unref () {
      if (!referenced) return
      referenced = false
      theEngine().unref()
    },
    hasRef: () => referenced,
    /** @param {[closed?: () => void]} args */
    close (...args) {
      own.unref()
      if (handleOf(server) === handle || handleOf(server) === null) {
        listener.unlisten()
        for (const { handle } of listener.beside.take()) handle.close()
      } else if (isListening && listener.listening > 0) {
        listener.stopListening(key, handle)
      }
      isListening = false
      return close.apply(handle, args)
    },
    [kGiveToNode] () {
      const isReferenced = referenced
      own.unref()
      listener.unlisten()
      for (const name of Reflect.ownKeys(own)) Reflect.deleteProperty(handle, name)
      for (const name of ['listen', 'ref', 'unref', 'hasRef', 'close']) if (name in stock) Object.defineProperty(handle, name, stock[name])
      if (!isReferenced) handle.unref()
      return handle.listen(backlog)
    }
  }
  Object.assign(handle, own)
}

/**
 * Lets Node accept on the port that a server listens on. The connections that the engine has accepted stay its own.
 *
 * @param {ListenServer} server
 */
function giveToNode (server) {
  const status = /** @type {BoundHandle} */ (handleOf(server))[kGiveToNode]?.() ?? 0
  if (status !== 0) nodeProcess.nextTick(emitError, server, systemError(status, 'listen'))
}

// Takes a cluster worker's handle, to which the primary sends the connections that it accepts: they go to a lane.
/** @param {Listener} listener @param {ListenHandle} handle */
function takeClusterHandle (listener, handle) {
  takeConnections(listener, handle, (status, client) => takeConnection(listener, status, client))
  listener.open()
  served.servers++
}

/**
 * Passes the connections that a primary sends to take(), not to the `onconnection` that Node sets, unless Node's code serves the server.
 *
 * @param {Listener} listener
 * @param {ListenHandle} handle
 * @param {(status: number, client: unknown) => void} take
 */
function takeConnections (listener, handle, take) {
  let stock = take
  const onconnection = (/** @type {number} */ status, /** @type {unknown} */ client) => {
    if (isServedByNode(listener.server)) stock.call(handle, status, client)
    else take(status, client)
  }
  Object.defineProperty(handle, 'onconnection', {
    configurable: true, enumerable: true, get: () => onconnection, set (value) { stock = value }
  })
}

/** @param {Listener} listener @param {number} status @param {unknown} client sent by a primary, unchecked */
function takeConnection (listener, status, client) {
  if (status !== 0) {
    listener.server.emit('error', systemError(status, 'accept'))
    return
  }
  // The primary is not trusted: `client` may be anything.
  if (!hasSocket(client)) return dropHandle(client)
  const failed = listener.open().native.adopt(listener.id, client.fd)
  client.close()
  // Without free descriptors the connection is dropped, as when accepting. No 'error': clients could otherwise end the worker.
  if (failed !== 0 && failed !== kErrnoEMFILE && failed !== kErrnoENFILE) {
    listener.server.emit('error', systemError(failed, 'accept'))
  }
}

/** @param {unknown} handle unchecked @returns {handle is ListenHandle & { fd: number }} */
function hasSocket (handle) {
  const { fd } = /** @type {{ fd?: unknown }} */ (handle ?? {})
  return typeof fd === 'number' && fd >= 0
}

/** Closes whatever a primary has sent in place of a handle; Node may have made a socket or a server of it. @param {unknown} handle */
function dropHandle (handle) {
  // Prefer destroy(): if Node has made a socket of the handle, close() of the socket calls a method that it does not have.
  const given = /** @type {{ destroy?: unknown, close?: unknown } | null | undefined} */ (handle)
  const end = given?.destroy ?? given?.close
  if (typeof end === 'function') end.call(handle)
}

// -- Opening -------------------------------------------------------------------------------------

/**
 * Binds all sockets of a plan and registers its prefixes, sharing ports with other processes. If one port fails, undoes all.
 *
 * @param {ListenServer} server
 * @param {Plan} plan
 * @param {number} backlog
 * @param {Done} done runs before openAll() returns, unless other processes must be asked
 */
function openAll (server, { endpoints, prefixes, isPlain, fd }, backlog, done) {
  if (fd !== undefined) return openGiven(server, { endpoints, prefixes, isPlain, fd }, backlog, done)
  const ports = [...new Set([...endpoints, ...prefixes].map(({ port }) => port))]
  /** @type {Opened[]} */
  const opened = []
  /** @type {number[]} */
  const registered = []
  const next = () => {
    const port = ports.shift()
    if (port === undefined) return done(null, opened)
    const group = {
      port,
      isPlain,
      endpoints: endpoints.filter((endpoint) => endpoint.port === port),
      prefixes: prefixes.filter((prefix) => prefix.port === port).map(({ id, text }) => ({ id, text }))
    }
    openPort(server, group, backlog, (error, more) => {
      opened.push(...more)
      if (error !== null) {
        // Do not close the socket that listen({ fd }) was given: the next listen() may use it.
        for (const { endpoint, handle } of opened) if (handle !== endpoint.given) handle.close()
        server[kListener].unregister(registered, prefixes)
        return done(error, [])
      }
      registered.push(port)
      next()
    })
  }
  next()
}

/** @param {ListenServer} server @param {Plan & { fd: number }} plan @param {number} backlog @param {Done} done */
function openGiven (server, { fd, ...plan }, backlog, done) {
  let placed
  try {
    placed = placeGiven(plan.endpoints, fd)
  } catch (error) {
    return done(/** @type {Error} */ (error), [])
  }
  const { endpoints, port } = placed
  openAll(server, { ...plan, endpoints }, backlog, (error, opened) => {
    if (error === null) {
      settleGiven(fd, opened.map(({ handle }) => handle))
      server[kListener].givenPort = port
    }
    done(error, opened)
  })
}

/**
 * @typedef {object} Group the part of a plan for one port
 * @property {number} port
 * @property {boolean} isPlain
 * @property {Endpoint[]} endpoints
 * @property {{ id: number, text: string }[]} prefixes
 * @property {string} [queueName] replaces the server's queue name
 * @property {boolean} [isMember] if the port is in use, a member that cannot be reached yet may have it
 * @property {() => Error} [inUse] makes Node's error for a port in use
 */

/**
 * @param {ListenServer} server
 * @param {Group} group
 * @param {number} backlog
 * @param {Done} done
 * @param {number} [deadline] end (ms of performance.now()) of the time in which EADDRINUSE leads to another attempt
 */
function openPort (server, group, backlog, done, deadline = performance.now() + kElectionMs) {
  const listener = server[kListener]
  const { native } = listener.open()
  const { endpoints, port, isPlain } = group
  // A server shares no half of a port (ipv6Only), no port whose connections the kernel distributes (reusePort), and no socket of another
  // kind (fd, cluster). For port 0 the system chooses the port first.
  const isAlone = endpoints.some(({ ipv6Only, reusePort }) => ipv6Only || reusePort) ||
    (endpoints.length === 0 && !listener.ports.has(port))
  if (isAlone || port === 0) return openOwn(server, group, isAlone ? null : meet, done)
  let meeting
  try {
    meeting = meet(listener, group)
  } catch (error) {
    return done(/** @type {Error} */ (error), [])
  }
  const { found, stranger } = meeting
  if (found !== kMember && found !== kTaken) {
    // If the port is in use, its coordinator may have just ended, and the other members have no meeting place yet: retry until the
    // deadline. Not for listen(port), whose error must come as early as Node's.
    const isMember = !isPlain && endpoints.every(({ given }) => given === undefined) && performance.now() < deadline
    return openOwn(server, { ...group, isMember }, () => ({ found, stranger }), (error, opened) => {
      if (!isMember || /** @type {NodeJS.ErrnoException | null} */ (error)?.code !== 'EADDRINUSE') return done(error, opened)
      for (const { handle } of opened) handle.close()
      setTimeout(openPort, kElectionRetryMs, server, group, backlog, done, deadline)
    })
  }
  joinPort(server, group, backlog, (error, opened) => {
    const stranger = strangerOf(error)
    const isFree = stranger !== null && canDoWithout(listener, isPlain) && native.takeAlone(port) === 0
    if (!isFree) return done(error, opened)
    openOwn(server, group, () => ({ found: kOurs, stranger }), done)
  })
}

/**
 * Binds sockets of a port that no other member has.
 *
 * @param {ListenServer} server
 * @param {Group} group
 * @param {typeof meet | null} meets takes the port's name, or returns the result if the name was taken before; null: the port is not shared
 * @param {Done} done runs before openOwn() returns, unless the port is shared
 */
function openOwn (server, group, meets, done) {
  const listener = server[kListener]
  const { native } = listener.open()
  const { opened, failure } = bindAll(group)
  const port = group.port || (failure === null ? addressOf(opened[0].handle).port ?? 0 : 0)
  if (failure !== null || meets === null || port === 0) {
    if (meets !== null && port !== 0) native.leave(port)
    return done(failure, opened)
  }
  const wanted = { ...withPort(group, port), port }
  let meeting
  try {
    meeting = meets(listener, wanted)
  } catch (error) {
    return done(/** @type {Error} */ (error), opened)
  }
  const { found, stranger } = meeting
  if (found !== kOurs) return done(null, opened)
  register(listener, wanted, (error) => {
    if (error !== null) native.leave(port)
    else if (stranger !== null) warnOfStranger(port, stranger)
    done(error, opened)
  })
}

/** @param {Group} group @returns {{ opened: Opened[], failure: Error | null }} */
function bindAll ({ endpoints, isPlain, isMember }) {
  /** @type {Opened[]} */
  const opened = []
  for (const endpoint of endpoints) {
    const handle = endpoint.given ?? bind(endpoint)
    if (typeof handle === 'number') return { opened, failure: listenError(handle, endpoint.host ?? '::', endpoint.port, { isPlain, isMember }) }
    opened.push({
      endpoint,
      handle,
      isShared: false,
      isForeign: endpoint.given !== undefined,
      hasMore: opened.length + 1 < endpoints.length
    })
  }
  return { opened, failure: null }
}

/**
 * Joins the members of a port: uses their sockets if the addresses match, and binds others. An endpoint gets a handle without a socket if a
 * program that is no member accepts there and gives the connections to members, which pass them on.
 *
 * @param {ListenServer} server
 * @param {Group} group
 * @param {number} backlog
 * @param {Done} done
 */
function joinPort (server, group, backlog, done) {
  register(server[kListener], group, (error, descriptors, fed) => {
    if (error !== null) {
      theEngine().native.leave(group.port)
      return done(error, [])
    }
    const sockets = openHandles(descriptors)
    /** @type {Opened[]} */
    const opened = []
    let failure = null
    for (const endpoint of group.endpoints) {
      const { given } = endpoint
      const at = sockets.findIndex((handle) => given === undefined
        ? covers(addressOf(handle), endpoint)
        : isSameSocket(handle, given))
      if (opened.some(({ handle }) => handle === sockets[at])) continue
      let handle = at === -1 ? given ?? bindBeside(endpoint, backlog, sockets) : sockets[at]
      const feeder = handle === kErrnoEADDRINUSE ? fed.find((address) => covers({ address }, endpoint)) : undefined
      if (feeder !== undefined) handle = socketless(server, endpoint, feeder, backlog)
      if (typeof handle === 'number') {
        const inUse = handle === kErrnoEADDRINUSE ? group.inUse?.() : undefined
        failure = inUse ?? listenError(handle, endpoint.host ?? '::', endpoint.port, group)
        break
      }
      opened.push({ endpoint, handle, isShared: at !== -1 || feeder !== undefined, isForeign: given !== undefined })
    }
    for (const handle of sockets) {
      if (!opened.some((item) => item.handle === handle)) handle.close()
    }
    if (failure !== null) server[kListener].unregister([group.port], group.prefixes)
    done(failure, opened)
  })
}

/**
 * Makes a handle without a socket, which replaces itself by one with a socket as soon as it can bind or share one.
 *
 * @param {ListenServer} server
 * @param {Endpoint} endpoint
 * @param {string} feeder the address on which the other program accepts
 * @param {number} backlog
 */
function socketless (server, endpoint, feeder, backlog) {
  const { port, host } = endpoint
  // Cast: takeHandle() adds the remaining methods of a BoundHandle.
  const handle = /** @type {BoundHandle} */ (/** @type {unknown} */ (new SocketlessHandle(host ?? feeder, port, () => {
    const { sockets, fed } = theEngine().native.sockets(port)
    const there = openHandles(sockets)
    const shared = there.find((socket) => covers(addressOf(socket), endpoint))
    const found = shared ?? bindBeside(endpoint, backlog, there)
    for (const socket of there) if (socket !== shared) socket.close()
    if (typeof found === 'number') return fed.some((address) => covers({ address }, endpoint)) ? 0 : found
    return replaceHandle(server, { endpoint, handle }, found, shared !== undefined, backlog)
  })))
  return handle
}

/** @param {ListenServer} server @param {import('./sockets-beside').SocketBeside} socket to replace: the server's own, or one beside it @param {BoundHandle} handle @param {boolean} isShared @param {number} backlog @returns {number} 0 or a negative errno */
function replaceHandle (server, { endpoint, handle: old }, handle, isShared, backlog) {
  takeHandle(server, handle, { isShared })
  const status = handle.listen(backlog || kBacklogDefault)
  if (status !== 0) {
    handle.close()
    return status
  }
  if (!old.hasRef()) handle.unref()
  const item = server[kListener].beside.at(endpoint).find((other) => other.handle === old)
  if (item === undefined) setHandle(server, handle)
  else item.handle = handle
  old.close()
  return 0
}

/**
 * Sets the port in the prefix of listen(0), once the system has chosen it.
 *
 * @template {{ prefixes: { id: number, text: string }[] }} T
 * @param {T} group
 * @param {number} port
 * @returns {T}
 */
function withPort (group, port) {
  return { ...group, prefixes: group.prefixes.map((prefix) => ({ ...prefix, text: prefix.text.replace(/:0\/$/, `:${port}/`) })) }
}

/** @param {Endpoint} endpoint @returns {ListenHandle | number} a handle, or a negative errno */
function bind ({ host, port, ipv6Only, reusePort }) {
  const type = host === undefined || net.isIPv6(host) ? 6 : 4
  const reuse = reusePort ? kBindReusePort : 0
  let handle = createServerHandle(host ?? '::', port, type, undefined, reuse | (ipv6Only ? kBindIpv6Only : 0))
  // On a machine without IPv6 use IPv4, as Node's _listen2() does.
  if (typeof handle === 'number' && host === undefined && !ipv6Only) handle = createServerHandle('0.0.0.0', port, 4, undefined, reuse)
  if (typeof handle === 'number') return handle
  // getsockname() reports an address in use, because uv_tcp_bind() delays that error.
  const delayed = handle.getsockname?.({}) ?? 0
  if (delayed === 0) return handle
  handle.close()
  return delayed
}

// Binds an endpoint of a shared port. If its address is the wildcard, the kernel refuses it beside narrower sockets of the port; the
// addon knows how to bind it.
/** @param {Endpoint} endpoint @param {number} backlog @param {ListenHandle[]} narrower @returns {ListenHandle | number} a handle, or a negative errno */
function bindBeside (endpoint, backlog, narrower) {
  const handle = bind(endpoint)
  if (handle !== kErrnoEADDRINUSE || endpoint.host !== undefined) return handle
  const fd = theEngine().native.listenBeside(endpoint.port, backlog ||
    kBacklogDefault, narrower.map((other) => /** @type {number} */ (other.fd)))
  return fd < 0 ? fd : openHandle(fd)
}

/** @param {number} fd of a bound socket, which the handle takes over */
function openHandle (fd) {
  return createServerHandle(null, null, null, fd)
}

/** @param {number[]} fds */
function openHandles (fds) {
  return fds.map((fd) => openHandle(fd)).filter((handle) => typeof handle !== 'number')
}

/** @param {{ address?: string }} socket @param {Endpoint} endpoint */
function covers ({ address }, { host }) {
  if (address === '::') return true
  if (address === '0.0.0.0') return host === undefined || net.isIPv4(host)
  return address === host
}

/**
 * Makes a server listen on the sockets that were opened beside its own handle. If one fails, closes all of them.
 *
 * @param {ListenServer} server
 * @param {Opened[]} opened
 * @param {number} backlog
 * @throws the error that Node's listen() would emit
 */
function listenBeside (server, opened, backlog) {
  const { beside } = server[kListener]
  /** @type {import('./sockets-beside').SocketBeside[]} */
  const listening = []
  for (const [at, item] of opened.entries()) {
    const { endpoint, handle } = item
    takeHandle(server, handle, item)
    const status = handle.listen(backlog || kBacklogDefault)
    if (status === 0) {
      const socket = { endpoint, handle }
      beside.add(socket)
      listening.push(socket)
      continue
    }
    for (const socket of listening) beside.delete(socket)
    for (const { handle } of [...opened.slice(at), ...listening]) handle.close()
    throw listenError(status, endpoint.host ?? '::', endpoint.port)
  }
}

/** @param {ListenServer} server that listens @returns {boolean} false: on a Unix socket, or a pipe */
function hasPort (server) {
  const address = server.address()
  return address !== null && typeof address === 'object'
}

/** @param {ListenServer} server @returns {Endpoint} @throws ERR_HTTPSYS_PREFIX_STATE without a port */
function ownEndpoint (server) {
  const address = server.address()
  if (address === null || typeof address !== 'object') {
    throw new PrefixStateError('the server listens on a Unix socket or pipe, which has no port for a prefix')
  }
  const { address: host, port } = address
  return host === '::' || host === '0.0.0.0' ? { port } : { host, port }
}

/** @param {ListenServer} server that listens @param {Endpoint} wanted */
function isOpen (server, wanted) {
  const { host, port } = ownEndpoint(server)
  return (port === wanted.port && (host === undefined || host === wanted.host)) ||
    server[kListener].beside.covers(wanted)
}

/**
 * Registers a further prefix and opens the sockets that it still needs. If that fails, undoes all.
 *
 * @param {ListenServer} server
 * @param {UrlPrefix} parsed
 * @param {number} id
 * @returns {Promise<void>}
 */
function openFor (server, parsed, id) {
  const { givenPort } = server[kListener]
  const plan = {
    // On the port of a socket that listen({ prefix, fd }) was given, no other socket is opened.
    endpoints: endpointsOf([parsed], undefined)
      .filter((endpoint) => endpoint.port !== givenPort && !isOpen(server, endpoint)),
    prefixes: [{ id, port: parsed.port, text: parsed.prefix }],
    isPlain: false
  }
  return new Promise((resolve, reject) => {
    openAll(server, plan, kBacklogDefault, (error, opened) => {
      if (error !== null) return reject(error)
      try {
        listenBeside(server, opened, kBacklogDefault)
        resolve()
      } catch (error) {
        server[kListener].unregister([parsed.port], plan.prefixes)
        reject(error)
      }
    })
  })
}

/**
 * Closes the sockets that no prefix needs after `gone` was removed. Accepted connections stay.
 *
 * @param {ListenServer} server that listens
 * @param {UrlPrefix} gone
 */
function closeUnneeded (server, gone) {
  const { beside, givenPort, prefixes: { places } } = server[kListener]
  const isNeeded = (/** @type {Endpoint} */ endpoint) =>
    places.needs(endpoint) || (endpoint.port === givenPort && places.hasPort(givenPort))
  // Look at all sockets of the port if it has no prefix at all, or a wildcard socket, which makes the narrower sockets superfluous.
  const isAll = places.hasWildcard(gone.port) || !places.hasPort(gone.port)
  const mayGo = isAll
    ? beside.ofPort(gone.port)
    : endpointsOf([gone], undefined).flatMap((endpoint) => beside.at(endpoint))
  for (const socket of mayGo) {
    if (isNeeded(socket.endpoint)) continue
    beside.delete(socket)
    socket.handle.close()
  }
  const next = beside.first()
  if (next === undefined || isNeeded(ownEndpoint(server))) return
  // The first of the server's other sockets becomes server._handle, which address() reports and close() closes.
  const handle = /** @type {ListenHandle} */ (handleOf(server)) // A server that listens has a handle.
  beside.delete(next)
  setHandle(server, next.handle)
  handle.close()
}

/** @param {ListenServer} server @param {Error} error */
function emitError (server, error) {
  server.emit('error', error)
}

module.exports = {
  kBindIpv6Only,
  kBindReusePort,
  closeUnneeded,
  emitError,
  dropHandle,
  giveToNode,
  hasPort,
  hasSocket,
  joinPort,
  listenBeside,
  openAll,
  openFor,
  openHandle,
  ownEndpoint,
  takeConnection,
  takeConnections,
  takeHandle,
  withPort
}
