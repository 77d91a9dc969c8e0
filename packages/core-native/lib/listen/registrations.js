'use strict'

// Registers a server's prefixes on a port: alone, or with other processes that listen there.

const fs = require('node:fs')
const os = require('node:os')
const { threadId } = require('node:worker_threads')
const { AsyncResource } = require('node:async_hooks')
const { CoordinatorError, PeerVersionError } = require('../base/errors')
const { programName } = require('../prefixes/program-name')
const { parseUrlPrefix } = require('../prefixes/url-prefix')
const { isImpliedQueue } = require('./implied-queue')
const { listenError } = require('./listen-error')
const { kQueueModes } = require('./listen-args')
const { portNameError, warnOfLostName } = require('./port-name')
const { systemErrorText, systemError } = require('../base/system-error')

/** @import { RegistrationResult } from '../../types/binding' */
/** @import { Listener } from './listener' */
/**
 * @typedef {object} Wanted
 * @property {number} port
 * @property {import('./listen-args').Endpoint[]} endpoints
 * @property {{ id: number, text: string }[]} prefixes
 * @property {boolean} isPlain listen(port): errors have Node's texts
 * @property {boolean} [isFed] a process that is no member of the port accepts the connections, such as a cluster's primary
 * @property {string} [queueName] replaces the server's queue name
 * @property {() => Error} [inUse] makes Node's error for a port in use
 */

const { EACCES, EADDRINUSE, ECANCELED, EINVAL, ENOENT, ENOSPC, EPROTO, ETIMEDOUT } = os.constants.errno

/** Callbacks by token. @type {Map<number, (result: RegistrationResult) => void>} */
const pending = new Map()
let lastToken = 0

/**
 * Called by the addon with the answer of other members.
 *
 * @param {RegistrationResult} result token 0: no answer, but the loss of an existing registration
 */
function onRegistered (result) {
  if (result.token === 0) {
    if (result.error !== -EACCES) return warnOfLoss(result)
    return warnOfLostName(parseUrlPrefix(result.prefix).port, result)
  }
  const callback = pending.get(result.token)
  if (callback !== undefined) return callback(result)
  for (const fd of result.sockets) fs.closeSync(fd) // The registration was withdrawn meanwhile.
}

// Warns that another process registered our prefix after the port's coordinator had ended and before we had reached its successor.
/** @param {RegistrationResult} result */
function warnOfLoss ({ prefix, pid }) {
  process.emitWarning(`${prefix} has been registered by process ${pid} while the port's coordinator changed: it gets the requests. ` +
    'Close one of the two servers', { code: 'HTTPSYS_PREFIX_TAKEN' })
}

// Ends a server's pending registrations with ECANCELED, as if the other members had answered so.
/** @param {Listener} listener whose prefixes the engine forgets */
function withdraw ({ asking }) {
  for (const token of [...asking.keys()]) {
    pending.get(token)?.({ token, error: -ECANCELED, pid: 0, uid: 0, prefix: '', wanted: '', queue: '', reason: '', peerOldest: 0, peerNewest: 0, sockets: [], fed: [] })
  }
}

/** @param {import('../backend/engine').Engine} engine */
function introduce (engine) {
  engine.native.introduce(threadId, programName())
}

/**
 * @param {Listener} listener
 * @param {Wanted} wanted
 * @param {(error: Error | null, sockets: number[], fed: string[]) => void} callback may run before register() returns. It owns the
 *   descriptors `sockets`; `fed` are the addresses whose connections other members pass on
 */
function register (listener, wanted, callback) {
  const { sharing } = listener
  const { queueName = sharing.queueName } = wanted
  const token = ++lastToken
  const engine = listener.open()
  const registration = {
    token,
    serverId: listener.id,
    port: wanted.port,
    flags: {
      isPlain: wanted.isPlain,
      isIpv4: wanted.endpoints[0]?.host === '0.0.0.0',
      isExclusive: sharing.exclusive,
      isFed: wanted.isFed === true
    },
    queue: queueName,
    queueMode: kQueueModes.indexOf(sharing.queueMode),
    prefixes: wanted.prefixes
  }
  /** @param {RegistrationResult} result */
  const finish = (result) => {
    if (result.error !== 0) return callback(registrationError(result, wanted, sharing.isImplied ? '' : queueName), [], [])
    listener.ports.add(wanted.port)
    callback(null, result.sockets, result.fed)
  }
  const result = engine.native.register(registration)
  if (result !== undefined) {
    finish(result)
    return
  }
  engine.ref()
  listener.asking.set(token, wanted.port)
  pending.set(token, AsyncResource.bind((/** @type {RegistrationResult} */ late) => {
    pending.delete(token)
    listener.asking.delete(token)
    engine.unref()
    finish(late)
  }))
}

/**
 * Withdraws registered prefixes.
 *
 * @param {import('../backend/engine').Engine} engine
 * @param {Listener} listener
 * @param {number} port
 * @param {number[]} ids of the prefixes; empty: all that the server has on the port
 * @param {object} [how]
 * @param {number} [how.restartMs] how long requests wait for another owner
 * @param {boolean} [how.stays] the server keeps listening on the port even without any prefix
 * @returns {Promise<void> | null} resolves when all other members of the port know, or the wait for them has timed out; null:
 *   there are no other members
 */
function release (engine, listener, port, ids, { restartMs = 0, stays = false } = {}) {
  const token = ++lastToken
  if (!engine.native.unregister(port, listener.id, ids, restartMs, token, stays)) return null
  engine.ref()
  return new Promise((resolve) => pending.set(token, () => {
    pending.delete(token)
    engine.unref()
    resolve()
  }))
}

// Explains a refused registration: the process and prefix in the way, the reason, and what helps.
/** @param {RegistrationResult} result @param {Wanted} wanted @param {string} queueName */
function conflictText ({ pid, prefix, queue, reason, wanted }, { port, prefixes: [{ text: first }] }, queueName) {
  const mine = wanted || first
  const there = `${prefix === mine ? prefix : `${mine}: ${prefix}`} is already registered by process ${pid}`
  const theirs = JSON.stringify(queue)
  const isNamed = queue !== '' && !isImpliedQueue(queue)
  const ours = JSON.stringify(queueName)
  switch (reason) {
    case 'exclusiveThere':
      return `${mine}: process ${pid} has port ${port} for itself, by listening on ${prefix} with exclusive: true. Choose another port, ` +
        'or leave "exclusive" out there'
    case 'exclusiveWanted':
      return `${mine}: with exclusive: true port ${port} is wanted alone, and process ${pid} has ${prefix} there. Choose another port, ` +
        'or leave "exclusive" out'
    case 'scheme':
      return `${mine}: process ${pid} has ${prefix}, and a port speaks either http or https. Use the same scheme, another port, or ` +
        'prefixes whose hosts are IP addresses, not the same one, for both'
    case 'otherQueue':
      if (!isNamed) return `${there}, which names no queue. Choose another prefix, or give both servers the same queueName`
      return `${there} for the queue ${theirs}, which is not ${ours}. Choose another prefix, or give both servers the same queueName`
    case 'terms':
      return `${mine}: process ${pid} has ${prefix}, and asks clients for certificates by other rules. Clients name a host ` +
        'when they connect, and these two have the same one. Give both servers the same requestCert, rejectUnauthorized, ca and crl, and ' +
        'no SNICallback, or choose another host or port'
    case 'queueMode':
      return `${there} for the same queue ${theirs}, and queueMode 'create' wants the prefix to be free. 'createOrAttach' or 'attach' shares it`
    case 'prefix':
      if (isNamed) return `${there} for the queue ${theirs}. Choose another prefix, or share it with queueName: ${theirs}, queueMode: 'createOrAttach'`
      if (queueName !== '') return `${there}, which names no queue. Choose another prefix, or give that server queueName: ${ours}, too`
      return `${there}. Choose another prefix, or share it by giving both servers the same queueName`
    default:
      return there
  }
}

/** @param {RegistrationResult} result @param {Wanted} wanted @param {string} queueName */
function registrationError (result, wanted, queueName) {
  const { port, endpoints, prefixes, isPlain } = wanted
  const { pid, uid, prefix, error: errno } = result
  const mine = result.wanted || prefixes[0].text
  const details = { prefix: mine, pid, port }
  const withText = (/** @type {string} */ text) => {
    const error = systemError(errno, 'listen')
    error.message = `listen ${error.code}: ${text}`
    return Object.assign(error, details)
  }
  switch (-errno) {
    case EADDRINUSE: {
      const text = conflictText(result, wanted, queueName)
      if (!isPlain) return withText(text)
      // Use Node's own error, because people and programs look for it, and add the `pid` of the process that has the port.
      const error = wanted.inUse?.() ?? listenError(errno, endpoints[0].host ?? '::', port, { isMember: true })
      if (result.reason !== 'plain') error.message += `: ${text}`
      return Object.defineProperties(error, { prefix: { value: prefix }, pid: { value: pid } })
    }
    case EACCES:
      return portNameError(port, { uid, pid }, mine)
    case ENOENT:
      return withText(`no process on port ${port} has the queue "${queueName}" to attach to; queueMode 'createOrAttach' opens it`)
    case ENOSPC:
      if (result.reason === 'members') {
        return withText(`${mine}: port ${port} has as many members as there can be, 1024 processes and worker threads. Choose another ` +
          'port, or end some of them')
      }
      return withText(`${mine}: too many prefixes, at most 1024 in one call and 16384 on port ${port}`)
    case ECANCELED:
      return Object.assign(new Error('Server is not running.'), { code: 'ERR_SERVER_NOT_RUNNING' })
    case EPROTO:
      return new PeerVersionError(port, pid, result.peerOldest, result.peerNewest)
    case ETIMEDOUT:
      return new CoordinatorError(port, pid)
    case EINVAL:
      return withText(`${prefix} is no prefix of port ${port}`)
    default:
      return withText(`${mine}: ${systemErrorText(errno)}`)
  }
}

module.exports = { introduce, onRegistered, register, release, withdraw }
