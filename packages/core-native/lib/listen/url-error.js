'use strict'

// Makes errors in Node's form from the error codes of HTTP.SYS, for a URL, a queue or an option. Their texts say what helps.

const os = require('node:os')
const { errnoOf } = require('../base/system-error')

/** Error codes of HTTP.SYS (Win32). */
const kFileNotFound = 2
const kAccessDenied = 5
const kSharingViolation = 32
const kInvalidParameter = 87
const kAlreadyExists = 183

function userName () {
  const { USERDOMAIN: domain } = process.env
  const { username } = os.userInfo()
  return domain === undefined ? username : `${domain}\\${username}`
}

/** @typedef {Record<number, [code: string, text: string]>} Meanings Node's code, and the reason with what helps, by HTTP.SYS's code */

/** @param {string} url @returns {Meanings} */
const ofUrl = (url) => ({
  [kAccessDenied]: ['EACCES', `this user may not listen on ${url}. As an administrator, run:  netsh http add urlacl url=${url} user="${userName()}"`],
  [kAlreadyExists]: ['EADDRINUSE', `${url} is already registered. Who has it is shown by:  netsh http show servicestate view=requestq`],
  [kSharingViolation]: ['EADDRINUSE', `a program that does not use HTTP.SYS listens on the port of ${url}. Who it is is shown by:  netstat -abno -p tcp`],
  [kInvalidParameter]: ['EINVAL', `HTTP.SYS does not take ${url}: it wants a scheme, a host ("+", "*", a name or an address of this machine), a port, and a path without a query`]
})

/** @param {string} name @returns {Meanings} */
const ofQueue = (name) => ({
  [kFileNotFound]: ['ENOENT', `no process has a request queue "${name}". Start the one that makes it, or say "queueMode: 'createOrAttach'"`],
  [kAccessDenied]: ['EACCES', `the request queue "${name}" is another user's`],
  [kAlreadyExists]: ['EADDRINUSE', `another process has a request queue "${name}". Say "queueMode: 'createOrAttach'" to take requests from it, too`],
  [kInvalidParameter]: ['EINVAL', `HTTP.SYS takes no request queue "${name}": its name is at most 130 characters without "/" and "\\"`]
})

/**
 * @param {number} status
 * @param {string} refusal what HTTP.SYS does not do, for a status without a text of its own
 * @param {object} members of the error
 * @param {Meanings} [meanings]
 */
function errorOf (status, refusal, members, meanings = {}) {
  const { syscall = 'listen' } = /** @type {{ syscall?: string }} */ (members)
  const [code, text] = meanings[status] ?? ['UNKNOWN', '']
  const what = text || `${refusal} ${status}. What it means is shown by:  net helpmsg ${status}`
  return Object.assign(new Error(`${syscall} ${code}: ${what}`), { code, errno: errnoOf(code), status, syscall, ...members })
}

/**
 * @param {number} status
 * @param {string} url
 * @param {object} [members] further members of the error: for listen(port), the members of Node's error
 */
function urlError (status, url, members) {
  return errorOf(status, `HTTP.SYS refuses ${url} with the error`, { prefix: url, ...members }, ofUrl(url))
}

/** @param {number} status @param {string} [queueName] absent: the server wanted a queue of its own */
function queueError (status, queueName) {
  if (queueName === undefined) return errorOf(status, 'HTTP.SYS gives no request queue: error', {}, { [kAccessDenied]: ['EACCES', ''] })
  return errorOf(status, `HTTP.SYS refuses the request queue "${queueName}" with the error`, { queueName }, ofQueue(queueName))
}

/** @param {number} status @param {string} option */
function optionError (status, option) {
  return errorOf(status, `HTTP.SYS refuses the option "${option}" with the error`, { option },
    { [kAccessDenied]: ['EACCES', ''], [kInvalidParameter]: ['EINVAL', ''] })
}

module.exports = { optionError, queueError, urlError }
