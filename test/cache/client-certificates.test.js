'use strict'

// Goal: a full cache changes nothing about who gets what from servers that ask clients for certificates by different rules. Method: the generated test
// of those rules once more, on servers with a cache whose answers anybody may keep, and which show who has asked; a look that the cache was used.

process.env.HTTPSYS_CACHE = 'rfc9111'

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { serve } = require('../fixtures/client-certificate-rules')
const { backend } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { request } = require('../helpers/tls')

const options = backend === 'node' ? { skip: 'stock Node keeps no responses' } : needs('cacheRules')

if (options.skip === false) require('../sharing/client-certificates.test')

test('of two servers of a port, the one that asks for no certificate is answered from the cache, and the other one never', options, async (t) => {
  const authority = certificate('authority one', { isCa: true }).cert
  const material = { own: certificate('*.pair.test'), authorities: { one: authority, two: authority }, list: '' }
  const port = await freePort()
  const open = await serve({ name: 'open', prefix: `https://*:${port}/`, rules: 'none', host: 'a.pair.test', material })
  const closed = await serve({ name: 'closed', prefix: `https://b.pair.test:${port}/`, rules: 'optional', host: 'b.pair.test', material })
  t.after(() => Promise.all([open.close(), closed.close()]))
  const client = certificate('good client', { issuer: 'authority one' })
  /** @param {string} host @param {object} [identity] */
  const ask = async (host, identity) => {
    const { status, body } = await request(port, { servername: host, headers: { Host: host }, rejectUnauthorized: false, ...identity })
    return status === 200 ? JSON.parse(body) : { status }
  }
  for (let round = 0; round < 3; round++) {
    assert.deepEqual((await ask('a.pair.test')).owner, 'open')
    assert.deepEqual((await ask('b.pair.test', client)).subject, 'good client')
    assert.deepEqual((await ask('b.pair.test')).subject, null)
  }
  const [{ hits }, { hits: none, stored, refused }] = [open.server.cache.stats(), closed.server.cache.stats()]
  assert.equal(hits, 2)
  assert.deepEqual([none, stored], [0, 0])
  assert.ok(refused.CLIENT_CERTIFICATE > 0, JSON.stringify(refused))
})
