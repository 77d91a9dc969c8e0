'use strict'

// Defines the commands, their help and their exit codes: 0 done, 1 failed, 2 not understood.

const { Command, CommanderError, InvalidArgumentError } = require('commander')
const { version } = require('../package.json')
const { deleteCache, showCachestate } = require('./cache')
const { serve, untilStopped } = require('./serve')
const { addUrlacl, deleteUrlacl, showUrlacl } = require('./urlacl')
const { showServiceState } = require('./show-service-state')
const { addSslcert, deleteSslcert, showSslcert, updateSslcert } = require('./sslcert')
const {
  addSystemSslcert, addSystemUrlacl, deleteSystemSslcert, deleteSystemUrlacl, isSystem, showSystemSslcert, showSystemUrlacl, updateSystemSslcert
} = require('./system')

/** @typedef {import('./context').Context} Context */

const kFailed = 1
const kNotUnderstood = 2
/** Codes of errors about the typed command; they lead to the exit code kNotUnderstood. */
const kMistakes = [
  'ERR_HTTPSYS_OPTION', 'ERR_HTTPSYS_PREFIX_SYNTAX', 'ERR_INVALID_ARG_VALUE', 'ERR_INVALID_CHAR', 'ERR_INVALID_HTTP_TOKEN', 'ERR_OUT_OF_RANGE'
]

/**
 * @param {string[]} args without node and script
 * @param {Partial<Context>} [context] for tests
 * @returns {Promise<number>} the exit code
 */
async function run (args, context = {}) {
  const {
    out = (text) => { process.stdout.write(text) }, err = (text) => { process.stderr.write(text) }, ...rest
  } = context
  const full = { out, err, untilStopped, ...require('@httpsys/core-native/service-state'), ...rest }
  let code = 0
  const program = describe(full, (/** @type {number} */ failed) => { code = failed })
  try {
    if (args[0] === 'help' && args.length > 2) showHelp(program, args.slice(1))
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    // commander has already printed this error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : kNotUnderstood
    const { code: name, message } = /** @type {NodeJS.ErrnoException} */ (error)
    err(`httpsys: ${message}\n`)
    return name !== undefined && kMistakes.includes(name) ? kNotUnderstood : kFailed
  }
}

/**
 * Prints the help of a command with several words; commander's own help command reads only the first word.
 *
 * @param {Command} program
 * @param {string[]} path words of the command, such as add, sslcert
 * @returns {never}
 */
function showHelp (program, path) {
  let command = program
  for (const word of path) {
    const next = command.commands.find((one) => one.name() === word)
    if (next === undefined) return command.error(`error: unknown command '${word}'`)
    command = next
  }
  return command.help()
}

/** @param {Context} context @param {(code: number) => void} exitWith */
function describe (context, exitWith) {
  const program = new Command('httpsys')
    .description('Serves folders, shows which applications listen on which URL prefixes, reserves prefixes for applications, and binds certificates.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help for a command')
    .helpCommand('help [command...]', 'print help for a command')
    .configureOutput({ writeOut: context.out, writeErr: context.err, outputError: (text, write) => write(text.replace(/^error: /, 'httpsys: ')) })
    .configureHelp({ helpWidth: 100 })
    .exitOverride()
    .showHelpAfterError('(--help says more)')
    .addHelpText('after', kProgramHelp)

  describeServe(program, context)
  const show = program.command('show').summary('print what listens, what is reserved, or bound')
    .description('Prints what listens, what is reserved, or which certificates are bound.')
  show.command('servicestate').summary('ports, prefixes, their applications and counters')
    .description('Prints every URL prefix that is registered now, with its application, its queue and its counters.')
    .option('-p, --port <number>', 'only this port', readPort)
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', kServiceStateHelp)
    .action(async (options) => { if (!await showServiceState(context, options)) exitWith(kFailed) })
  show.command('cachestate').summary('stored answers of output caches')
    .description('Prints the answers that the output caches of this user\'s applications have stored.')
    .argument('[url]', 'only for this URL and everything below it, such as http://*:8080/news/; "*" is every host')
    .option('-p, --port <number>', 'only of this port; that of the URL unless it is given', readPort)
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', kCacheHelp)
    .action(async (url, options) => { if (!await showCachestate(context, url, options)) exitWith(kFailed) })
  show.command('urlacl').summary('reserved prefixes and who may register them')
    .description('Prints the reserved URL prefixes and who may register them.')
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', kFileHelp)
    .action((options) => (isSystem() ? showSystemUrlacl : showUrlacl)(context, options))
  show.command('sslcert').summary('certificates bound to hosts and ports')
    .description('Prints the certificates that are bound to hosts and ports.')
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', kCertificateHelp)
    .action((options) => (isSystem() ? showSystemSslcert : showSslcert)(context, options))

  const add = program.command('add').summary('reserve a prefix, or bind a certificate')
    .description('Reserves a prefix, or binds a certificate.')
  describeBinding(add, 'bind a certificate', context, { system: addSystemSslcert, files: addSslcert })
    .description('Binds a certificate to a host and port: applications may then listen on https:// there without naming a key.')
  add.command('urlacl').summary('reserve a prefix')
    .description('Reserves a URL prefix: only the named applications and users may register it and what lies below it.')
    .argument('<prefix>', 'such as http://*:8080/shop/')
    .option('-a, --app <name>', 'may register: the application of this name; may be given several times', collect)
    .option('--sddl <descriptor>', 'on Windows instead: who may register, as a security descriptor')
    .option('-u, --user <name or uid>', 'may register: every process of this user; may be given several times', collect)
    .option('-d, --delegate', 'the same may reserve prefixes below it')
    .option('-c, --comment <text>', 'why; kept in the file')
    .option('--as <app>', 'reserve as this application, which needs the delegate right, not as administrator')
    .addHelpText('after', kAddHelp + kFileHelp)
    .action((prefix, options, command) => {
      if (options.sddl !== undefined) return addSystemUrlacl(context, prefix, options)
      if (options.app === undefined && options.user === undefined) command.error('error: name who may register it, with --app or --user')
      addUrlacl(context, prefix, options)
    })

  const update = program.command('update').summary('replace the binding of a certificate')
    .description('Replaces the binding of a certificate.')
  describeBinding(update, 'bind another certificate', context, { system: updateSystemSslcert, files: updateSslcert })
    .description('Binds another certificate to a host and port in one step: running applications have one all the time.')

  const remove = program.command('delete').summary('take a reservation or a binding back, or empty a cache')
    .description('Takes a reservation or a binding back, or empties output caches.')
  remove.command('cache').summary('make output caches forget stored answers')
    .description('Makes the output caches of this user\'s applications forget a URL; without one, everything.')
    .argument('[url]', 'such as http://*:8080/news/; "*" is every host')
    .option('-r, --recursive', 'and everything below it')
    .option('-p, --port <number>', 'only of this port; that of the URL unless it is given', readPort)
    .addHelpText('after', kCacheHelp)
    .action(async (url, options) => { if (!await deleteCache(context, url, options)) exitWith(kFailed) })
  remove.command('sslcert').summary('take the binding of a certificate back')
    .description('Takes the binding of a certificate back. A running application that has no other one keeps it until one is bound.')
    .argument('<host:port>', 'as "httpsys show sslcert" prints it')
    .addHelpText('after', kCertificateHelp)
    .action((endpoint) => (isSystem() ? deleteSystemSslcert : deleteSslcert)(context, endpoint))
  remove.command('urlacl').summary('take a reservation back')
    .description('Takes the reservation of a URL prefix back. Reservations below it stay.')
    .argument('<prefix>', 'as "httpsys show urlacl" prints it')
    .option('--as <app>', 'delete as this application, which needs the delegate right above it, not as administrator')
    .addHelpText('after', kFileHelp)
    .action((prefix, options) => {
      isSystem() ? deleteSystemUrlacl(context, prefix) : deleteUrlacl(context, prefix, options)
    })
  return program
}

/**
 * Defines a command that binds a certificate.
 *
 * @param {Command} parent
 * @param {string} summary
 * @param {Context} context
 * @param {{ system: typeof addSystemSslcert, files: typeof addSslcert }} actions
 * @returns {Command}
 */
function describeBinding (parent, summary, context, { system, files }) {
  return parent.command('sslcert').summary(summary)
    .argument('<host:port>', 'such as shop.example:8443, or *:8443 for every host')
    .option('--cert <file>', 'the certificate and those between it and its root, PEM')
    .option('--key <file>', 'its key, PEM')
    .option('--certhash <hex>', 'on Windows instead: the thumbprint of a certificate in its store')
    .option('--certstore <name>', 'on Windows: the store, otherwise MY')
    .option('-c, --comment <text>', 'kept in the file')
    .addHelpText('after', kCertificateHelp)
    .action((endpoint, options, command) => {
      if (options.certhash !== undefined) return system(context, endpoint, options)
      if (options.cert === undefined || options.key === undefined) command.error('error: name the certificate, with --cert and --key')
      files(context, endpoint, options)
    })
}

/** @param {Command} program @param {Context} context */
function describeServe (program, context) {
  program.command('serve').summary('serve the files of a folder')
    .description('Serves the files of a folder at a URL prefix, until Ctrl+C.')
    .argument('<folder>', 'whose files are served')
    .argument('[prefix]', 'where; http://*:8080/ unless it is given')
    .option('-i, --index <names>', 'file names to try for a folder, separated by commas (default: index.html)', readNames)
    .option('--no-index', 'no file stands for a folder')
    .option('--dotfiles <what>', 'names that begin with a dot: ignore (404), deny (403) or allow; ignore unless it is given')
    .option('--extensions <names>', 'tried for names without one, separated by commas, such as html', readNames)
    .option('-m, --max-age <time>', 'for which clients keep files, such as 90s, 12h or 7d; 0 unless it is given')
    .option('--immutable', 'files never change within that time')
    .option('--precompressed [codings]', 'send a.js.br, a.js.zst or a.js.gz for a.js; all, or some of br,zstd,gzip', readNames)
    .option('--symlinks', 'follow symbolic links that stay within the folder')
    .option('--header <rule>', 'add a field to files: "<extension, name or glob> <field>: <value>"; may be given several times', readHeader)
    .option('--no-cache-control', 'send no Cache-Control')
    .option('--no-etag', 'send no ETag')
    .option('--no-last-modified', 'send no Last-Modified')
    .option('--no-ranges', 'answer no ranges')
    .option('--no-redirect', 'answer folders without their final slash with 404')
    .option('--dev-cert', 'with an https:// prefix: a certificate for development')
    .addHelpText('after', kServeHelp)
    .action((folder, prefix, options) => serve(context, folder, prefix, options))
}

/** @param {string} text */
function readNames (text) {
  return text.split(',').map((name) => name.trim()).filter((name) => name !== '')
}

/** @param {string} text @param {{ pattern: string, name: string, value: string }[]} [previous] */
function readHeader (text, previous = []) {
  const [, pattern, name, value] = /^(.*?\S) +([^ :]+): *(.*)$/.exec(text) ?? []
  if (value === undefined) throw new InvalidArgumentError('It must be like ".woff2 Access-Control-Allow-Origin: *".')
  return [...previous, { pattern, name, value }]
}

/** @param {string} value @param {string[]} [previous] */
function collect (value, previous = []) {
  return [...previous, value]
}

/** @param {string} text */
function readPort (text) {
  if (!/^[1-9]\d{0,4}$/.test(text) || Number(text) > 65535) throw new InvalidArgumentError('It must be a number from 1 to 65535.')
  return Number(text)
}

const kProgramHelp = `
Examples:
  httpsys serve public                                    the files of a folder at http://*:8080/
  httpsys show servicestate                               who listens where
  httpsys add urlacl 'http://*:8080/shop/' --app shop     keep a prefix for one application
  httpsys show urlacl                                     what is kept for whom
  httpsys delete urlacl 'http://*:8080/shop/'             release it

Exit codes: 0 done, 1 failed, 2 the command was not understood.
`

const kServeHelp = `
The I/O threads answer by themselves: 404 for what is not there, 405 for other methods than GET and
HEAD. Nothing outside the folder can be reached. A changed file is noticed within one second. An
https:// prefix needs a certificate: a bound one ("httpsys add sslcert"), or --dev-cert. Requests of
other prefixes of the port reach the applications that have registered these.

Examples:
  httpsys serve public
  httpsys serve dist 'http://*:8081/docs/' --max-age 7d --precompressed
  httpsys serve . 'https://localhost:8443/' --dev-cert --header '.js X-Robots-Tag: noindex'
`

const kServiceStateHelp = `
Columns:
  PREFIX       the URL prefix; "-" for a member that has none at the moment
  PID          of the process; after a slash, the number of its worker thread
  PROGRAM      the name that PM2, systemd or npm has for it, else its folder and file
  QUEUE        the name of its request queue; processes that name the same share it
  REQUESTS     given to the application since the prefix was registered
  QUEUED       waiting now / how many may wait
  REFUSED      answered with 503 because too many waited, or one waited too long
  CONNECTIONS  open now, each where its last request went; like the next column of the whole member
  HANDED OVER  connections given to the members that own the prefix asked for

Only ports of the current user can be asked. Exits with 1 when a port does not answer, or nothing
listens on the one named with --port.
`

const kCacheHelp = `
Columns:
  URL      with the Host of the request that was answered first
  POLICY   what says how long it is good: its header (or the default), timeToLive, userInvalidates
  SECONDS  its lifetime from CREATED on
  HITS     0 to 3: what decides who stays when room is needed
  HEAD     bytes, as the next column

Only ports of the current user can be asked. A member tells up to 1000 answers. On Windows HTTP.SYS
has the cache: netsh http show cachestate.

Examples:
  httpsys show cachestate 'http://*:8080/news/'
  httpsys delete cache 'http://*:8080/news/' --recursive
`

const kAddHelp = `
An application's name is the queueName it listens with, else its environment variable HTTPSYS_APP,
else the name that PM2, systemd or npm has for it, else its folder and file, such as shop/server.js:
what "httpsys show servicestate" prints as PROGRAM.

Examples:
  httpsys add urlacl 'http://*:8080/shop/' --app shop --app shop-admin
  httpsys add urlacl 'http://*:8080/shop/' --app shop --delegate
  httpsys add urlacl 'http://*:8080/shop/beta/' --app beta --as shop
`

const kFileHelp = `
Reservations are kept in $HTTPSYS_URLACL, else $XDG_CONFIG_HOME/httpsys/urlacl.json, else
~/.config/httpsys/urlacl.json, which may be edited by hand. Changes apply to running applications.
They prevent mistakes between applications of one user and are no security boundary.
`

const kCertificateHelp = `
Bindings are kept in $HTTPSYS_SSLCERT, else $XDG_CONFIG_HOME/httpsys/sslcert.json, else
~/.config/httpsys/sslcert.json, which may be edited by hand. They name files; applications that
listen read these, so their user must be allowed to. Changes of the bindings and of the files apply
to new connections of running applications.
`

module.exports = { run }
