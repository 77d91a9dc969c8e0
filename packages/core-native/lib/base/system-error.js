'use strict'

const { constants } = require('node:os')
const { getSystemErrorName, getSystemErrorMap } = require('node:util')

/** Texts of errors that libuv has no name for. @type {Partial<Record<string, string>>} */
const kOtherTexts = { ESTALE: 'stale file handle' }

/** @param {number} errno negative @returns {string} libuv's name, or the system's where libuv has none */
function systemErrorName (errno) {
  const other = getSystemErrorMap().has(errno) ? undefined : Object.entries(constants.errno).find(([, number]) => number === -errno)
  return other?.[0] ?? getSystemErrorName(errno)
}

/**
 * The error that Node raises for a failed system call.
 *
 * @param {number} errno negative
 * @param {string} syscall
 */
function systemError (errno, syscall) {
  const code = systemErrorName(errno)
  return Object.assign(new Error(`${syscall} ${code}`), { errno, code, syscall })
}

/** @param {number} errno negative */
function systemErrorText (errno) {
  return getSystemErrorMap().get(errno)?.[1] ?? kOtherTexts[systemErrorName(errno)] ?? 'unknown error'
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

module.exports = { errnoOf, systemError, systemErrorName, systemErrorText }
