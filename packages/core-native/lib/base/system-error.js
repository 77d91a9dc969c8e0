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

/**
 * The number that Node has for a system error here: libuv's, which is the system's own only where that has one.
 *
 * @param {string} code such as 'EACCES'
 * @returns {number} negative
 */
function errnoOf (code) {
  for (const [errno, [name]] of getSystemErrorMap()) if (name === code) return errno
  return -1
}

module.exports = { errnoOf, systemError, systemErrorText }
