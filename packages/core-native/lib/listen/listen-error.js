'use strict'

const { systemError, systemErrorText } = require('../base/system-error')

// Makes the error that Node's listen() emits.
/** @param {number} errno @param {string} address @param {number} port */
function listenError (errno, address, port) {
  const { code, syscall } = systemError(errno, 'listen')
  const where = port > 0 ? `${address}:${port}` : address
  const error = new Error(`${syscall} ${code}: ${systemErrorText(errno)}${where ? ` ${where}` : ''}`)
  return Object.assign(error, { code, errno, syscall, address }, port ? { port } : null)
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
