'use strict'

// Goal: with a folder at a path, a prefix costs its server the same however many others it has; the folder is below all of them. Method: what
// the engine is told is counted in calls, folders and bytes, with 100 and with 2,000 prefixes; packages/core-native/test/static-mounts.test.js
// does it with 10,000.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { once } = require('node:events')
const { theEngine } = require('../../packages/core-native/lib/listen/listener')
const { needs } = require('../helpers/capabilities')
const { backend, http } = require('../helpers/backend')
const { stop } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const { temporaryFolder } = require('./static-kit')

const options = { ...needs('servesFiles', 'listensOnSockets'), ...(backend === 'node' && { skip: 'node:http serves no folders' }) }

const kFew = 100
const kMany = 2000

/** @param {number} port @param {string} path @returns {Promise<string>} the body */
async function get (port, path) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })
  return response.text()
}

/** @typedef {{ calls: number, folders: number, bytes: number }} Told */

/** @param {() => Promise<void>} change @returns {Promise<Told>} what the engine was told meanwhile */
async function countTold (change) {
  const { native } = theEngine()
  const { configure } = native
  const told = { calls: 0, folders: 0, bytes: 0 }
  Object.defineProperty(native, 'configure', {
    configurable: true,
    value: (/** @type {number} */ id, /** @type {import('../../packages/core-native/types/binding').ServerConfig} */ config) => {
      told.calls++
      told.folders += config.statics?.length ?? 0
      told.bytes += JSON.stringify(config).length
      return configure.call(native, id, config)
    }
  })
  try {
    await change()
  } finally {
    Reflect.deleteProperty(native, 'configure')
  }
  return told
}

test('a prefix of a server with a folder costs the same beside 100 and beside 2,000 others', options, async (t) => {
  const root = temporaryFolder(t)
  fs.writeFileSync(path.join(root, 'a.txt'), 'a file')
  const port = await freePort()
  const server = http.createServer((req, res) => res.end('JavaScript'))
  t.after(() => stop(server))
  // All ids have as many digits.
  const prefixOf = (/** @type {number} */ number) => `http://127.0.0.1:${port}/p${String(number).padStart(6, '0')}/`
  const fill = async (/** @type {number} */ from, /** @type {number} */ to) => {
    for (let number = from; number < to; number++) await server.addPrefix(prefixOf(number))
  }
  server.listen(Array.from({ length: kFew }, (_, number) => prefixOf(number)))
  await once(server, 'listening')
  await server.serveFiles('/files/', root)
  const change = (/** @type {number} */ number) => async () => {
    await server.addPrefix(prefixOf(number))
    assert.equal(await get(port, `/p${String(number).padStart(6, '0')}/files/a.txt`), 'a file')
    await server.removePrefix(prefixOf(number))
  }
  const few = await countTold(change(900_000))
  await fill(kFew, kMany)
  const many = await countTold(change(900_001))
  assert.deepEqual([few.folders, many.folders], [0, 0])
  assert.equal(many.calls, few.calls)
  // The number of the prefix has more digits now.
  assert.ok(many.bytes <= few.bytes + 16, `${few.bytes} bytes with ${kFew} prefixes, ${many.bytes} with ${kMany}`)
  assert.ok(few.bytes < 4096 * few.calls, `${few.bytes} bytes`)

  // What is told when the folder changes does not depend on the prefixes either.
  const again = await countTold(() => server.removeFiles('/files/'))
  assert.deepEqual([again.calls, again.folders], [1, 0])
  assert.ok(again.bytes < 4096, `${again.bytes} bytes`)
  assert.equal(await get(port, '/p000000/files/a.txt'), 'JavaScript')
  const anew = await countTold(() => server.serveFiles('/files/', root))
  assert.deepEqual([anew.calls, anew.folders], [1, 1])
  for (const number of [0, kFew, kMany - 1]) {
    assert.equal(await get(port, `/p${String(number).padStart(6, '0')}/files/a.txt`), 'a file')
  }
})

test('a server that listens again has its folders below its new prefixes', options, async (t) => {
  const root = temporaryFolder(t)
  fs.writeFileSync(path.join(root, 'a.txt'), 'a file')
  const server = http.createServer((req, res) => res.end('JavaScript'))
  t.after(() => stop(server))
  for (const prefix of ['/one/', '/two/', '/three/']) {
    const port = await freePort()
    server.listen(`http://127.0.0.1:${port}${prefix}`)
    await once(server, 'listening')
    if (prefix === '/one/') await server.serveFiles('/files/', root)
    assert.equal(await get(port, `${prefix}files/a.txt`), 'a file')
    assert.equal(await get(port, `${prefix}x`), 'JavaScript')
    server.close()
    await once(server, 'close')
  }
})
