'use strict'

const { holderOf, pidOf } = require('../backend/port-holder')
const { pageUrl } = require('../base/pages')
const { systemError, systemErrorText } = require('../base/system-error')

/** First port that needs no privilege to bind, unless net.ipv4.ip_unprivileged_port_start says otherwise. */
const kUnprivilegedPort = 1024

// Makes the error that Node's listen() emits, with a hint that Node does not have.
/** @param {number} errno @param {string} address @param {number} port @param {{ isPlain?: boolean, isMember?: boolean }} [how] isPlain: listen(port), whose text programs may compare; isMember: a process that shares the port has it, or may have it */
function listenError (errno, address, port, { isPlain = true, isMember = false } = {}) {
  const { code, syscall } = systemError(errno, 'listen')
  const where = port > 0 ? `${address}:${port}` : address
  const hint = port > 0 ? hintOf(code, address, port, { isPlain, isMember }) : ''
  const error = new Error(`${syscall} ${code}: ${systemErrorText(errno)}${where ? ` ${where}` : ''}${hint}`)
  return Object.assign(error, { code, errno, syscall, address }, port ? { port } : null)
}

/** @param {string} code @param {string} address @param {number} port @param {{ isPlain: boolean, isMember: boolean }} how @returns {string} text to append to Node's */
function hintOf (code, address, port, { isPlain, isMember }) {
  if (code === 'EACCES' && port < kUnprivilegedPort) {
    return `. Ports below ${kUnprivilegedPort} need CAP_NET_BIND_SERVICE (AmbientCapabilities= of systemd, setcap), or one process that may open ` +
      `the port and shares it: ${pageUrl('port-sharing.md#ports-below-1024-and-given-sockets')}`
  }
  const holder = code === 'EADDRINUSE' && !isMember ? holderOf(address, port) : null
  if (holder === null) return ''
  const isOthers = holder.uid !== process.geteuid?.()
  // Do not search for the process after listen(port): programs that look for a free port repeat it until there is no error.
  if (isPlain && !isOthers) return ''
  const pid = isPlain ? 0 : pidOf(holder)
  if (isOthers) {
    return `, held by ${pid === 0 ? 'a process' : `process ${pid}`} of another user (uid ${holder.uid}). Processes of one user share a port: ${pageUrl('port-sharing.md#limits')}`
  }
  return `, by ${pid === 0 ? 'a program that' : `process ${pid}, which`} does not share it with others`
}

// Makes the error that Node's listen() emits in a worker of node:cluster if the primary cannot bind.
/** @param {number} errno @param {string | null} address @param {number} port */
function bindError (errno, address, port) {
  const { code, syscall } = systemError(errno, 'bind')
  const where = port > 0 ? ` ${address}:${port}` : address ? ` ${address}` : ''
  const error = new Error(`${syscall} ${code}${where}`)
  return Object.assign(error, { errno, code, syscall, address }, port ? { port } : null)
}

/**
 * Replaces an error's stack by that of the call of listen(), which helps the user more than our internal frames.
 *
 * @template T
 * @param {T} error
 * @param {Error | null} origin made in listen(); null: the error keeps its stack
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

// Codes of errors that listen() emits instead of throwing, because files of the machine or other processes cause them, not the call.
const kOfMachine = new Set([
  'EACCES', 'ERR_HTTPSYS_ENVIRONMENT', 'ERR_HTTPSYS_SSLCERT', 'ERR_HTTPSYS_SYSTEM_CERTIFICATE', 'ERR_HTTPSYS_TLS_CERTIFICATE', 'ERR_HTTPSYS_URLACL'
])

/**
 * Runs a step of listen().
 *
 * @param {() => void} step
 * @returns {Error | null} the error, if its code is in kOfMachine: the caller must emit it, as Node emits EADDRINUSE
 * @throws all other errors of the step
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
