'use strict'

// Goal: errors of `httpsys add sslcert` name what was typed, and `update sslcert` replaces what is bound.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')
const { certificate } = require('../../../test/helpers/certificates')
const { httpsys, makeFolder } = require('./support')

test('a file that cannot be used is named with its option, and nothing is bound', async (t) => {
  const folder = makeFolder(t)
  const file = path.join(folder, 'sslcert.json')
  const empty = path.join(folder, 'empty')
  fs.writeFileSync(empty, '')
  for (const [cert, key, expected] of [
    ['nope', 'nope', '--cert nope: no such file. Nothing was bound'],
    [empty, empty, `--cert ${empty}: it is empty. Nothing was bound`]
  ]) {
    const { code, out, err } = await httpsys(['add', 'sslcert', 'shop:8443', '--cert', cert, '--key', key], { HTTPSYS_SSLCERT: file })
    assert.deepEqual([code, out, err], [1, '', `httpsys: ${expected}\n`])
  }
  assert.equal(fs.existsSync(file), false)
})

test('update replaces what is bound in its place, and keeps its comment; nothing is changed where nothing is bound', async (t) => {
  const folder = makeFolder(t)
  const file = path.join(folder, 'sslcert.json')
  const [one, two] = ['one.test', 'two.test'].map((host) => {
    const [cert, key] = ['pem', 'key'].map((kind) => path.join(folder, `${host}.${kind}`))
    fs.writeFileSync(cert, certificate(host).cert)
    fs.writeFileSync(key, certificate(host).key)
    return { cert, key }
  })
  const bind = (command, where, { cert, key }, ...more) => httpsys([command, 'sslcert', where, '--cert', cert, '--key', key, ...more], { HTTPSYS_SSLCERT: file })
  const bound = () => JSON.parse(fs.readFileSync(file, 'utf8')).bindings
  assert.deepEqual(await bind('update', 'shop:8443', one), { code: 1, out: '', err: 'httpsys: shop:8443 has no certificate\n' })
  for (const where of ['shop:8443', '*:8443']) assert.equal((await bind('add', where, one, '--comment', 'why')).code, 0)
  const again = await bind('add', 'shop:8443', two)
  assert.deepEqual([again.code, again.err], [1, 'httpsys: shop:8443 has a certificate already: replace it with "httpsys update sslcert"\n'])
  assert.deepEqual(await bind('update', 'SHOP:8443', two), { code: 0, out: `Bound ${two.cert} to shop:8443 in place of the last one.\n`, err: '' })
  assert.deepEqual(bound(), [{ endpoint: 'shop:8443', ...two, comment: 'why' }, { endpoint: '*:8443', ...one, comment: 'why' }])
  const missing = await bind('update', '*:8443', { cert: 'nope', key: one.key })
  assert.deepEqual([missing.code, missing.err], [1, 'httpsys: --cert nope: no such file. Nothing was changed\n'])
  await bind('update', '*:8443', two, '--comment', 'renewed')
  assert.deepEqual(bound()[1], { endpoint: '*:8443', ...two, comment: 'renewed' })
  const { code } = await httpsys(['update', 'sslcert', '*:8443'], { HTTPSYS_SSLCERT: file })
  assert.equal(code, 2)
})
