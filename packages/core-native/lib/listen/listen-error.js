'use strict'

const { holderOf, pidOf } = require('../backend/port-holder')
const { pageUrl } = require('../base/pages')
const { systemError, systemErrorText } = require('../base/system-error')

/** Ports below it need a right, unless the system says otherwise (net.ipv4.ip_unprivileged_port_start). */
const kUnprivilegedPort = 1024

// Makes the error that Node's listen() emits, with what Node does not say.
/** @param {number} errno @param {string} address @param {number} port @param {{ isPlain?: boolean, isMember?: boolean }} [how] isPlain: listen(port), whose text programs may know; isMember: a process that shares the port is in the way, or may be */
function listenError (errno, address, port, { isPlain = true, isMember = false } = {}) {
  const { code, syscall } = systemError(errno, 'listen')
  const where = port > 0 ? `${address}:${port}` : address
  const hint = port > 0 ? hintOf(code, address, port, { isPlain, isMember }) : ''
  const error = new Error(`${syscall} ${code}: ${systemErrorText(errno)}${where ? ` ${where}` : ''}${hint}`)
  return Object.assign(error, { code, errno, syscall, address }, port ? { port } : null)
}

/** @param {string} code @param {string} address @param {number} port @param {{ isPlain: boolean, isMember: boolean }} how @returns {string} what follows Node's text */
function hintOf (code, address, port, { isPlain, isMember }) {
  if (code === 'EACCES' && port < kUnprivilegedPort) {
    return `. Ports below ${kUnprivilegedPort} need CAP_NET_BIND_SERVICE (AmbientCapabilities= of systemd, setcap), or one process that may open ` +
      `the port and shares it: ${pageUrl('port-sharing.md#ports-below-1024-and-given-sockets')}`
  }
  const holder = code === 'EADDRINUSE' && !isMember ? holderOf(address, port) : null
  if (holder === null) return ''
  const isOthers = holder.uid !== process.geteuid?.()
  // Programs that look for a free port call listen(port) until there is no error: that is not to cost them the search for a process.
  if (isPlain && !isOthers) return ''
  const pid = isPlain ? 0 : pidOf(holder)
  if (isOthers) {
    return `, held by ${pid === 0 ? 'a process' : `process ${pid}`} of another user (uid ${holder.uid}). Processes of one user share a port: ${pageUrl('port-sharing.md#limits')}`
  }
  return `, by ${pid === 0 ? 'a program that' : `process ${pid}, which`} does not share it with others`
}

// Makes the error that Node's listen() emits in a worker of node:cluster, whose primary binds.
/** @param {number} errno @param {string | null} address @param {number} port */
function bindError (errno, address, port) {
  const { code, syscall } = systemError(errno, 'bind')
  const where = port > 0 ? ` ${address}:${port}` : address ? ` ${address}` : ''
  const error = new Error(`${syscall} ${code}${where}`)
  return Object.assign(error, { errno, code, syscall, address }, port ? { port } : null)
}

/**
 * An error as if it had been made where listen() was called: its own frames say nothing to who called that.
 *
 * @template T
 * @param {T} error
 * @param {Error | null} origin whose stack it gets, if there is one
 * @returns {T}
 */
function raisedAt (error, origin) {
  const stack = origin?.stack
  if (!(error instanceof Error) || error.stack === undefined || stack === undefined) return error
  const own = error.stack.indexOf('\n    at ')
  const frames = stack.indexOf('\n    at ')
  if (own !== -1 && frames !== -1) error.stack = error.stack.slice(0, own) + stack.slice(frames)
  return error
}

// Codes of errors whose cause is not in the call of listen(), but in files of the machine and in what others have.
const kOfMachine = new Set([
  'EACCES', 'ERR_HTTPSYS_ENVIRONMENT', 'ERR_HTTPSYS_SSLCERT', 'ERR_HTTPSYS_SYSTEM_CERTIFICATE', 'ERR_HTTPSYS_TLS_CERTIFICATE', 'ERR_HTTPSYS_URLACL'
])

/**
 * Does a step of listen().
 *
 * @param {() => void} step
 * @returns {Error | null} an error that depends on the machine: it is to be emitted, as Node emits EADDRINUSE
 * @throws what is wrong with the call
 */
function failureOf (step) {
  try {
    step()
    return null
  } catch (error) {
    const failure = /** @type {NodeJS.ErrnoException} */ (error)
    if (failure.code === undefined || !kOfMachine.has(failure.code)) throw error
    return failure
  }
}

module.exports = { bindError, failureOf, listenError, raisedAt }
