'use strict'

// Makes the classes of our errors, with their messages; docs/errors.md explains them. An error for which Node has a code has
// that code (`EADDRINUSE`, `ERR_INVALID_ARG_TYPE`, …).

const { pageUrl } = require('./pages')

/** @typedef {Error & { readonly code: string }} CodedError */

/**
 * @template {unknown[]} A
 * @param {string} code
 * @param {ErrorConstructor} Base
 * @param {(...args: A) => { message: string, cause?: unknown, [detail: string]: unknown }} describe
 * @returns {{ new (...args: A): CodedError, code: string }}
 */
function declare (code, Base, describe) {
  return class extends Base {
    static code = code

    /** @param {A} args */
    constructor (...args) {
      const { message, cause, ...details } = describe(...args)
      super(message, cause === undefined ? undefined : { cause })
      this.code = code
      Object.assign(this, details)
    }
  }
}

exports.PrefixSyntaxError = declare('ERR_HTTPSYS_PREFIX_SYNTAX', TypeError,
  /** @param {string} input @param {string} problem @param {string | null} [meant] what to write instead: a prefix, or a path where one may stand */
  (input, problem, meant) => ({
    message: typeof meant === 'string' && meant.startsWith('/')
      ? `${JSON.stringify(input)} is no path${problem === '' ? '' : `: ${problem}`}; write "${meant}"`
      : `${JSON.stringify(input)} is not a URL prefix: ${problem}` + (meant ? `; write "${meant}"` : '. A correct one is "http://*:8080/shop/"'),
    input
  }))

exports.ListenArgsError = declare('ERR_HTTPSYS_LISTEN_ARGS', TypeError,
  /** @param {string} problem */
  (problem) => ({
    message: `listen(): ${problem}. Call it as listen(prefix | prefix[] | { prefix, … }[, options][, callback]) ` +
      'or with the arguments of net.Server.listen()',
    problem
  }))

exports.OptionError = declare('ERR_HTTPSYS_OPTION', TypeError,
  /** @param {string} where @param {string} option @param {string} [nearest] @param {string} [hint] used without `nearest` */
  (where, option, nearest, hint) => ({
    message: `${where} has no option "${option}"` + (nearest !== undefined ? `; did you mean "${nearest}"?` : hint !== undefined ? `: ${hint}` : ''),
    option
  }))

exports.TlsUnavailableError = declare('ERR_HTTPSYS_TLS_UNAVAILABLE', Error,
  /** @param {string} problem */
  (problem) => ({
    message: `TLS cannot be had from this Node.js (${process.version}, OpenSSL ${process.versions.openssl ?? 'none'}): ${problem}. ` +
      'Use a Node.js version that the package lists as supported, or HTTPSYS_BACKEND=node'
  }))

exports.TlsOptionError = declare('ERR_HTTPSYS_TLS_OPTION', TypeError,
  /** @param {string} option @param {string} instead */
  (option, instead) => ({
    message: `The option "${option}" is not supported by servers of httpsys; ${instead}, or choose stock Node with HTTPSYS_BACKEND=node`,
    option
  }))

exports.TlsCertificateError = declare('ERR_HTTPSYS_TLS_CERTIFICATE', Error,
  /** @param {string} place a prefix, or the host of an element of `certificates` @param {string} problem @param {boolean} [isHost] */
  (place, problem, isHost = false) => ({
    message: `"${place}" needs a certificate: ${problem}. ` + (isHost
      ? 'Give its element of "certificates" a "cert" with its "key", or a "pfx"'
      : 'Give listen() "key" and "cert", "pfx" or "devCert: true", bind one with "httpsys add sslcert", or use an http:// prefix'),
    ...(isHost ? { host: place } : { prefix: place })
  }))

exports.Http2UnavailableError = declare('ERR_HTTPSYS_H2_UNAVAILABLE', Error,
  () => ({
    message: `HTTP/2 needs functions of nghttp2 that this program (${process.execPath}) does not export. Use a Node.js ` +
      'of nodejs.org, version 20 or newer, or leave the option http2 out'
  }))

exports.CertificateFileError = declare('ERR_HTTPSYS_SSLCERT', Error,
  /** @param {string} file @param {string} problem @param {string} cure @param {unknown} [cause] */
  (file, problem, cure, cause) => ({
    message: `The certificates of ${file} cannot be used: ${problem}. ${cure}`,
    file,
    cause
  }))

exports.PrefixStateError = declare('ERR_HTTPSYS_PREFIX_STATE', Error,
  /** @param {string} problem */
  (problem) => ({ message: `addPrefix(), removePrefix(): ${problem}` }))

exports.FilesError = declare('ERR_HTTPSYS_FILES', Error,
  /** @param {string} message @param {{ root?: string, cause?: unknown }} [details] */
  (message, details) => ({ message, ...details }))

exports.CapabilityError = declare('ERR_HTTPSYS_CAPABILITY', Error,
  /** @param {string} what @param {string} capability @param {string} backend @param {string} [reason] */
  (what, capability, backend, reason) => ({
    message: `${what} needs "${capability}", which the backend "${backend}" does not have${reason === undefined ? '' : `: ${reason}`}. ` +
      `${pageUrl('windows.md')} says which backend has what`,
    capability
  }))

exports.CacheOffError = declare('ERR_HTTPSYS_CACHE_OFF', Error,
  /** @param {string} what */
  (what) => ({
    message: `${what} needs a server with a cache: createServer({ cache: true }) follows Cache-Control, ` +
      "createServer({ cache: { rules: 'httpsys' } }) the rules of HTTP.SYS"
  }))

exports.SystemCertificateError = declare('ERR_HTTPSYS_SYSTEM_CERTIFICATE', Error,
  /** @param {string} prefix @param {string} problem @param {string} command */
  (prefix, problem, command) => ({
    message: `${problem} ${prefix}: its certificates are bound in Windows. As an administrator, run:  ${command}`,
    prefix
  }))

exports.UrlSharingError = declare('ERR_HTTPSYS_URL_SHARING', Error,
  /** @param {string} option */
  (option) => ({
    message: 'listen(): with HTTP.SYS workers of node:cluster share no prefix, because it goes with the worker that ' +
      'registered it. Give them different prefixes, or a port, which their primary shares out',
    option
  }))

exports.PeerVersionError = declare('ERR_HTTPSYS_PEER_VERSION', Error,
  /** @param {number} port @param {number} pid @param {number} oldest @param {number} newest */
  (port, pid, oldest, newest) => ({
    message: `Port ${port} is shared by process ${pid}, whose version of httpsys speaks the peer protocols ${oldest} to ${newest}, ` +
      'none of which this one does. Run versions that are at most one protocol apart',
    port,
    pid
  }))

exports.CoordinatorError = declare('ERR_HTTPSYS_PORT_COORDINATOR', Error,
  /** @param {number} port @param {number} pid */
  (port, pid) => ({
    message: pid === 0
      ? `Nobody answers at the name of port ${port}, under which its processes meet, and somebody has it. As root, see who it is with ` +
        '"ss -xap | grep -F httpsys/1/", and end it'
      : `Process ${pid}, which coordinates port ${port}, has not answered for 3 s. It may be stopped or overloaded; ` +
        'end it or let it go on, then try again',
    port,
    pid
  }))

exports.PortNameError = declare('ERR_HTTPSYS_PORT_NAME', Error,
  /** @param {number} port @param {string} problem @param {string} prefix @param {{ uid?: number, pid: number }} who */
  (port, problem, prefix, { uid, pid }) => ({
    message: `${prefix || `Port ${port}`} cannot be registered: ${problem}`,
    port,
    prefix,
    uid,
    pid,
    syscall: 'listen'
  }))

exports.ReservationFileError = declare('ERR_HTTPSYS_URLACL', Error,
  /** @param {string} file @param {string} problem @param {string} cure @param {unknown} [cause] */
  (file, problem, cure, cause) => ({
    message: `The reservations in ${file} cannot be used: ${problem}. ${cure}`,
    file,
    cause
  }))

exports.TlsTermsError = declare('ERR_HTTPSYS_TLS_TERMS', Error,
  /** @param {string} mine @param {string} prefix @param {number} pid */
  (mine, prefix, pid) => ({
    message: `Clients of ${mine} would be asked for certificates by other rules than those of ${prefix}, which process ${pid} has: ` +
      'clients name a host when they connect, and these two have the same one. Nothing was changed. Give both the same requestCert, ' +
      'rejectUnauthorized, ca and crl, and no SNICallback, or move one of them to another host or port',
    prefix,
    pid
  }))

exports.ServiceStateError = declare('ERR_HTTPSYS_SERVICE_STATE', Error,
  /** @param {number} port @param {string} problem */
  (port, problem) => ({ message: `Port ${port} did not tell its state: ${problem}`, port }))

/**
 * @typedef {object} LoadFailure
 * @property {string} platform on which this process runs
 * @property {{ name: string, error: Error }[]} failures of each file or package that was tried, in this order
 * @property {string} folder of core-native
 * @property {string[]} installed platforms whose packages are installed
 */

/** @param {LoadFailure} failure @returns {string} */
function cureOf ({ platform, failures, folder, installed }) {
  if (failures.some(({ error }) => /** @type {NodeJS.ErrnoException} */ (error).code === 'ERR_DLOPEN_DISABLED')) {
    return '  Node\'s permission model forbids addons: add --allow-addons, or leave --permission (--experimental-permission) out.'
  }
  if (failures[0]?.name.startsWith('HTTPSYS_ADDON=')) return '  Name a file of this version and platform, or none.'
  const others = installed.filter((name) => name !== platform)
  return [
    ...(others.length === 0 || installed.includes(platform)
      ? []
      : [`  The package of ${others.join(' and ')} is there: node_modules comes from another platform. Run npm install on this one.`]),
    '  npm install --include=optional     installs it; if package-lock.json was made on another platform, delete it and node_modules first',
    `  cd "${folder}" && npm run build     compiles it here; needs a C++20 compiler, make and Python 3`,
    '  HTTPSYS_BACKEND=node               chooses stock Node instead'
  ].join('\n')
}

/**
 * Shortens the cause of a load error to one line, without the stack of Node's loader: our message has all details.
 *
 * @param {(Error & { requireStack?: unknown }) | undefined} error
 */
function onOneLine (error) {
  if (error === undefined) return undefined
  error.stack = `${error.name}: ${error.message.split('\n')[0]}`
  delete error.requireStack
  return error
}

exports.NativeLoadError = declare('ERR_HTTPSYS_NATIVE_LOAD', Error,
  /** @param {LoadFailure} failure */
  (failure) => ({
    message: `The native part for ${failure.platform} could not be loaded into Node.js ${process.version}:\n` +
      `${failure.failures.map(({ name, error }) => `  ${name}: ${error.message.split('\n')[0]}\n`).join('')}${cureOf(failure)}`,
    // The first failure that is not a missing module explains more than a missing package does.
    cause: onOneLine((failure.failures.find(({ error }) => /** @type {NodeJS.ErrnoException} */ (error).code !== 'MODULE_NOT_FOUND') ?? failure.failures[0])?.error),
    platform: failure.platform
  }))

exports.UnsupportedRuntimeError = declare('ERR_HTTPSYS_UNSUPPORTED_RUNTIME', Error,
  /** @param {string} runtime its name, or the version of Node */
  (runtime) => ({
    message: /^v\d/.test(runtime)
      ? `@httpsys/core-native needs Node 20 or newer; this is ${runtime}`
      : `@httpsys/core-native runs on Node.js 20 and later, not on ${runtime}. HTTPSYS_BACKEND=node uses the runtime's own node:http instead`,
    runtime
  }))

exports.InternalsError = declare('ERR_HTTPSYS_NODE_INTERNALS', Error,
  /** @param {string} member */
  (member) => ({
    message: `This Node.js (${process.version}) lacks ${member}, which @httpsys/core-native builds on. Use a Node.js ` +
      'version that the package lists as supported, or HTTPSYS_BACKEND=node',
    member
  }))

exports.WsInternalsError = declare('ERR_HTTPSYS_WS_INTERNALS', Error,
  /** @param {string} version @param {string} member */
  (version, member) => ({
    message: `ws ${version} lacks ${member}, which @httpsys/websocket builds on. Install ws 8.23, or attach() a server of ` +
      'ws itself',
    member
  }))

exports.EnvironmentError = declare('ERR_HTTPSYS_ENVIRONMENT', TypeError,
  /** @param {string} variable @param {string} problem a predicate */
  (variable, problem) => ({ message: `The environment variable ${variable} ${problem}`, variable }))

/** @param {string} variable @param {string} value @param {string} expected */
exports.variableMustBe = function variableMustBe (variable, value, expected) {
  return new exports.EnvironmentError(variable, `must be ${expected}. Received ${JSON.stringify(value)}`)
}

exports.BodyTooLargeError = declare('ERR_HTTPSYS_BODY_TOO_LARGE', Error,
  /** @param {string} [limit] */
  (limit = 'maxRequestBodySize') => ({ message: `The request body is longer than ${limit}` }))

exports.BodyBegunError = declare('ERR_HTTPSYS_BODY_BEGUN', Error,
  () => ({
    message: 'req.maxRequestBodySize cannot be set any more: somebody has begun to read the body of the request, or its response has ' +
      'finished. Set it at the beginning of the handler, before middleware that reads the body'
  }))
