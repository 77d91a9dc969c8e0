'use strict'

const { systemError, systemErrorText } = require('./system-error')

// What Node's listen() emits.
/** @param {number} errno @param {string} address @param {number} port */
function listenError (errno, address, port) {
  const { code, syscall } = systemError(errno, 'listen')
  const where = port > 0 ? `${address}:${port}` : address
  const error = new Error(`${syscall} ${code}: ${systemErrorText(errno)}${where ? ` ${where}` : ''}`)
  return Object.assign(error, { code, errno, syscall, address }, port ? { port } : null)
}

// What it emits in a worker of node:cluster, whose primary binds.
/** @param {number} errno @param {string | null} address @param {number} port */
function bindError (errno, address, port) {
  const { code, syscall } = systemError(errno, 'bind')
  const where = port > 0 ? ` ${address}:${port}` : address ? ` ${address}` : ''
  const error = new Error(`${syscall} ${code}${where}`)
  return Object.assign(error, { errno, code, syscall, address }, port ? { port } : null)
}

module.exports = { bindError, listenError }
