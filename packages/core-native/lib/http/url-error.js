'use strict'

// What the operating system's HTTP server says to a URL, as Node's errors with what helps.

const os = require('node:os')
const { errnoOf } = require('./system-error')

/** Its error codes. */
const kAccessDenied = 5
const kSharingViolation = 32
const kInvalidParameter = 87
const kAlreadyExists = 183

function userName () {
  const { USERDOMAIN: domain } = process.env
  const { username } = os.userInfo()
  return domain === undefined ? username : `${domain}\\${username}`
}

/** @param {number} status @param {string} url @returns {[string, string]} Node's code, and why with what helps */
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

/**
 * @param {number} status
 * @param {string} url
 * @param {{ address: string, port: number }} [plain] of listen(port): the error has what Node's has
 */
function urlError (status, url, plain) {
  const [code, text] = explain(status, url)
  const error = new Error(`listen ${code}: ${text}`)
  return Object.assign(error, { code, errno: errnoOf(code), syscall: 'listen', prefix: url, status }, plain)
}

module.exports = { urlError }
