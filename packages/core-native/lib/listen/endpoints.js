'use strict'

// The sockets that a server listens on: server._handle, which is Node's in all but accepting, and those
// beside it for prefixes of other ports and addresses.

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

/**
 * @typedef {import('../../types/internal').BoundHandle} BoundHandle
 * @typedef {import('../../types/internal').ListenServer} ListenServer
 * @typedef {import('../../types/node-internals').ListenHandle} ListenHandle
 * @typedef {import('./listen-args').Endpoint} Endpoint
 * @typedef {import('../prefixes/url-prefix').UrlPrefix} UrlPrefix
 *
 * @typedef {object} Plan
 * @property {Endpoint[]} endpoints
 * @property {{ id: number, port: number, text: string }[]} prefixes none of a port: everything on its sockets
 * @property {boolean} isPlain listen(port)
 * @property {import('../options/stand-in').Mapping} [mapping] a program that knows node:http alone has asked for a port
 * @property {boolean} [isKnownToPrimary] in a worker of node:cluster: a mapped server of which the primary is told
 * @property {number} [fd] a bound socket of one of the ports
 *
 * @typedef {object} Opened
 * @property {Endpoint} endpoint
 * @property {BoundHandle} handle bound; other members of the port may have it, too
 * @property {boolean} isShared another server accepts on it, or somebody who is no member of the port
 * @property {boolean} [isForeign] bound by somebody else, who may have given it to others, too
 * @property {boolean} [hasMore] further sockets of the same port are listened on right after it
 *
 * @typedef {(error: Error | null, opened: Opened[]) => void} Done
 */

const kErrnoEMFILE = -os.constants.errno.EMFILE
const kErrnoENFILE = -os.constants.errno.ENFILE
const kErrnoEADDRINUSE = -os.constants.errno.EADDRINUSE
/** As kElectionMs of limits.h: how long a port that is in use may have no meeting place. */
const kElectionMs = 200
const kElectionRetryMs = 5
const kBacklogDefault = 511 // Node's.
// libuv's flags of a bind.
const kBindIpv6Only = 1
const kBindReusePort = 2

/**
 * Makes a bound libuv handle listen on the engine. Everything else about it stays Node's.
 *
 * @param {ListenServer} server
 * @param {BoundHandle} handle
 * @param {object} [how]
 * @param {boolean} [how.isShared] the engine accepts on it already
 * @param {boolean} [how.isForeign] bound by somebody else, who may have given it to others, too
 * @param {boolean} [how.hasMore] further sockets of its port follow
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
      // bind() reports an address in use only here (uv_tcp_bind delays it).
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

// In a cluster worker the primary accepts and sends connections; they move on to a lane.
/** @param {import('./listener').Listener} listener @param {ListenHandle} handle */
function takeClusterHandle (listener, handle) {
  takeConnections(listener, handle, (status, client) => takeConnection(listener, status, client))
  listener.open()
  served.servers++
}

/**
 * Puts a function in the place of the one that Node sets on a handle: it gets the connections that a primary sends.
 *
 * @param {import('./listener').Listener} listener
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

/** @param {import('./listener').Listener} listener @param {number} status @param {unknown} client what a primary has sent */
function takeConnection (listener, status, client) {
  if (status !== 0) {
    listener.server.emit('error', systemError(status, 'accept'))
    return
  }
  // A primary may send anything, or nothing.
  if (!hasSocket(client)) return dropHandle(client)
  const failed = listener.open().native.adopt(listener.id, client.fd)
  client.close()
  // Out of descriptors a connection is refused, as by whoever accepts; peers must not end the worker with it.
  if (failed !== 0 && failed !== kErrnoEMFILE && failed !== kErrnoENFILE) {
    listener.server.emit('error', systemError(failed, 'accept'))
  }
}

/** @param {unknown} handle of anybody @returns {handle is ListenHandle & { fd: number }} */
function hasSocket (handle) {
  const { fd } = /** @type {{ fd?: unknown }} */ (handle ?? {})
  return typeof fd === 'number' && fd >= 0
}

/** Closes what a primary has sent instead of a handle: Node makes sockets and servers of some. @param {unknown} handle */
function dropHandle (handle) {
  // A socket's close() would be Node's, which calls one that it has not.
  const given = /** @type {{ destroy?: unknown, close?: unknown } | null | undefined} */ (handle)
  const end = given?.destroy ?? given?.close
  if (typeof end === 'function') end.call(handle)
}

// -- Opening -------------------------------------------------------------------------------------

/**
 * Binds what a plan needs, alone or with other processes on its ports: everything, or nothing.
 *
 * @param {ListenServer} server
 * @param {Plan} plan
 * @param {number} backlog
 * @param {Done} done runs before this returns unless others have to be asked
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
        // A descriptor that was given stays open for the next listen().
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
 * @typedef {object} Group what a plan needs of one port
 * @property {number} port
 * @property {boolean} isPlain
 * @property {Endpoint[]} endpoints
 * @property {{ id: number, text: string }[]} prefixes
 * @property {string} [queueName] in place of the server's
 * @property {boolean} [isMember] a port in use may be that of a member, who answers soon
 * @property {() => Error} [inUse] what Node would say
 */

/**
 * @param {ListenServer} server
 * @param {Group} group
 * @param {number} backlog
 * @param {Done} done
 * @param {number} [deadline] until when an address that is in use may be that of a member: ms of performance.now()
 */
function openPort (server, group, backlog, done, deadline = performance.now() + kElectionMs) {
  const listener = server[kListener]
  const { native } = listener.open()
  const { endpoints, port, isPlain } = group
  // Half of a port (ipv6Only), one that the kernel shares out (reusePort) and sockets of other kinds (fd, cluster)
  // are not shared; a port of the system's choice is found first.
  const isAlone = endpoints.some(({ ipv6Only, reusePort }) => ipv6Only || reusePort) || (endpoints.length === 0 && !listener.ports.has(port))
  if (isAlone || port === 0) return openOwn(server, group, isAlone ? null : meet, done)
  let meeting
  try {
    meeting = meet(listener, group)
  } catch (error) {
    return done(/** @type {Error} */ (error), [])
  }
  const { found, stranger } = meeting
  if (found !== kMember && found !== kTaken) {
    // The last coordinator has just left, and the members that go on have not met yet. What Node does is not delayed.
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
 * @param {typeof meet | null} meets how the port is taken, which has happened where the port is known; null: it is not shared
 * @param {Done} done runs before this returns, unless the port is shared
 */
function openOwn (server, group, meets, done) {
  const listener = server[kListener]
  const { native } = listener.open()
  const { opened, failure } = bindAll(group)
  const port = group.port || (failure === null ? portOf(opened[0].handle) : 0)
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
    opened.push({ endpoint, handle, isShared: false, isForeign: endpoint.given !== undefined, hasMore: opened.length + 1 < endpoints.length })
  }
  return { opened, failure: null }
}

/**
 * Listens where others listen already: on their sockets, as far as these are at the right address, and without any socket where others
 * pass on what a process gives them that is no member.
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
      const at = sockets.findIndex((handle) => given === undefined ? covers(addressOf(handle), endpoint) : isSameSocket(handle, given))
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
 * A handle that becomes one with a socket as soon as there is one to be had.
 *
 * @param {ListenServer} server
 * @param {Endpoint} endpoint
 * @param {string} feeder the address that others accept on
 * @param {number} backlog
 */
function socketless (server, endpoint, feeder, backlog) {
  const { port, host } = endpoint
  // takeHandle() gives it the other half.
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

/** @param {ListenServer} server @param {import('./sockets-beside').SocketBeside} socket the own one or one beside it @param {BoundHandle} handle @param {boolean} isShared @param {number} backlog @returns {number} 0 or a negative errno */
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
 * listen(0) knows its port, and with it its prefix, only now.
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
  // A machine without IPv6, as in _listen2().
  if (typeof handle === 'number' && host === undefined && !ipv6Only) handle = createServerHandle('0.0.0.0', port, 4, undefined, reuse)
  if (typeof handle === 'number') return handle
  // An address in use is told only here (uv_tcp_bind delays it).
  const delayed = handle.getsockname?.({}) ?? 0
  if (delayed === 0) return handle
  handle.close()
  return delayed
}

// A wildcard address beside narrower ones of the same port is the kernel's only with some help.
/** @param {Endpoint} endpoint @param {number} backlog @param {ListenHandle[]} narrower @returns {ListenHandle | number} a handle, or a negative errno */
function bindBeside (endpoint, backlog, narrower) {
  const handle = bind(endpoint)
  if (handle !== kErrnoEADDRINUSE || endpoint.host !== undefined) return handle
  const fd = theEngine().native.listenBeside(endpoint.port, backlog || kBacklogDefault, narrower.map((other) => /** @type {number} */ (other.fd)))
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

/** @param {ListenHandle} handle @returns {number} 0 when it has none */
function portOf (handle) {
  return addressOf(handle).port ?? 0
}

/** @param {{ address?: string }} socket @param {Endpoint} endpoint */
function covers ({ address }, { host }) {
  if (address === '::') return true
  if (address === '0.0.0.0') return host === undefined || net.isIPv4(host)
  return address === host
}

/**
 * Lets a server listen on what was opened beside its own handle.
 *
 * @param {ListenServer} server
 * @param {Opened[]} opened
 * @param {number} backlog
 * @throws what Node's listen() would emit
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
  return (port === wanted.port && (host === undefined || host === wanted.host)) || server[kListener].beside.covers(wanted)
}

/**
 * Registers a further prefix, and opens what it needs and is not open yet: everything, or nothing.
 *
 * @param {ListenServer} server
 * @param {UrlPrefix} parsed
 * @param {number} id
 * @returns {Promise<void>}
 */
function openFor (server, parsed, id) {
  const { givenPort } = server[kListener]
  const plan = {
    // A socket that listen({ prefix, fd }) was given is the only one of its port.
    endpoints: endpointsOf([parsed], undefined).filter((endpoint) => endpoint.port !== givenPort && !isOpen(server, endpoint)),
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
 * Closes what no prefix needs now that one has gone. Connections that were accepted stay.
 *
 * @param {ListenServer} server that listens
 * @param {UrlPrefix} gone
 */
function closeUnneeded (server, gone) {
  const { beside, givenPort, prefixes: { places } } = server[kListener]
  const isNeeded = (/** @type {Endpoint} */ endpoint) =>
    places.needs(endpoint) || (endpoint.port === givenPort && places.hasPort(givenPort))
  // The narrower sockets of a port go, too, if a wildcard socket has been opened beside them since.
  const isAll = places.hasWildcard(gone.port) || !places.hasPort(gone.port)
  const mayGo = isAll ? beside.ofPort(gone.port) : endpointsOf([gone], undefined).flatMap((endpoint) => beside.at(endpoint))
  for (const socket of mayGo) {
    if (isNeeded(socket.endpoint)) continue
    beside.delete(socket)
    socket.handle.close()
  }
  const next = beside.first()
  if (next === undefined || isNeeded(ownEndpoint(server))) return
  // Another one becomes the server's own, which address() tells and close() closes.
  const handle = /** @type {ListenHandle} */ (handleOf(server)) // It listens.
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
