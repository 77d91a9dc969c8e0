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

module.exports = { listenError }
