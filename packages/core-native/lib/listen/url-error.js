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

/** @param {number} status @param {string} url @returns {[string, string]} Node's code; the reason, and what helps */
function explain (status, url) {
  switch (status) {
    case kAccessDenied:
      return ['EACCES', `this user may not listen on ${url}. As an administrator, run:  netsh http add urlacl url=${url} user="${userName()}"`]
    case kAlreadyExists:
      return ['EADDRINUSE', `${url} is already registered. Who has it is shown by:  netsh http show servicestate view=requestq`]
    case kSharingViolation:
      return ['EADDRINUSE', `a program that does not use HTTP.SYS listens on the port of ${url}. Who it is is shown by:  netstat -abno -p tcp`]
    case kInvalidParameter:
      return ['EINVAL', `HTTP.SYS does not take ${url}: it wants a scheme, a host ("+", "*", a name or an address of this machine), a port, and a path without a query`]
    default:
      return ['UNKNOWN', `HTTP.SYS refuses ${url} with the error ${status}. What it means is shown by:  net helpmsg ${status}`]
  }
}

/** @param {number} status @param {string} name @returns {[string, string]} as explain(), for a named request queue */
function explainQueue (status, name) {
  switch (status) {
    case kFileNotFound:
      return ['ENOENT', `no process has a request queue "${name}". Start the one that makes it, or say "queueMode: 'createOrAttach'"`]
    case kAccessDenied:
      return ['EACCES', `the request queue "${name}" is another user's`]
    case kAlreadyExists:
      return ['EADDRINUSE', `another process has a request queue "${name}". Say "queueMode: 'createOrAttach'" to take requests from it, too`]
    case kInvalidParameter:
      return ['EINVAL', `HTTP.SYS takes no request queue "${name}": its name is at most 130 characters without "/" and "\\"`]
    default:
      return ['UNKNOWN', `HTTP.SYS refuses the request queue "${name}" with the error ${status}. What it means is shown by:  net helpmsg ${status}`]
  }
}

/** @param {number} status @returns {[string, string]} as explain(), for a queue without a name */
function explainOwnQueue (status) {
  return [status === kAccessDenied ? 'EACCES' : 'UNKNOWN', `HTTP.SYS gives no request queue: error ${status}. What it means is shown by:  net helpmsg ${status}`]
}

/** @param {number} status @param {string} name @returns {[string, string]} as explain(), for an option */
function explainOption (status, name) {
  const code = status === kAccessDenied ? 'EACCES' : status === kInvalidParameter ? 'EINVAL' : 'UNKNOWN'
  return [code, `HTTP.SYS refuses the option "${name}" with the error ${status}. What it means is shown by:  net helpmsg ${status}`]
}

/**
 * @param {[string, string]} explained
 * @param {number} status
 * @param {object} members
 */
function errorOf ([code, text], status, members) {
  const { syscall } = /** @type {{ syscall: string }} */ (members)
  return Object.assign(new Error(`${syscall} ${code}: ${text}`), { code, errno: errnoOf(code), status, ...members })
}

/**
 * @param {number} status
 * @param {string} url
 * @param {object} [members] further members of the error: for listen(port), those of Node's error
 */
function urlError (status, url, members) {
  return errorOf(explain(status, url), status, { syscall: 'listen', prefix: url, ...members })
}

/** @param {number} status @param {string} [queueName] absent: the server wanted a queue of its own */
function queueError (status, queueName) {
  if (queueName === undefined) return errorOf(explainOwnQueue(status), status, { syscall: 'listen' })
  return errorOf(explainQueue(status, queueName), status, { syscall: 'listen', queueName })
}

/** @param {number} status @param {string} option */
function optionError (status, option) {
  return errorOf(explainOption(status, option), status, { syscall: 'listen', option })
}

module.exports = { optionError, queueError, urlError }
