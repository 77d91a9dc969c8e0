'use strict'

const { getSystemErrorName, getSystemErrorMap } = require('node:util')

/**
 * The error that Node raises for a failed system call.
 *
 * @param {number} errno negative
 * @param {string} syscall
 */
function systemError (errno, syscall) {
  const code = getSystemErrorName(errno)
  return Object.assign(new Error(`${syscall} ${code}`), { errno, code, syscall })
}

/** @param {number} errno negative */
function systemErrorText (errno) {
  return getSystemErrorMap().get(errno)?.[1] ?? 'unknown error'
}

module.exports = { systemError, systemErrorText }
