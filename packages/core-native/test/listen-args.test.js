'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const { test } = require('node:test')
const { classifyListen } = require('../lib/listen/listen-args')

const hasLoopback6 = Object.values(os.networkInterfaces()).flat().some(({ address }) => address === '::1')
const endpoints = (...args) => classifyListen(args).endpoints
const prefixes = (...args) => classifyListen(args).prefixes.map(({ prefix }) => prefix)

const kOwnQueue = { queueName: '', queueMode: 'create', exclusive: false, isImplied: false, restartMs: 0 }

test("everything without a prefix is Node's", () => {
  const callback = () => {}
  for (const args of [[], [0], [8080, callback], ['8080'], ['/run/app.sock'], [{ port: 0 }, callback], [{ path: '/a' }],
    [undefined, callback], [null], [{ fd: 3 }], [8080, '127.0.0.1', 511, callback], [true], [{ prefix: undefined, port: 1 }]]) {
    assert.deepEqual(classifyListen(args), { kind: 'node', args, tls: null, sharing: kOwnQueue })
  }
})

test('a string with :// is a prefix', () => {
  const callback = () => {}
  const { prefixes: [parsed, ...others], ...plan } = classifyListen(['http://*:8080/shop', callback])
  assert.deepEqual(plan, { kind: 'prefixes', endpoints: [{ port: 8080 }], options: {}, tls: null, sharing: kOwnQueue, callback })
  assert.equal(parsed.prefix, 'http://*:8080/shop/')
  assert.equal(others.length, 0)
})

test('options may follow the prefix or hold it', () => {
  const callback = () => {}
  const { signal } = new AbortController()
  const how = { backlog: 5, signal }
  const options = { ...how, exclusive: true, queueName: 'shop', queueMode: 'createOrAttach' }
  const expected = classifyListen(['http://*:80/', options, callback])
  assert.deepEqual(expected.options, how)
  assert.deepEqual(expected.sharing, { queueName: 'shop', queueMode: 'createOrAttach', exclusive: true, isImplied: false, restartMs: 0 })
  assert.equal(expected.callback, callback)
  assert.deepEqual(classifyListen([{ prefix: 'http://*:80/', ...options }, callback]), expected)
  assert.deepEqual(classifyListen([{ prefix: ['http://*:80/'], ...options }, callback]), expected)
  assert.deepEqual(classifyListen([{ prefixes: ['http://*:80/'], ...options }, callback]), expected)
})

test('ipv6Only goes to the wildcard sockets', () => {
  assert.deepEqual(endpoints(['http://*:80/', 'http://127.0.0.1:81/'], { ipv6Only: true }), [
    { port: 80, ipv6Only: true },
    { host: '127.0.0.1', port: 81 }
  ])
})

test('prefixes of one port and address share a socket', () => {
  assert.deepEqual(endpoints(['http://*:80/a/', 'http://+:80/b/', 'http://app.test:80/', 'http://*:81/']), [
    { port: 80 },
    { port: 81 }
  ])
  assert.deepEqual(endpoints(['http://127.0.0.1:80/a/', 'http://127.0.0.2:80/', 'http://[::ffff:127.0.0.1]:80/b/']), [
    { host: '127.0.0.1', port: 80 },
    { host: '127.0.0.2', port: 80 }
  ])
})

test('a wildcard takes in the narrower addresses of its port, in both orders', () => {
  for (const order of [['http://*:80/', 'http://127.0.0.1:80/x/', 'http://localhost:80/y/'],
    ['http://localhost:80/y/', 'http://127.0.0.1:80/x/', 'http://*:80/']]) {
    assert.deepEqual(endpoints(order), [{ port: 80 }])
  }
})

test('localhost is both loopback addresses', () => {
  const expected = [{ host: '127.0.0.1', port: 80 }]
  if (hasLoopback6) expected.push({ host: '::1', port: 80 })
  assert.deepEqual(endpoints('http://localhost:80/'), expected)
  assert.deepEqual(prefixes('http://localhost:80/'), ['http://localhost:80/'])
})

test('localhost and its own address share that socket', () => {
  assert.deepEqual(endpoints(['http://127.0.0.1:80/a/', 'http://localhost:80/'])[0],
    { host: '127.0.0.1', port: 80 })
})

test('a prefix given twice counts once', () => {
  assert.deepEqual(prefixes(['http://*:80/a', 'http://*:80/A/', 'http://*:80/%61/']), ['http://*:80/a/'])
})

test('arguments that do not go with prefixes are refused', () => {
  const refused = { name: 'TypeError', code: 'ERR_HTTPSYS_LISTEN_ARGS' }
  for (const args of [[[]], [{ prefixes: [] }], [{ prefix: 'http://*:80/', prefixes: [] }], [{ prefixes: 'http://*:80/' }],
    [['http://*:80/', 8080]], [[null]], ['http://*:80/', 511], ['http://*:80/', '127.0.0.1'],
    ['http://*:80/', { port: 80 }], [{ prefix: 'http://*:80/', host: 'h' }], [{ prefix: 'http://*:80/', path: '/p' }]]) {
    assert.throws(() => classifyListen(args), refused, JSON.stringify(args))
  }
})

test('a misspelt option is refused and the right one named', () => {
  assert.throws(() => classifyListen(['http://*:80/', { backlogs: 5 }]),
    { code: 'ERR_HTTPSYS_OPTION', message: 'listen() with a prefix has no option "backlogs"; did you mean "backlog"?' })
  assert.throws(() => classifyListen(['http://*:80/', { ipv6only: true }]), /did you mean "ipv6Only"\?/)
  assert.throws(() => classifyListen(['http://*:80/', { queueDepth: 5 }]), /no option "queueDepth"$/)
})

test('what is undefined is not given', () => {
  assert.deepEqual(classifyListen(['http://*:80/', { key: undefined, queueDepth: undefined, backlog: 5 }]).options, { backlog: 5 })
})

test('reusePort is refused with prefixes, whose sockets are shared in another way', () => {
  assert.throws(() => classifyListen(['http://*:80/', { reusePort: true }]), { code: 'ERR_HTTPSYS_OPTION', option: 'reusePort' })
})

test('another server is listened on as on Node, whatever properties it has', () => {
  const handle = { _handle: {}, prefixes: ['http://*:80/'], queueLimit: 5 }
  assert.equal(classifyListen([handle]).kind, 'node')
})

test('a worker of node:cluster that asks for a port alone is no part of its siblings\' queue', (t) => {
  const cluster = require('node:cluster')
  cluster.isWorker = true
  t.after(() => { cluster.isWorker = false })
  const sharing = (options) => classifyListen(['http://*:80/', options]).sharing
  assert.deepEqual([sharing({}).exclusive, sharing({}).isImplied], [false, true])
  assert.deepEqual(sharing({ exclusive: true }), { ...kOwnQueue, exclusive: true })
})

test('a queue that nobody names is another one in each namespace of process identifiers, and no program can name it', (t) => {
  const cluster = require('node:cluster')
  cluster.isWorker = true
  t.after(() => { cluster.isWorker = false })
  const names = ['pid:[1]', 'pid:[2]', 'pid:[2]'].map((namespace) => {
    const { mock } = t.mock.method(fs, 'readlinkSync', () => namespace)
    const { queueName } = classifyListen(['http://*:80/']).sharing
    mock.restore()
    return queueName
  })
  assert.equal(names[1], names[2])
  assert.notEqual(names[0], names[1])
  for (const queueName of [names[0], '', 'x'.repeat(256), 5]) {
    assert.throws(() => classifyListen(['http://*:80/', { queueName }]), { code: 'ERR_HTTPSYS_LISTEN_ARGS', message: /"queueName" must be a string of 1 to 255/ })
  }
})

test('syntax errors come out of listen() as such', () => {
  assert.throws(() => classifyListen(['http://h:0/']), { code: 'ERR_HTTPSYS_PREFIX_SYNTAX' })
  assert.throws(() => classifyListen([['8080']]), { code: 'ERR_HTTPSYS_PREFIX_SYNTAX' })
})

test('options of TLS are told apart from those of listen()', () => {
  const { tls, options } = classifyListen(['https://*:443/', { key: 'k', cert: 'c', backlog: 3 }])
  assert.deepEqual(tls, { key: 'k', cert: 'c' })
  assert.deepEqual(options, { backlog: 3 })
  assert.throws(() => classifyListen(['https://*:443/', { certt: 'c' }]), { code: 'ERR_HTTPSYS_OPTION', option: 'certt' })
})
