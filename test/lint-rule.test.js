'use strict'

// Goal: no private member of Node is used that is not looked for when the package loads, and only packages/core-native/lib/node-private
// uses those of objects that are not of our own classes. Method: the linter's rule over lines that it has to take or to refuse.

const { test } = require('node:test')
const { RuleTester } = require('eslint')
const { checkConnection, checkLate, checkPrivateMembers, kPlainNames, kPlainNamesOf, kPrivateNames } = require('../packages/core-native/lib/node-private/private-members')
const http = require('node:http')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const rule = require('../tools/eslint/private-names')

const foreign = [{ messageId: 'foreign' }]
const unknown = [{ messageId: 'unknown' }]

test('private names of Node are for our own classes and for lib/node-private', () => {
  new RuleTester({ languageOptions: { sourceType: 'commonjs' } }).run('private-names', rule, {
    valid: [
      'class A extends B { end () { if (this._header === null) super._implicitHeader() } }',
      'class A extends B { end () { const self = /** @type {any} */ (this); return () => self._header } }',
      'class A extends B { _read () {} _listen2 () {} }',
      'res.headersSent; _local(); const _ = 1',
      { code: 'function f (res) { return res._header }', options: [{ everywhere: true }] },
      'class A extends B { end () { return this.chunkedEncoding && super.assignSocket(null) } }',
      'class A extends B { get parser () { return null } }',
      'function f (options, server) { options.highWaterMark = 1; return { noDelay: server.timeout, shouldKeepAlive: true } }',
      "server.on('upgrade', f); function g ({ upgrade, requestCert }) { return upgrade && requestCert }",
      { code: 'function f (res, server) { return res.outputData ?? server.noDelay }', options: [{ everywhere: true }] },
      { code: 'function f (webSocket) { return webSocket._readyState }', options: [{ names: ['_readyState'] }] },
    ],
    invalid: [
      { code: 'function f (res) { return res._header }', errors: foreign },
      { code: 'function f (res) { res._header = null }', errors: foreign },
      { code: 'function f (res) { return res?._header }', errors: foreign },
      { code: "function f (res) { return res['_header'] }", errors: foreign },
      { code: 'function f (server) { const { _handle: handle } = server; return handle }', errors: foreign },
      { code: 'function f ({ _handle: handle }) { return handle }', errors: foreign },
      { code: 'class A { end () { const self = this.res; return self._header } }', errors: foreign },
      { code: 'class A { end () { const { server } = this; return server._handle } }', errors: foreign },
      { code: 'class A { end () { let self = this; self = other; return self._header } }', errors: foreign },
      { code: 'class A { end () { return this._somethingOfNode } }', errors: unknown },
      { code: 'class A { _somethingOfNode () {} }', errors: unknown },
      { code: "for (const name of ['_somethingOfNode']) define(name)", errors: unknown },
      { code: 'function f (res) { return res._somethingOfNode }', options: [{ everywhere: true }], errors: unknown },
      { code: 'function f (webSocket) { return webSocket._readyStat }', options: [{ names: ['_readyState'] }], errors: unknown },
      { code: 'class A extends B { f (webSocket) { return webSocket._handle } }', options: [{ names: ['_readyState'] }], errors: foreign },
    ],
  })
})

test('private names of Node without an underscore are for our own classes and for lib/node-private', () => {
  new RuleTester({ languageOptions: { sourceType: 'commonjs' } }).run('private-names', rule, {
    valid: [],
    invalid: [
      { code: 'function f (res) { return res.outputData.length }', errors: foreign },
      { code: 'function f (res) { res.shouldKeepAlive = false }', errors: foreign },
      { code: "function f (res) { return res['chunkedEncoding'] }", errors: foreign },
      { code: 'function f (socket) { const { parser } = socket; return parser.onIncoming }', errors: [...foreign, ...foreign] },
      { code: 'function f ({ writableBuffer }) { return writableBuffer }', errors: foreign },
      { code: 'function f (server) { return server.noDelay }', errors: foreign },
      { code: 'function f (socket) { return socket.server.highWaterMark }', errors: foreign },
      { code: 'class A { f () { const { requestCert } = this.owner; return requestCert } }', errors: foreign },
      { code: 'function f (req) { req.upgrade = true }', errors: foreign },
      { code: 'function f (parser) { return parser.upgradeOrConnect }', errors: unknown },
      { code: 'class A extends B { f () { return this.timeoutCb } }', errors: unknown },
      { code: 'function f (server) { server.setOptions({}) }', options: [{ everywhere: true }], errors: unknown },
    ],
  })
})

test('a Node without one of the private members is refused with its name', () => {
  const request = new http.IncomingMessage(/** @type {any} */ ({ readableHighWaterMark: 16384 }))
  const response = new http.ServerResponse(request)
  const server = http.createServer()
  checkPrivateMembers(request, response, server)
  assert.throws(() => checkPrivateMembers(request, /** @type {any} */ ({}), server), /http\.ServerResponse#_closed/)
  assert.throws(() => checkPrivateMembers(request, response, /** @type {any} */ ({ _handle: null })), /http\.Server#_connections/)
  const shorn = new http.ServerResponse(request)
  Reflect.deleteProperty(shorn, 'outputData')
  assert.throws(() => checkPrivateMembers(request, shorn, server), /http\.ServerResponse#outputData/)
  assert.throws(() => checkConnection({ _paused: false }), /net\.Socket#parser/)
  assert.throws(() => checkConnection({ parser: { onIncoming () {} } }), /net\.Socket#_paused/)
  assert.throws(() => checkConnection({ _paused: false, parser: {} }), /HTTPParser\.prototype\.onIncoming/)
  assert.throws(() => checkLate([['_httpMessage', http.Server, 'http.Server']]), /http\.Server#_httpMessage/)
})

test('node-internals.d.ts says what each private member is', () => {
  const text = fs.readFileSync(path.join(__dirname, '..', 'packages', 'core-native', 'types', 'node-internals.d.ts'), 'utf8')
  const elsewhere = [
    '_storeHeader', // Only asked for its source.
    'cert', 'pfx', 'sessionIdContext', // Members of tls.SecureContextOptions, which PrivateTlsServer extends.
  ]
  const names = [...kPrivateNames, ...kPlainNames, ...[...kPlainNamesOf.values()].flatMap((some) => [...some])]
  for (const name of names) if (!elsewhere.includes(name)) assert.match(text, new RegExp(`\\b${name}\\b`), name)
})
