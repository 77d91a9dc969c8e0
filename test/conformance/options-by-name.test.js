'use strict'

// Goal: in Node's own forms, every option that is not ours means what it means to stock Node; one of ours, or nearly one, is never
// ignored in silence. Both are asked of all names in all forms.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const nodeHttp = require('node:http')
const nodeHttps = require('node:https')
const path = require('node:path')
const { createAdapter } = require('@httpsys/express-adapter')
const { backend, http } = require('../helpers/backend')
const { freePort } = require('../helpers/free-port')
const table = require('../../packages/core-native/lib/options/table')
const { kTlsOptions } = require('../../packages/core-native/lib/options/tls-options')
const { namesToTry, outcomes } = require('../fixtures/option-forms')

const { https } = /** @type {any} */ (http)
const kFixture = path.join(__dirname, '..', 'fixtures', 'option-forms.js')
const kTimeout = 120_000

/** docs/tls.md says so: the lanes have none of these. */
const kRefusedOfNode = ['enableTrace', 'pskCallback', 'pskIdentityHint']
const ofTls = kTlsOptions.filter((name) => !['certificates', 'certificateDirectory', 'devCert'].includes(name))
const names = namesToTry().filter((name) => !kRefusedOfNode.includes(name))

/** @param {string[]} flags @param {string[]} [asked] @returns {Promise<any>} */
function inProcess (flags, asked = names) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...flags, kFixture, JSON.stringify(asked)],
      { env: { ...process.env, NODE_TEST_CONTEXT: undefined }, stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (piece) => { text += piece })
    child.on('error', reject)
    child.on('close', (code) => code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`exit ${code}`)))
  })
}

/** @param {Record<string, any>} outcomes @returns {Record<string, any>} without the words by which the engine names the option of a PEM that is none */
function withNodesWords (outcomes) {
  return Object.fromEntries(Object.entries(outcomes).map(([form, outcome]) => [form, typeof outcome === 'string' ? outcome.replace(/"\w+" is no PEM, .* \((error:.*)\)$/, '$1') : outcome]))
}

test('the names are those that Node reads', () => {
  for (const name of ['maxHeaderSize', 'noDelay', 'backlog', 'signal', 'cert', 'ALPNProtocols', 'minVersion', 'certificate']) {
    assert.ok(names.includes(name), name)
  }
})

test('names of Node and of others mean to servers what they mean to those of stock Node', { timeout: kTimeout }, async () => {
  const expected = await outcomes({ http: nodeHttp, https: nodeHttps }, names, { ofTls })
  const actual = await outcomes({ http, https }, names, { ofTls })
  assert.ok(Object.keys(expected).length > 1000)
  assert.deepEqual(withNodesWords(actual), expected)
})

test('the same names mean to a program below register what they mean without it, in all forms', { timeout: kTimeout, skip: backend === 'node' }, async () => {
  const expected = await inProcess([])
  const actual = await inProcess(['--require', path.join(__dirname, '../../packages/core-native/register.js')])
  assert.deepEqual(withNodesWords(actual), expected)
})

test('names of ours mean to a program below register, where they have no effect, what they mean without it', { timeout: kTimeout, skip: backend === 'node' }, async () => {
  /** Forms in which they have an effect. @type {[RegExp, string[]][]} */
  const effects = [
    [/^http\.createServer/, kServer], [/^https\.createServer/, [...kServer, ...kSources]],
    [/ listen\({ port/, [...kQueue, 'prefix', 'prefixes']], [/^listen\({ path/, ['prefix', 'prefixes']]
  ]
  const asked = [...Object.keys(kOurs), ...Object.keys(kOurs).map((name) => name.slice(0, -1))]
  const ineffective = (/** @type {Record<string, any>} */ all) => Object.fromEntries(Object.entries(all).filter(([form]) => {
    const name = /** @type {RegExpExecArray} */ (/(\w+): /.exec(form))[1]
    return !effects.some(([pattern, names]) => pattern.test(form) && names.includes(name))
  }))
  const expected = ineffective(await inProcess([], asked))
  const actual = ineffective(await inProcess(['--require', path.join(__dirname, '../../packages/core-native/register.js')], asked))
  assert.ok(Object.keys(expected).length > 300)
  assert.deepEqual(actual, expected)
})

const pair = () => require('../helpers/certificates').certificate('localhost')

/** @param {{ type: string, default?: unknown, least?: number, choices?: string[] }} entry of the table of options @returns {unknown} a value that the option takes */
function valueOf ({ type, default: byDefault, least = 0, choices }) {
  if (type === 'number') return Math.max(least, 1000)
  return choices === undefined ? !byDefault : choices[0]
}

/** All names of ours, each with a value that its own place takes. @type {Record<string, any>} */
const kOurs = {
  ...Object.fromEntries(Object.entries(table.server).map(([name, entry]) => [name, valueOf(entry)])),
  maxRequestBodySizeCeiling: 0, // Another value needs maxRequestBodySize beside it.
  forwardedPrefix: true, // Needs stripPrefix beside it.
  http2: true,
  httpSys: {},
  cache: true,
  certificates: [],
  certificateDirectory: '/nowhere',
  devCert: true,
  prefix: 'http://127.0.0.1:1/',
  prefixes: ['http://127.0.0.1:1/'],
  queueName: 'shop',
  queueMode: 'create',
  restart: true,
  waitMs: 1000
}
const kServer = Object.keys(table.server)
const kSources = ['certificates', 'certificateDirectory', 'devCert']
const kQueue = ['queueName', 'queueMode']
const kPaths = ['stripPrefix', 'forwardedPrefix']

/** What an option needs beside it. @type {Record<string, Record<string, unknown>>} */
const kNeeded = { waitMs: { restart: true }, forwardedPrefix: { stripPrefix: true } }

const hasValidation = 'httpValidation' in http.createServer()

/** @type {[string, string[], (options: any) => any][]} each with the names of ours that have an effect there */
const kForms = [
  ['http.createServer(options)', kServer, (options) => http.createServer(options)],
  ['new http.Server(options)', kServer, (options) => new http.Server(options)],
  ['https.createServer(options)', [...kServer, ...kSources], (options) => https.createServer(options)],
  ['createServer() of Node\'s lenient parser', [], (options) => http.createServer({ insecureHTTPParser: true, ...options })],
  ['createServer() of Node\'s relaxed parser, where Node has it', hasValidation ? [] : kServer, (options) => http.createServer({ httpValidation: 'relaxed', ...options })],
  ['createAdapter(app, options)', [...kServer, ...kSources], (options) => createAdapter(() => {}, options)],
  ['listen({ port, … })', kQueue, (options) => http.createServer().listen({ port: 0, ...options })],
  ['listen({ port, … }) of https', kQueue, (options) => https.createServer(pair()).listen({ port: 0, ...options })],
  ['listen({ path, … })', [], (options) => http.createServer().listen({ path: '/nowhere/s', ...options })],
  ['listen({ fd, … })', ['prefix', 'prefixes'], (options) => http.createServer().listen({ fd: 99999, ...options })],
  ['listen(port, options)', [], (options) => http.createServer().listen(0, options)],
  ['listen(port, host, options)', [], (options) => http.createServer().listen(0, '127.0.0.1', options)],
  ['listen(path, options)', [], (options) => http.createServer().listen('/nowhere/s', options)],
  ['listen(prefix, options) without TLS', [...kQueue, ...kPaths], (options) => http.createServer().listen('http://127.0.0.1:1/', options)],
  ['listen(prefixes, options) without TLS', [...kQueue, ...kPaths], (options) => http.createServer().listen(['http://127.0.0.1:1/'], options)],
  ['adapter.listen(port, options)', [...kQueue, ...kSources], (options) => createAdapter(() => {}).listen(0, options)],
  ['adapter.listen({ port, … })', [...kQueue, ...kSources], (options) => createAdapter(() => {}).listen({ port: 0, ...options })],
  ['adapter.listen(path, options)', kSources, (options) => createAdapter(() => {}).listen('/nowhere/s', options)],
  ['close(options)', ['restart', 'waitMs'], (options) => http.createServer().close(options)]
]

/** @param {(options: any) => any} form @param {any} options @returns {string} the code of its error */
function codeOf (form, options) {
  try {
    const made = form(options)
    const server = made.server ?? made
    server.on('error', () => {})
    if (server._handle || server.listening || options.path === undefined) server.close()
    return ''
  } catch (error) {
    const { code } = /** @type {any} */ (error)
    return code ?? String(error)
  }
}

test('all names of ours are known to this test', () => {
  const { kOurs: ours } = require('../../packages/core-native/lib/options/option-names')
  assert.deepEqual(ours.toSorted?.() ?? [...ours].sort(), Object.keys(kOurs).sort())
})

for (const [title, accepted, form] of kForms) {
  test(`${title} refuses names of ours that have no effect there`, (t) => {
    t.mock.method(process, 'emitWarning', () => {})
    for (const [name, value] of Object.entries(kOurs)) {
      const options = { ...(accepted.includes(name) && kNeeded[name]), [name]: value }
      const code = codeOf(form, options)
      if (accepted.includes(name)) assert.notEqual(code, 'ERR_HTTPSYS_OPTION', name)
      else assert.match(code, /^ERR_HTTPSYS_(OPTION|LISTEN_ARGS)$/, name)
      // What is not given is not there.
      if (name !== 'waitMs') assert.ok(['', 'ERR_HTTPSYS_LISTEN_ARGS'].includes(codeOf(form, { [name]: undefined })) || title.includes('path'), name)
    }
  })

  test(`${title} refuses names that are nearly ours`, () => {
    for (const name of Object.keys(kOurs)) {
      for (const wrong of misspellings(name)) {
        assert.match(codeOf(form, { [wrong]: kOurs[name] }), /^ERR_HTTPSYS_(OPTION|LISTEN_ARGS)$/, wrong)
      }
    }
  })
}

/** @param {string} name @returns {Set<string>} as hands write it that are in a hurry */
function misspellings (name) {
  const all = new Set([name.toUpperCase(), name[0].toUpperCase() + name.slice(1)])
  for (let at = 1; name.length > 5 && at < name.length; at++) {
    all.add(name.slice(0, at) + name.slice(at + 1))
    all.add(name.slice(0, at) + name[at] + name.slice(at))
    all.add(name.slice(0, at - 1) + name[at] + name[at - 1] + name.slice(at + 1))
    all.add(name.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`))
  }
  // One that is another name, of ours or of somebody's.
  for (const other of [...Object.keys(kOurs), 'certificate', 'refix', 'waits']) all.delete(other)
  return all
}

test('an error says where a name of ours belongs, or which one was meant', () => {
  assert.throws(() => http.createServer(/** @type {any} */ ({ queueName: 'a' })),
    { code: 'ERR_HTTPSYS_OPTION', option: 'queueName', message: 'createServer() has no option "queueName": it belongs to listen({ … })' })
  assert.throws(() => http.createServer(/** @type {any} */ ({ devCret: true })), { message: 'createServer() has no option "devCret"; did you mean "devCert"?' })
  assert.throws(() => http.createServer().listen(0, /** @type {any} */ ({ key: 'k', cert: 'c' })),
    { code: 'ERR_HTTPSYS_OPTION', option: 'key', message: /: it belongs to https\.createServer\(\)$/ })
})

/** Options as a class of the application has them: by inheritance, and by accessors. @type {Record<string, (options: any) => any>} */
const kInherited = {
  'inherited from an object': (options) => Object.create(options),
  'accessors of a class': (options) => {
    class Config {}
    for (const name of Object.keys(options)) Object.defineProperty(Config.prototype, name, { get: () => options[name], configurable: true })
    return new Config()
  }
}

for (const [how, made] of Object.entries(kInherited)) {
  test(`names of ours are refused where they have no effect, ${how}`, () => {
    for (const [title, accepted, form] of kForms.filter(([title]) => / ?options\)/.test(title))) { // The others copy what they are given.
      for (const [name, value] of Object.entries(kOurs)) {
        if (!accepted.includes(name)) assert.match(codeOf(form, made({ [name]: value })), /^ERR_HTTPSYS_(OPTION|LISTEN_ARGS)$/, `${title} ${name}`)
      }
    }
    assert.throws(() => http.createServer().listen(made({ port: 0, stripPrefix: true })), { code: 'ERR_HTTPSYS_OPTION' })
  })

  test(`options of TLS are refused beside an http:// prefix and behind a port of a server without TLS, ${how}`, () => {
    const tls = made({ key: 'k', cert: 'c' })
    for (const args of [['http://127.0.0.1:1/', tls], [made({ prefix: 'http://127.0.0.1:1/', key: 'k' })], [0, tls], [0, '127.0.0.1', tls]]) {
      assert.throws(() => http.createServer().listen(...args), { code: 'ERR_HTTPSYS_OPTION', option: 'key' })
    }
  })

  test(`options of listen() with a prefix count, ${how}`, () => {
    for (const args of [['http://127.0.0.1:1/', made({ queueMode: 'attach' })], [made({ prefix: 'http://127.0.0.1:1/', queueMode: 'attach' })]]) {
      assert.throws(() => http.createServer().listen(...args), { code: 'ERR_HTTPSYS_LISTEN_ARGS', message: /needs a "queueName"/ })
    }
  })
}

test('methods of an object are no options, and neither is what every object has', () => {
  class Config {
    port = 0
    restart () {}
    queueName () {}
    prefix () {}
  }
  const elsewhere = require('node:vm').runInNewContext('({ port: 0 })')
  for (const options of [new Config(), elsewhere, Object.assign(Object.create(null), { port: 0 })]) http.createServer(options)
  http.createServer().listen(elsewhere).close()
})

test('names of ours are refused where no options are looked for at all', async () => {
  const behind = { code: 'ERR_HTTPSYS_OPTION', option: 'restart' }
  assert.throws(() => http.createServer().close(() => {}, /** @type {any} */ ({ restart: true })), behind)
  assert.throws(() => http.createServer().close(undefined, /** @type {any} */ ({ restart: true })), behind)
  for (const create of [http.createServer, https.createServer]) {
    assert.throws(() => create(() => {}, { strictUrl: true }), { code: 'ERR_HTTPSYS_OPTION', option: 'strictUrl' })
  }
})

test('addPrefix(), removePrefix(), setSecureContext() and addContext() refuse names that they ignore', { skip: backend === 'node' && 'they are Node\'s own, or not there' }, async (t) => {
  const server = /** @type {any} */ (http.createServer())
  t.after(() => server.close())
  const port = await freePort()
  await new Promise((resolve) => server.listen(`http://127.0.0.1:${port}/`, resolve))
  const [own] = server.prefixes
  for (const [name, value] of Object.entries({ queueName: 'q', exclusive: true, key: 'k', devCert: true, restart: true, anything: 1 })) {
    await assert.rejects(server.addPrefix(`${own}a/`, { [name]: value }), { code: 'ERR_HTTPSYS_OPTION', option: name })
    await assert.rejects(server.removePrefix(own, { [name]: value }), { code: 'ERR_HTTPSYS_OPTION', option: name })
  }
  assert.deepEqual(server.prefixes, [own])
  await server.addPrefix(`${own}a/`, { queueName: undefined })
  const secure = https.createServer(pair())
  for (const [name, value] of Object.entries(kOurs)) {
    assert.throws(() => secure.setSecureContext({ ...pair(), [name]: value }), { code: 'ERR_HTTPSYS_OPTION', option: name })
    assert.throws(() => secure.addContext('a.test', { ...pair(), [name]: value }), { code: 'ERR_HTTPSYS_OPTION', option: name })
  }
})

test('names within an option that do not exist count as not given when they are undefined', { skip: backend === 'node' && 'node:http has no http2' }, () => {
  http.createServer(/** @type {any} */ ({ http2: { maxConcurentStreams: undefined } }))
  createAdapter(() => {}, /** @type {any} */ ({ Key: undefined, keepAlivTimeout: undefined }))
})

test('close() takes waitMs only with restart, which is a boolean', () => {
  assert.throws(() => http.createServer().close(/** @type {any} */ ({ waitMs: 5 })), { code: 'ERR_HTTPSYS_OPTION', option: 'waitMs' })
  assert.throws(() => http.createServer().close(/** @type {any} */ ({ restart: 'yes' })), { code: 'ERR_INVALID_ARG_TYPE' })
  http.createServer().close(/** @type {any} */ ({ restart: false, waitMs: 5 }))
})

test('a mode of a queue that has no name is refused', () => {
  assert.throws(() => http.createServer().listen(/** @type {any} */ ({ port: 0, queueMode: 'createOrAttach' })), { code: 'ERR_HTTPSYS_LISTEN_ARGS' })
})

test('names within http2 that do not exist are refused', { skip: backend === 'node' }, () => {
  assert.throws(() => http.createServer(/** @type {any} */ ({ http2: { maxConcurentStreams: 5 } })),
    { code: 'ERR_HTTPSYS_OPTION', message: 'http2 has no option "maxConcurentStreams"; did you mean "maxConcurrentStreams"?' })
  assert.throws(() => http.createServer(/** @type {any} */ ({ http2: { allowHTTP1: 'no' } })), { code: 'ERR_INVALID_ARG_TYPE' })
})
