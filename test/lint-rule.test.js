'use strict'

// Goal: no private member of Node is used that is not looked for when the package loads, and only packages/core-native/lib/node-private
// uses those of objects that are not of our own classes. Method: the linter's rule over lines that it has to take or to refuse.

const { test } = require('node:test')
const { RuleTester } = require('eslint')
const { checkLate, checkPrivateMembers, kPrivateNames } = require('../packages/core-native/lib/node-private/private-members')
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
  assert.throws(() => checkLate([['_httpMessage', http.Server, 'http.Server']]), /http\.Server#_httpMessage/)
})

test('node-internals.d.ts says what each private member is', () => {
  const text = fs.readFileSync(path.join(__dirname, '..', 'packages', 'core-native', 'types', 'node-internals.d.ts'), 'utf8')
  const functions = ['_storeHeader'] // Only asked for its source.
  for (const name of kPrivateNames) if (!functions.includes(name)) assert.match(text, new RegExp(`\\b${name}\\b`), name)
})
