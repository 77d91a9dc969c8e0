'use strict'

// Goal: `headers` of our requests is what Node makes of the same lines.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const { internals } = require('..')

const kNames = [
  'Age', 'Host', 'From', 'ETag', 'Date', 'Vary', 'Server', 'Cookie', 'Origin', 'Expect', 'Accept', 'Referer', 'Expires',
  'Upgrade', 'Location', 'If-Match', 'User-Agent', 'Set-Cookie', 'Connection', 'Retry-After', 'Content-Type',
  'Max-Forwards', 'Authorization', 'Last-Modified', 'Cache-Control', 'If-None-Match', 'Content-Length',
  'Accept-Encoding', 'X-Forwarded-For', 'Content-Encoding', 'If-Modified-Since', 'Transfer-Encoding',
  'Proxy-Authorization', 'If-Unmodified-Since', 'X-Other', '__proto__', 'constructor', 'hasOwnProperty', '12'
]

/** @param {typeof http.IncomingMessage} Message @param {string[]} lines @param {boolean} joins */
function headersOf (Message, lines, joins) {
  const message = /** @type {any} */ (new Message(/** @type {any} */ ({ readableHighWaterMark: 1 })))
  message.joinDuplicateHeaders = joins
  message._addHeaderLines(lines, lines.length)
  return message.headers
}

/** @param {string[]} lines */
function compare (lines) {
  for (const joins of [false, true]) {
    const expected = headersOf(http.IncomingMessage, lines, joins)
    const actual = headersOf(internals.IncomingMessage, lines, joins)
    assert.deepStrictEqual(actual, expected)
    assert.deepEqual(Object.keys(actual), Object.keys(expected))
  }
}

test('one, two and three lines of each name, in each case, become what Node makes of them', () => {
  for (const name of kNames) {
    for (const sent of [name, name.toLowerCase(), name.toUpperCase()]) {
      for (const count of [1, 2, 3]) {
        compare(['First', '1', ...Array.from({ length: count }, (_, i) => [sent, `value ${i}`]).flat(), 'Last', ''])
      }
    }
  }
  compare(kNames.flatMap((name) => [name, '', name, 'x', name.toLowerCase(), '']))
})

test('more names than are remembered, and very long ones, become what Node makes of them', () => {
  for (let i = 0; i < 2000; i++) compare([`X-Name-${i}`, 'a', `x-name-${i}`, 'b'])
  compare(['X'.repeat(5000), 'a', 'x'.repeat(5000), 'b'])
  compare(kNames.flatMap((name) => [name, 'a', name, 'b']))
})

test('a replaced _addHeaderLine() of Node is called', (t) => {
  const prototype = /** @type {any} */ (http.IncomingMessage.prototype)
  const { _addHeaderLine } = prototype
  t.after(() => { prototype._addHeaderLine = _addHeaderLine })
  const seen = /** @type {string[]} */ ([])
  prototype._addHeaderLine = function (/** @type {string} */ field) { seen.push(field) }
  headersOf(internals.IncomingMessage, ['Host', 'a', 'X-Other', 'b'], false)
  assert.deepEqual(seen, ['Host', 'X-Other'])
})
