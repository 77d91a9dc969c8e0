'use strict'

// Goal: the pieces of a corked response leave together, as with writev() on Node. HAProxy 2.6 loses the body of a response
// that comes with "100 Continue" and ends within a chunk. Method: look at what the lane could see after each piece.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { createServer } = require('..')
const R = require('../lib/records/records')
const { kLane } = require('../lib/http/symbols')
const { request } = require('../../../test/helpers/client')

test('the lane sees the pieces of a corked response when all are written', { timeout: 10_000 }, async (t) => {
  /** @type {number[]} */
  const seen = []
  const server = createServer((req, res) => {
    const { writer, control } = /** @type {any} */ (req.socket)[kLane]
    const published = () => Atomics.load(control, R.kReplyPublished)
    const { data } = writer
    t.mock.method(writer, 'data', (/** @type {unknown[]} */ ...args) => {
      const bytes = Reflect.apply(data, writer, args)
      seen.push(published() - before)
      return bytes
    })
    res.cork()
    res.write('a piece')
    res.write('another')
    const before = published()
    res.end()
    t.mock.restoreAll()
    seen.push(published() - before)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { body } = await request(/** @type {import('node:net').AddressInfo} */ (server.address()).port)
  assert.equal(body, 'a pieceanother')
  const last = seen.pop() ?? 0
  assert.ok(seen.length > 1, `${seen.length} pieces`)
  assert.deepEqual(seen, seen.map(() => 0))
  assert.ok(last > 0)
})
