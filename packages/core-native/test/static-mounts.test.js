'use strict'

// Goal: the engine is told of each folder once, and again only when something has changed for it. Method: the list, and what is told, for
// prefixes and folders that come and go.

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
const listed = (mounts, prefixes) => mounts.list(prefixes).map(({ isBelowAll, prefixId, path, root }) => [isBelowAll ? 'all' : prefixId, path, root])

/** What a change tells the engine. @param {StaticMounts} mounts @param {Prefixes} prefixes @returns {string[] | null} roots */
function tell (mounts, prefixes) {
  const changes = mounts.changes(prefixes)
  prefixes.told()
  mounts.told()
  return changes === null ? null : changes.map(({ root }) => root)
}

test('a path is below all prefixes, decoded', () => {
  const mounts = new StaticMounts()
  assert.deepEqual(mounts.list(new Prefixes()), [])
  mounts.add(mountAt('/'))
  mounts.add(mountAt('/a%20b/'))
  assert.deepEqual(listed(mounts, new Prefixes()), [['all', '/', '/root of /'], ['all', '/a b/', '/root of /a%20b/']])
  const [whole] = mounts.list(new Prefixes())
  assert.deepEqual(whole, { isBelowAll: true, prefixId: 0, ownsPrefix: false, path: '/', root: '/root of /', types: contentTypes(), ...settings })
})

test('what a prefix tells the engine is the same beside 100 and beside 10,000 others', () => {
  const mounts = new StaticMounts()
  const prefixes = new Prefixes()
  mounts.add(mountAt('/assets/'))
  mounts.add(mountAt('/pictures/'))
  const bytes = []
  for (const count of [100, 10_000]) {
    for (let i = prefixes.size; i < count; i++) prefixes.add(parseUrlPrefix(`http://*:80/${i}/`))
    mounts.forgotten()
    const whole = JSON.stringify(mounts.changes(prefixes)).length
    assert.deepEqual(tell(mounts, prefixes), ['/root of /assets/', '/root of /pictures/'])
    prefixes.add(parseUrlPrefix('http://*:80/one-more/'))
    assert.deepEqual(prefixes.changes.changes.map(({ text }) => text), ['http://*:80/one-more/'])
    assert.equal(tell(mounts, prefixes), null)
    prefixes.delete(parseUrlPrefix('http://*:80/one-more/'))
    assert.equal(tell(mounts, prefixes), null)
    bytes.push(whole)
  }
  assert.equal(bytes[0], bytes[1])
})

test('a folder at a prefix has the id of that prefix, also when that changes', () => {
  const mounts = new StaticMounts()
  const prefixes = new Prefixes()
  const own = parseUrlPrefix('http://*:80/files/')
  const shared = parseUrlPrefix('http://*:80/app/')
  const [ownId, sharedId] = [prefixes.add(own), prefixes.add(shared)]
  mounts.add(mountAt('http://*:80/files/', true))
  mounts.add(mountAt('http://*:80/app/'))
  mounts.add(mountAt('/assets/'))
  assert.deepEqual(mounts.list(prefixes).map(({ prefixId, path, ownsPrefix }) => [prefixId, path, ownsPrefix]),
    [[ownId, '/files/', true], [sharedId, '/app/', false], [0, '/assets/', false]])
  assert.equal(tell(mounts, prefixes)?.length, 3)
  assert.equal(tell(mounts, prefixes), null)
  prefixes.lose(own)
  assert.deepEqual(tell(mounts, prefixes), ['/root of http://*:80/app/', '/root of /assets/'])
  const again = prefixes.add(own)
  assert.notEqual(again, ownId)
  assert.deepEqual(tell(mounts, prefixes)?.[0], '/root of http://*:80/files/')
  assert.equal(mounts.list(prefixes)[0].prefixId, again)
  mounts.prefixRemoved(own)
  assert.equal(mounts.find(mountAt('http://*:80/FILES/')), undefined)
  assert.notEqual(mounts.find(mountAt('http://*:80/APP/')), undefined)
  assert.deepEqual(tell(mounts, prefixes), ['/root of http://*:80/app/', '/root of /assets/'])
})

test('folders are told when they come and go, and again when the engine has forgotten them', () => {
  const mounts = new StaticMounts()
  const prefixes = new Prefixes()
  assert.deepEqual(tell(mounts, prefixes), [])
  assert.equal(tell(mounts, prefixes), null)
  const mount = mountAt('/a/')
  mounts.add(mount)
  assert.deepEqual(tell(mounts, prefixes), ['/root of /a/'])
  mounts.forgotten()
  assert.deepEqual(tell(mounts, prefixes), ['/root of /a/'])
  mounts.delete(mountAt('/b/'))
  assert.equal(tell(mounts, prefixes), null)
  mounts.delete(mount)
  assert.deepEqual(tell(mounts, prefixes), [])
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
