'use strict'

const { constants } = require('node:os')
const { getSystemErrorName, getSystemErrorMap } = require('node:util')

/** Texts of system errors that libuv does not know. @type {Partial<Record<string, string>>} */
const kOtherTexts = { ESTALE: 'stale file handle' }

/** @param {number} errno negative @returns {string} libuv's name, or the system's where libuv has none */
function systemErrorName (errno) {
  const other = getSystemErrorMap().has(errno)
    ? undefined
    : Object.entries(constants.errno).find(([, number]) => number === -errno)
  return other?.[0] ?? getSystemErrorName(errno)
}

/**
 * Makes the error that Node would raise for a failed system call.
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
 * Returns libuv's number for a system error. It is the negated errno of this system, or a number of libuv's own if the system lacks
 * that error (on Windows, for example).
 *
 * @param {string} code such as 'EACCES'
 * @returns {number} negative
 */
function errnoOf (code) {
  for (const [errno, [name]] of getSystemErrorMap()) if (name === code) return errno
  return -1
}

module.exports = { errnoOf, systemError, systemErrorName, systemErrorText }
