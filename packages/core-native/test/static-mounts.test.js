'use strict'

// Goal: the engine is told of each folder below each prefix of the application, and of no other. Method: the list for prefixes that come
// and go.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const mime = require('mime-types')
const { contentTypes } = require('../lib/listen/content-types')
const { StaticMounts } = require('../lib/listen/static-mounts')
const { takeStaticOptions } = require('../lib/options/static-options')
const { Prefixes } = require('../lib/prefixes/prefixes')
const { decodedPath, parseUrlPrefix } = require('../lib/prefixes/url-prefix')

const settings = takeStaticOptions('', {})

/** @param {string} where @param {boolean} [ownsPrefix] */
function mountAt (where, ownsPrefix = false) {
  const prefix = where.startsWith('/') ? null : parseUrlPrefix(where)
  return { path: decodedPath(prefix?.path ?? where), prefix, ownsPrefix, root: `/root of ${where}`, settings }
}

/** @param {StaticMounts} mounts @param {Prefixes} prefixes */
const told = (mounts, prefixes) => mounts.below(prefixes).map(({ prefixId, path, root }) => [prefixId, path, root])

test('a server on a port has folders below its root', () => {
  const mounts = new StaticMounts()
  assert.deepEqual(mounts.below(new Prefixes()), [])
  mounts.add(mountAt('/'))
  mounts.add(mountAt('/a%20b/'))
  assert.deepEqual(told(mounts, new Prefixes()), [[0, '/', '/root of /'], [0, '/a b/', '/root of /a%20b/']])
  const [whole] = mounts.below(new Prefixes())
  assert.deepEqual(whole, { prefixId: 0, path: '/', root: '/root of /', types: contentTypes(), ...settings })
})

test('a path is below each prefix of the application, decoded, and below those that are added', () => {
  const mounts = new StaticMounts()
  const prefixes = new Prefixes()
  mounts.add(mountAt('/assets/'))
  const shop = parseUrlPrefix('http://*:80/Shop%C3%A9')
  const id = prefixes.add(shop)
  const other = prefixes.add(parseUrlPrefix('http://*:81/'))
  assert.deepEqual(told(mounts, prefixes), [[id, '/Shopé/assets/', '/root of /assets/'], [other, '/assets/', '/root of /assets/']])
  prefixes.delete(shop)
  assert.deepEqual(told(mounts, prefixes), [[other, '/assets/', '/root of /assets/']])
})

test('a prefix of a folder is that folder\'s alone, and goes when the server loses it', () => {
  const mounts = new StaticMounts()
  const prefixes = new Prefixes()
  const own = parseUrlPrefix('http://*:80/files/')
  const shared = parseUrlPrefix('http://*:80/app/')
  const [ownId, sharedId] = [prefixes.add(own), prefixes.add(shared)]
  mounts.add(mountAt('http://*:80/files/', true))
  mounts.add(mountAt('http://*:80/app/'))
  mounts.add(mountAt('/assets/'))
  assert.deepEqual(told(mounts, prefixes).map(([id, path]) => [id, path]), [[ownId, '/files/'], [sharedId, '/app/'], [sharedId, '/app/assets/']])
  prefixes.lose(own)
  assert.deepEqual(told(mounts, prefixes).map(([id, path]) => [id, path]), [[sharedId, '/app/'], [sharedId, '/app/assets/']])
  mounts.prefixRemoved(own)
  assert.equal(mounts.find(mountAt('http://*:80/FILES/')), undefined)
  assert.notEqual(mounts.find(mountAt('http://*:80/APP/')), undefined)
})

test('listen() forgets folders at prefixes, except that which it is called for, and keeps paths', () => {
  const mounts = new StaticMounts()
  const [path, before, now] = [mountAt('/a/'), mountAt('http://*:80/before/', true), mountAt('http://*:80/now/', true)]
  for (const mount of [path, before, now]) mounts.add(mount)
  mounts.beginWith(now, () => mounts.prefixesCleared())
  assert.deepEqual([path, before, now].map((mount) => mounts.find(mount) === mount), [true, false, true])
  mounts.prefixesCleared()
  assert.equal(mounts.find(now), undefined)
})

test('paths and prefixes in another case or writing are the same place', () => {
  const mounts = new StaticMounts()
  mounts.add(mountAt('/Assets/%C3%84/'))
  assert.notEqual(mounts.find(mountAt('/assets/x/../ä')), undefined)
})

test('types are those of mime-types with their charset, and only where they say something', () => {
  const types = contentTypes()
  assert.equal(contentTypes(), types)
  const byExtension = new Map(Array.from({ length: types.length / 2 }, (_, i) => [types[2 * i], types[2 * i + 1]]))
  assert.deepEqual(['html', 'css', 'js', 'json', 'svg', 'png', 'txt', 'wasm'].map((extension) => byExtension.get(extension)), [
    'text/html; charset=utf-8', 'text/css; charset=utf-8', 'text/javascript; charset=utf-8', 'application/json; charset=utf-8', 'image/svg+xml', 'image/png',
    'text/plain; charset=utf-8', 'application/wasm'
  ])
  for (const extension of Object.keys(mime.types)) {
    assert.equal(extension, extension.toLowerCase())
    assert.equal(byExtension.get(extension) ?? 'application/octet-stream', mime.contentType(`.${extension}`))
  }
})
