'use strict'

// Every code of an error or a warning of ours, once. `npm run generate` writes the tables of docs/errors.md from this file, whose sections
// explain each error. lib/base/errors.js has the messages; packages/core-native/test/errors.test.js compares all three.

/** @typedef {'throws' | 'emits' | 'throws or emits'} Listen what listen() does with an error of its call */

/** By the code without ERR_HTTPSYS_. @type {Record<string, [base: 'Error' | 'TypeError', listen: Listen | '', says: string]>} */
const errors = {
  PREFIX_SYNTAX: ['TypeError', 'throws', 'an argument is not a valid URL prefix'],
  PREFIX_STATE: ['Error', '', 'the server cannot add or remove this prefix'],
  FILES: ['Error', '', 'a folder cannot be served or removed'],
  PEER_VERSION: ['Error', 'emits', 'a process of the port speaks another protocol'],
  PORT_COORDINATOR: ['Error', 'emits', 'the coordinator of the port does not answer'],
  PORT_NAME: ['Error', 'emits', 'another user has the name of the port'],
  URL_SHARING: ['Error', 'emits', 'HTTP.SYS cannot share a prefix between workers of a cluster'],
  CAPABILITY: ['Error', 'throws or emits', 'the backend cannot do what the call needs; emitted for `queueName` with HTTP.SYS'],
  CACHE_OFF: ['Error', '', 'the server has no output cache'],
  SYSTEM_CERTIFICATE: ['Error', 'emits', 'Windows has no certificate for the prefix'],
  LISTEN_ARGS: ['TypeError', 'throws', 'the arguments of `listen()` contradict each other'],
  OPTION: ['TypeError', 'throws', 'an option is unknown, or has no effect in this call'],
  TLS_UNAVAILABLE: ['Error', 'throws', 'Node.js lacks functions of OpenSSL'],
  TLS_OPTION: ['TypeError', 'throws', 'the engine does not support an option of `node:https`'],
  TLS_TERMS: ['Error', '', 'two prefixes with one host would ask clients for certificates by different rules'],
  TLS_CERTIFICATE: ['Error', 'emits', 'a certificate or its key is missing'],
  SSLCERT: ['Error', 'emits', 'a file of certificates cannot be used'],
  H2_UNAVAILABLE: ['Error', '', 'the program does not export nghttp2'],
  URLACL: ['Error', 'emits', 'the file of reservations cannot be used'],
  SERVICE_STATE: ['Error', '', 'a port does not tell its state'],
  NATIVE_LOAD: ['Error', 'throws', 'the native addon cannot be loaded'],
  UNSUPPORTED_RUNTIME: ['Error', '', 'the runtime is not Node.js 20 or newer'],
  ENVIRONMENT: ['TypeError', 'throws or emits', 'an environment variable has an invalid value; thrown for `HTTPSYS_IO_THREADS`, ' +
    '`HTTPSYS_QUEUE_BYTES` and `HTTPSYS_REFUSAL_LINES`, emitted for the others'],
  NODE_INTERNALS: ['Error', '', 'Node.js lacks an undocumented member'],
  WS_INTERNALS: ['Error', '', '`ws` lacks an undocumented member'],
  BODY_TOO_LARGE: ['Error', '', 'a request body is longer than its limit'],
  BODY_BEGUN: ['Error', '', 'the limit of a request body was set too late']
}

/** By the code without HTTPSYS_. @type {Record<string, string>} */
const warnings = {
  ERROR_LOG: 'the file of the [error log](error-log.md) cannot be opened: no refused request is logged, and stderr shows how many requests were refused',
  HTTP2_STOCK: "a program that runs with [`register`](register.md#http2) has created a server of `node:http2`, which Node's own code runs",
  OPTION_IGNORED: '`createServer()` was given a name that resembles an option of Node; the option has no effect',
  UNKNOWN_VARIABLE: 'an environment variable begins with `HTTPSYS_` but is not an [httpsys variable](options.md#environment-variables)',
  PLATFORM: 'as far as is known, the native addon has never been run on this [platform](platforms.md)',
  PORT_UNSHARED: 'a process of another user holds the [name of a port](port-sharing.md#names-that-others-can-take): this process listens on ' +
    'the port without sharing it; or, if it already shared the port, it continues to serve, but cannot register further prefixes',
  SOCKET_MISSING: 'the cluster workers that [passed connections on](port-sharing.md#workers-of-a-cluster) to this process have ended, and ' +
    'this process cannot bind their port. It keeps trying',
  SOCKET_UNSHARED: 'other processes of a port cannot get a listening socket of this process, because [there are 64](port-sharing.md#limits) ' +
    "already: connections to the socket's address end with this process",
  PREFIX_TAKEN: "another process was given a prefix of this process while the [port's coordinator](internals/port-sharing.md#the-coordinator) changed",
  PREFIX_DROPPED: 'a change of the [reservations](reservations.md) removed a prefix of this process'
}

module.exports = { errors, warnings }
