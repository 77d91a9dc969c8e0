'use strict'

// Mistakes, and what their errors tell: what was wrong, where, and something to type that works.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { describe, it, test } = require('node:test')
const { createAdapter } = require('@httpsys/express-adapter')
const core = require('..')
const { NativeLoadError } = require('../lib/base/errors')
const { checkRuntime } = require('../lib/base/runtime')
const { holderOf, pidOf } = require('../lib/backend/port-holder')
const { kForDevelopers, kForUsers, warnOfUnknownVariables } = require('../lib/options/variables')
const { certificate } = require('../../../test/helpers/certificates')

const kRoot = path.resolve(__dirname, '../../..')
const server = () => /** @type {any} */ (core.createServer())

/** @param {() => any} mistake @returns {Promise<any>} the error, thrown or emitted by the server that is returned */
async function errorOf (mistake) {
  let made
  try {
    made = mistake()
  } catch (error) {
    return error
  }
  const heard = await Promise.race([once(made, 'error'), once(made, 'listening').then(() => [new Error('it listens')])])
  made.close()
  return heard[0]
}

const kPrefix = 'http://*:8080/red/'
/** @type {[mistake: string, make: () => any, tells: RegExp | string, code: string][]} */
const kMistakes = [
  ["listen('localhost:8080')", () => server().listen('localhost:8080'), 'write "http://localhost:8080/"', 'ERR_HTTPSYS_PREFIX_SYNTAX'],
  ["listen('*:8080')", () => server().listen('*:8080'), 'write "http://*:8080/"', 'ERR_HTTPSYS_PREFIX_SYNTAX'],
  ["listen('example.test:80/shop')", () => server().listen('example.test:80/shop'), 'write "http://example.test:80/shop/"', 'ERR_HTTPSYS_PREFIX_SYNTAX'],
  ["listen({ path: 'localhost:8080' })", () => server().listen({ path: 'localhost:8080' }), 'write "http://localhost:8080/"', 'ERR_HTTPSYS_PREFIX_SYNTAX'],
  ["listen('h:99999')", () => server().listen('h:99999'), '"./h:99999" if it is wanted', 'ERR_HTTPSYS_PREFIX_SYNTAX'],
  ["listen('http//*:8080/x')", () => server().listen('http//*:8080/x'), 'write "http://*:8080/x/"', 'ERR_HTTPSYS_PREFIX_SYNTAX'],
  ["listen('http:/*:8080/x')", () => server().listen('http:/*:8080/x'), 'write "http://*:8080/x/"', 'ERR_HTTPSYS_PREFIX_SYNTAX'],
  ["listen('http:localhost:8080/')", () => server().listen('http:localhost:8080/'), 'write "http://localhost:8080/"', 'ERR_HTTPSYS_PREFIX_SYNTAX'],
  ["listen('http:8080')", () => server().listen('http:8080'), 'write "http://*:8080/"', 'ERR_HTTPSYS_PREFIX_SYNTAX'],
  ["listen('HTTP://h:1/')", () => server().listen('HTTP://h:1/'), 'write "http://h:1/"', 'ERR_HTTPSYS_PREFIX_SYNTAX'],
  ["listen('http://::1:8080/')", () => server().listen('http://::1:8080/'), 'an IPv6 address stands in brackets; write "http://[::1]:8080/"', 'ERR_HTTPSYS_PREFIX_SYNTAX'],
  ["listen('http://2001:db8::1/')", () => server().listen('http://2001:db8::1/'), 'write "http://[2001:db8::1]:80/"', 'ERR_HTTPSYS_PREFIX_SYNTAX'],
  ['listen(prefix, host) of another host', () => server().listen(kPrefix, '127.0.0.1'), 'the host is part of the prefix, and "127.0.0.1" is another one; write "http://127.0.0.1:8080/red/"', 'ERR_HTTPSYS_LISTEN_ARGS'],
  ['listen({ prefix, host }) of another host', () => server().listen({ prefix: kPrefix, host: '::1' }), /write "http:\/\/\[::1\]:8080\/red\/".*serverFactory/, 'ERR_HTTPSYS_LISTEN_ARGS'],
  ['listen({ port: prefix, host }) of another host', () => server().listen({ port: kPrefix, host: 'h.test' }), 'write "http://h.test:8080/red/"', 'ERR_HTTPSYS_LISTEN_ARGS'],
  ['listen({ prefix, port })', () => server().listen({ prefix: kPrefix, port: 8080 }), '"port" is already said by the prefix', 'ERR_HTTPSYS_LISTEN_ARGS'],
  ['key and cert without https', () => server().listen('http://127.0.0.1:8080/', { key: 'k', cert: 'c' }), 'Write "https://127.0.0.1:8080/", or leave key and cert out', 'ERR_HTTPSYS_OPTION'],
  ['forwardedPrefix without stripPrefix', () => server().listen(kPrefix, { forwardedPrefix: true }), 'listen() without "stripPrefix: true"', 'ERR_HTTPSYS_OPTION'],
  ['forwardedPrefix of createServer()', () => core.createServer(/** @type {any} */ ({ forwardedPrefix: true })), 'it belongs to listen() with a prefix', 'ERR_HTTPSYS_OPTION'],
  ['a path for a certificate', () => core.https.createServer({ key: '/etc/a.key', cert: '/etc/a.pem' }), '"cert" begins with "/etc/a.pem": that is a path. Pass fs.readFileSync(path)', 'ERR_OSSL_PEM_NO_START_LINE'],
  ['a path for a key', () => core.https.createServer({ ...certificate('localhost'), key: 'server.key' }), '"key" begins with "server.key": that is a path', 'ERR_OSSL_UNSUPPORTED'],
  ['DER for a certificate', () => server().listen('https://127.0.0.1:1/', { ...certificate('localhost'), cert: Buffer.from([0x30, 0x82, 1, 1]) }), '"cert" is DER. Convert it to PEM: openssl x509 -inform der', 'ERR_OSSL_PEM_NO_START_LINE'],
  ['a text that is no key', () => server().listen('https://127.0.0.1:1/', { ...certificate('localhost'), key: 'secret' }), /^"key" is no PEM, which begins with "-----BEGIN " \((?!.*secret)/, 'ERR_OSSL_UNSUPPORTED'],
  ["static('public')", () => /** @type {any} */ (createAdapter(() => {})).static('public'), "Write static('/', \"public\")", 'ERR_INVALID_ARG_VALUE'],
  ['serveFiles() of a folder that is not there', () => server().serveFiles('/f/', 'nope/nor/this'), `The folder ${path.resolve('nope/nor/this')} ("nope/nor/this", from the working directory) does not exist; ${process.cwd()} does`, 'ERR_HTTPSYS_FILES'],
  ['setHeaders of serveFiles()', () => server().serveFiles('/f/', '.', { setHeaders () {} }), 'a function cannot run on an I/O thread; "headers" takes fixed values', 'ERR_HTTPSYS_OPTION'],
  ['setCachePolicy() of no response', () => core.setCachePolicy(/** @type {any} */ ({}), { policy: 'none' }), 'The "res" argument must be a response of a server of @httpsys/core-native', 'ERR_INVALID_ARG_TYPE'],
  ['Node 18', () => checkRuntime('node', { node: '18.20.8' }), '@httpsys/core-native needs Node 20 or newer; this is v18.20.8', 'ERR_HTTPSYS_UNSUPPORTED_RUNTIME'],
  ['the permission model', () => { throw new NativeLoadError({ platform: 'linux-x64-gnu', failures: [{ name: 'a', error: Object.assign(new Error('loading addons is disabled'), { code: 'ERR_DLOPEN_DISABLED' }) }], folder: '/a', installed: [] }) }, 'add --allow-addons', 'ERR_HTTPSYS_NATIVE_LOAD']
]

describe('A mistake is told with what helps:', { skip: core.backend !== 'engine' }, () => {
  for (const [mistake, make, tells, code] of kMistakes) {
    it(mistake, async () => {
      const error = await errorOf(make)
      assert.ok(typeof tells === 'string' ? error.message.includes(tells) : tells.test(error.message), error.message)
      assert.equal(error.code, code)
      assert.ok(error.stack.includes(error.message), 'what is printed says the same')
    })
  }
})

test('what Node leaves to the path of a Unix socket stays one', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-mistakes-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  for (const name of ['app:80', 'https']) {
    const one = server().listen(path.join(folder, name))
    await once(one, 'listening')
    assert.equal(one.address(), path.join(folder, name))
    one.close()
  }
})

test('forms in which programs pass a prefix for their port are taken, where nothing contradicts it', async () => {
  const { classifyListen } = require('../lib/listen/listen-args')
  for (const args of /** @type {unknown[][]} */ ([[kPrefix, '0.0.0.0'], [kPrefix, '::', () => {}], [kPrefix, undefined, () => {}], [kPrefix, ''], [{ port: kPrefix }],
    [{ port: kPrefix, host: undefined }], [{ port: kPrefix, host: '0.0.0.0' }, () => {}], [{ path: kPrefix }], [{ prefix: kPrefix, host: 'localhost' }],
    [{ prefix: 'http://[::1]:8080/red/', host: '::1' }], [{ prefix: 'http://h.test:8080/red/', host: 'h.test' }]])) {
    const plan = /** @type {any} */ (classifyListen(args))
    assert.equal(plan.kind, 'prefixes', JSON.stringify(args))
    assert.equal(plan.prefixes[0].path, '/red/')
  }
})

test('register is found beside the adapter, too', () => {
  // In a process of its own: it takes the place of node:http.
  const program = "console.log(require('@httpsys/express-adapter/register') === require('@httpsys/core-native/register'))"
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', program], { cwd: kRoot, encoding: 'utf8' })
  assert.equal(stdout, 'true\n', stderr)
})

test('EADDRINUSE of a prefix says who has the port and shares it with nobody', async (t) => {
  const other = net.createServer().listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (other.address())
  const error = await errorOf(() => server().listen(`http://127.0.0.1:${port}/`))
  assert.equal(error.code, 'EADDRINUSE')
  if (process.platform === 'linux') assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${port}, by process ${process.pid}, which does not share it with others$`))
  // Programs know Node's own text.
  assert.match((await errorOf(() => server().listen(port, '127.0.0.1'))).message, new RegExp(`^listen EADDRINUSE: address already in use 127\\.0\\.0\\.1:${port}$`))
})

/** @param {import('node:test').TestContext} t @param {string[]} rows @returns {string[]} tables as those of /proc/net */
function tablesOf (t, rows) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-tables-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const table = path.join(folder, 'tcp')
  fs.writeFileSync(table, `header\n${rows.join('')}`)
  return [table, path.join(folder, 'missing')]
}

/** @param {string} hex as a little-endian machine writes an address */
const hexAddress = (hex) => os.endianness() === 'LE' ? hex : Buffer.from(hex, 'hex').swap32().toString('hex').toUpperCase()

/** @param {number} uid @param {string} [local] @param {string} [state] */
const row = (uid, local = `${hexAddress('0100007F')}:1F90`, state = '0A') =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000 ${String(uid).padStart(5)}        0 4711 1 0000000000000000 100 0 0 10 0\n`

test('of several that listen on a port, the one of another user is named', (t) => {
  const own = process.geteuid?.() ?? 0
  const tables = tablesOf(t, [row(own), row(own + 1), row(own + 2, undefined, '01')])
  assert.deepEqual(holderOf('127.0.0.1', 8080, { tables }), { uid: own + 1, inode: '4711' })
  assert.equal(holderOf('127.0.0.1', 8081, { tables }), null)
  assert.equal(holderOf('127.0.0.1', 8080, { tables: tablesOf(t, ['nonsense\n', '\n', ' 0: :1F90 x 0A\n', row(1, '1F90')]) }), null)
})

test('a port is held only by who listens on an address that is in the way', (t) => {
  const kAddresses = { any4: '00000000', any6: '0'.repeat(32), one4: '0100007F', one6: `${'0'.repeat(24)}01000000`, mapped: `${'0'.repeat(16)}FFFF00000100007F` }
  /** @type {[asked: string, by: string[]][]} */
  const cases = [
    ['127.0.0.1', ['any4', 'any6', 'one4', 'mapped']],
    ['::ffff:127.0.0.1', ['any4', 'any6', 'one4', 'mapped']],
    ['127.0.0.2', ['any4', 'any6']],
    ['0.0.0.0', ['any4', 'any6', 'one4', 'mapped']],
    ['::1', ['any6', 'one6']],
    ['fe80::1%lo', ['any6']],
    ['::', ['any4', 'any6', 'one4', 'one6', 'mapped']]
  ]
  for (const [asked, by] of cases) {
    const found = Object.entries(kAddresses).filter(([, address]) => holderOf(asked, 8080, { tables: tablesOf(t, [row(1, `${hexAddress(address)}:1F90`)]) }) !== null)
    assert.deepEqual(found.map(([name]) => name), by, asked)
  }
})

test('descriptors of other processes are looked at only where a message names a process, and not for ever', { skip: process.platform !== 'linux' && '/proc' }, async (t) => {
  const other = net.createServer().listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (other.address())
  const opened = t.mock.method(fs, 'opendirSync').mock
  const searches = () => opened.calls.filter(({ arguments: [name] }) => name === '/proc').length
  assert.equal((await errorOf(() => server().listen(port, '127.0.0.1'))).code, 'EADDRINUSE')
  assert.equal(searches(), 0, 'a program that looks for a free port')
  // Members of the port may be about to meet: it is tried again and again.
  assert.equal((await errorOf(() => server().listen(`http://127.0.0.1:${port}/`))).code, 'EADDRINUSE')
  assert.equal(searches(), 1)
  const looked = t.mock.method(fs, 'readlinkSync', () => '').mock
  let now = 0
  t.mock.method(performance, 'now', () => (now += 40))
  assert.equal(pidOf({ uid: 0, inode: '1' }), 0)
  assert.ok(looked.callCount() <= 3, `${looked.callCount()} descriptors`)
})

test('a process of another user that has the port is named by its uid', { skip: process.geteuid?.() !== 0 && 'needs root' }, async (t) => {
  const { spawn } = require('node:child_process')
  // It changes its user by itself: another user may be unable to run Node, such as one that is installed in the folder of root.
  const program = `process.setuid(65534)
    const s = require('net').createServer().listen(0, '127.0.0.1', () => console.log(s.address().port))`
  const child = spawn(process.execPath, ['-e', program], { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill())
  const port = Number((await once(child.stdout, 'data'))[0])
  for (const [place, who] of /** @type {[any[], string][]} */ ([[[port, '127.0.0.1'], 'a process'], [[`http://127.0.0.1:${port}/`], `process ${child.pid}`]])) {
    assert.match((await errorOf(() => server().listen(...place))).message, new RegExp(`held by ${who} of another user \\(uid 65534\\)\\. Processes of one user share a port: https:`))
  }
})

test('an unknown variable is named in a warning, with the one that was probably meant', async (t) => {
  t.mock.method(process, 'emitWarning', (/** @type {unknown[]} */ ...args) => warnings.push(args))
  /** @type {unknown[][]} */
  const warnings = []
  const known = Object.fromEntries([...kForUsers, ...kForDevelopers].map((name) => [name, '']))
  warnOfUnknownVariables({ ...known, HTTPSYS_BACKED: 'node', HTTPSYS_QUITE_ANOTHER_ONE: '', ERR_HTTPSYS_A: '' })
  const code = 'HTTPSYS_UNKNOWN_VARIABLE'
  assert.deepEqual(warnings, [
    ['HTTPSYS_BACKED is no variable of httpsys; did you mean HTTPSYS_BACKEND?', { code }], ['HTTPSYS_QUITE_ANOTHER_ONE is no variable of httpsys', { code }]
  ])
})

test('createServer() warns once of what is nearly an option of Node, and of nothing else', async (t) => {
  t.mock.method(process, 'emitWarning', (/** @type {string} */ text) => warnings.push(text))
  /** @type {string[]} */
  const warnings = []
  for (let i = 0; i < 2; i++) core.createServer(/** @type {any} */ ({ keepAliveTimeot: 5, timeouts: 1, keepAlive: true, name: 'a' }))
  assert.deepEqual(warnings, ['createServer() ignores "keepAliveTimeot"; did you mean "keepAliveTimeout"?'])
})

test('a conflict that nobody listens for is printed as that of a port, with a place and the message', { skip: core.backend !== 'engine' }, async (t) => {
  const first = server().listen(0, '127.0.0.1')
  t.after(() => first.close())
  await once(first, 'listening')
  const { port } = first.address()
  const { stderr } = await new Promise((resolve) => {
    const program = `require('@httpsys/core-native').createServer().listen('http://127.0.0.1:${port}/')`
    require('node:child_process').execFile(process.execPath, ['-e', program], { cwd: kRoot }, (_, stdout, stderr) => resolve({ stderr }))
  })
  assert.match(stderr, /^node:events:\d+\n +throw er; \/\/ Unhandled 'error' event\n/)
  assert.match(stderr, new RegExp(`Error: listen EADDRINUSE: http://127\\.0\\.0\\.1:${port}/ is already registered by process ${process.pid}`))
})

test('too few descriptors for the I/O threads: the limit is named', { skip: (core.backend !== 'engine' || process.platform !== 'linux') && 'ulimit' }, () => {
  const program = `
    const core = require('@httpsys/core-native'), fs = require('node:fs')
    core.createServer; require('./packages/core-native/lib/backend/binding').loadBinding()
    const held = []; try { for (;;) held.push(fs.openSync('/dev/null')) } catch {}
    for (const fd of held.splice(0, 3)) fs.closeSync(fd)
    try { core.createServer().listen('http://127.0.0.1:1/') } catch (error) { for (const fd of held) fs.closeSync(fd); console.log(error.message) }
    process.exit()`
  const { stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -n 60 && exec "$0" -e "$1"', process.execPath, program], { cwd: kRoot, encoding: 'utf8' })
  assert.match(stdout, /I\/O threads cannot be started: too many open files: the limit of open files(?: is 60)? \(ulimit -n, LimitNOFILE= of systemd\)/, stderr)
})
