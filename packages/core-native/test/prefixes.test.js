'use strict'

// Goal: what is counted of a server's prefixes is what a look at each of them would find. Method: random changes, and a model that looks.

const assert = require('node:assert/strict')
const { describe, test } = require('node:test')
const { endpointsOf } = require('../lib/listen/listen-args')
const { Prefixes } = require('../lib/prefixes/prefixes')
const { keyOf, parseUrlPrefix } = require('../lib/prefixes/url-prefix')

/** @typedef {import('../lib/prefixes/url-prefix').UrlPrefix} UrlPrefix */

// Hosts of every kind, both schemes, and more than one prefix at a place.
const kHosts = ['*', '+', 'site.test', 'localhost', '127.0.0.1', '127.0.0.2', '[::1]', '[::2]']
const kPorts = [80, 81]
const kPool = kPorts.flatMap((port) => kHosts.flatMap((host) => ['http', 'https'].flatMap((scheme) =>
  ['/', '/a/', '/b/'].map((path) => parseUrlPrefix(`${scheme}://${host}:${port}${path}`)))))
const kAddresses = [undefined, '127.0.0.1', '127.0.0.2', '127.0.0.3', '::1', '::2']
const kRuns = 60
const kSteps = 120

// Numbers of a seed: a failure can be repeated.
/** @param {number} seed */
function randomOf (seed) {
  return (/** @type {number} */ below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return Math.floor(seed / 2 ** 32 * below)
  }
}

/** @param {UrlPrefix[]} all @param {number} port @param {string | undefined} host */
function needsByLook (all, port, host) {
  return endpointsOf(all, undefined).some((endpoint) => endpoint.port === port && (host === undefined || endpoint.host === host))
}

/** @param {{ port: number, https: boolean, address: string }[]} places @param {number} port @param {string | undefined} address */
function isTlsByPlaces (places, port, address) {
  const there = places.filter((place) => place.port === port)
  const secure = there.filter(({ https }) => https)
  return secure.length > 0 && (there.length === secure.length || secure.some((place) => place.address === '' || place.address === address))
}

/** @param {UrlPrefix[]} all */
function placesByLook (all) {
  return all.map(({ port, scheme, bind }) => ({ port, https: scheme === 'https', address: bind.host ?? '' }))
}

/** @param {Prefixes} prefixes @param {UrlPrefix[]} all that need sockets */
function assertCounted (prefixes, all) {
  const { places } = prefixes
  assert.equal(places.hasTls, all.some(({ scheme }) => scheme === 'https'))
  for (const port of [...kPorts, 82]) {
    const there = all.filter((parsed) => parsed.port === port)
    assert.equal(places.hasPort(port), there.length > 0)
    assert.equal(places.hasWildcard(port), there.some(({ bind }) => bind.kind === 'wildcard'))
    for (const host of kAddresses) {
      assert.equal(places.needs({ port, ...(host !== undefined && { host }) }), needsByLook(all, port, host), `${host} ${port}`)
      assert.equal(places.isTls(port, host), isTlsByPlaces(placesByLook(all), port, host), `${host} ${port}`)
    }
  }
}

// What the lanes know, from changes alone.
class Told {
  texts = new Map()
  /** @type {Map<string, { port: number, https: boolean, address: string }>} */
  places = new Map()

  /** @param {import('../types/binding').ServerPrefixes} told */
  take ({ isWhole, changes, places }) {
    if (isWhole) {
      this.texts.clear()
      this.places.clear()
    }
    for (const { id, text } of changes) text === '' ? this.texts.delete(id) : this.texts.set(id, text)
    for (const { port, isHttps, address, isThere } of places) {
      const key = `${isHttps} ${port} ${address}`
      isThere ? this.places.set(key, { port, https: isHttps, address }) : this.places.delete(key)
    }
  }
}

describe('prefixes of a server', () => {
  test('need the sockets, and speak TLS at the places, that a look at each of them finds', () => {
    for (let run = 0; run < kRuns; run++) {
      const random = randomOf(run)
      const prefixes = new Prefixes()
      /** @type {Map<string, UrlPrefix>} */
      const held = new Map()
      /** @type {Map<string, UrlPrefix>} */
      const lost = new Map()
      const told = new Told()
      for (let step = 0; step < kSteps; step++) {
        const parsed = kPool[random(kPool.length)]
        const key = keyOf(parsed)
        switch (random(8)) {
          case 0:
          case 1:
          case 2:
            if (held.has(key)) break
            prefixes.add(parsed)
            held.set(key, parsed)
            // As addPrefix() does when the prefix is registered; it may be lost again before.
            if (random(2) === 0) {
              prefixes.regain(parsed)
              lost.delete(key)
            }
            break
          case 3:
          case 4:
            prefixes.delete(parsed)
            held.delete(key)
            break
          case 5:
            if (!held.has(key)) break
            prefixes.lose(parsed)
            held.delete(key)
            lost.set(key, parsed)
            break
          case 6:
            if (random(30) > 0) break
            prefixes.clear()
            held.clear()
            lost.clear()
            break
          default:
            if (random(8) === 0) prefixes.forgotten()
            told.take(prefixes.changes)
            prefixes.told()
            assert.deepEqual([...told.texts.values()].sort(), [...held.values()].map(({ prefix }) => prefix).sort())
            for (const port of kPorts) {
              for (const host of kAddresses) {
                assert.equal(isTlsByPlaces([...told.places.values()], port, host), prefixes.places.isTls(port, host), `told, run ${run}, step ${step}`)
              }
            }
        }
        assertCounted(prefixes, [...held.values(), ...lost.values()])
        for (const port of kPorts) assert.equal(prefixes.hasLostOn(port), [...lost.values()].some((other) => other.port === port))
      }
    }
  })

  test('tell the lanes of a place with the first prefix there, and when the last one has gone', () => {
    const prefixes = new Prefixes()
    const [plain, other, secure, more] = ['http://127.0.0.1:80/', 'http://127.0.0.2:80/', 'https://127.0.0.3:80/', 'https://127.0.0.3:80/a/'].map(parseUrlPrefix)
    const told = () => {
      const { places } = prefixes.changes
      prefixes.told()
      return places
    }
    prefixes.add(plain)
    prefixes.add(secure)
    const http = { port: 80, isHttps: false, address: '', isThere: true }
    const https = { port: 80, isHttps: true, address: '127.0.0.3', isThere: true }
    assert.deepEqual(told(), [http, https])
    prefixes.add(other)
    prefixes.add(more)
    prefixes.delete(secure)
    prefixes.delete(plain)
    assert.deepEqual(told(), [])
    prefixes.lose(more)
    assert.deepEqual(told(), [], 'the socket of a lost prefix stays open')
    prefixes.regain(more)
    assert.deepEqual(told(), [{ ...https, isThere: false }])
    prefixes.add(secure)
    prefixes.delete(other)
    prefixes.delete(secure)
    assert.deepEqual(told(), [{ ...https, isThere: false }, { ...http, isThere: false }], 'the last change of each place')
  })
})
