'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { constants } = require('node:os')
const { test } = require('node:test')
const { onRegistered } = require('../lib/listen/registrations')

test('a prefix that a new coordinator does not grant again is a warning that names prefix and process', async () => {
  const warned = once(process, 'warning')
  onRegistered({
    token: 0, error: -constants.errno.EADDRINUSE, pid: 4711, uid: 0, prefix: 'http://*:8080/shop/', queue: '', reason: 'prefix', peerOldest: 0, peerNewest: 0, sockets: []
  })
  const [warning] = await warned
  assert.equal(warning.code, 'HTTPSYS_PREFIX_TAKEN')
  assert.match(warning.message, /^http:\/\/\*:8080\/shop\/ .* process 4711 /)
})
