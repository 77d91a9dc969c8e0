'use strict'

// Goal: the option cache and its environment variables are read as documented, and what would be ignored is an error.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const http = require('..')
const { loadBinding } = require('../lib/backend/binding')
const { parseUrlPrefix } = require('../lib/prefixes/url-prefix')
const { cacheConfig, takeCache } = require('../lib/options/cache-options')

const kOwn = { name: 'engine', caches: true, cacheRules: true, cacheCodings: 7 }
const kWindows = { name: 'http.sys', caches: true, cacheRules: false, cacheCodings: 0 }
const kNone = { name: 'other', caches: false, cacheRules: false, cacheCodings: 0 }
/** Without Zstandard, as Node 20. */
const kOlder = { ...kOwn, cacheCodings: 5 }

/** @param {any} option @param {any} [env] @param {any} [capabilities] @returns {any} */
const take = (option, env = {}, capabilities = kOwn) => takeCache(option, { capabilities, env, canonical: (text) => parseUrlPrefix(text).prefix })

test('a server has no cache unless it is asked for', () => {
  assert.equal(take(undefined), null)
  assert.equal(take(false), null)
  assert.equal(take(false, { HTTPSYS_CACHE: 'rfc9111' }), null)
  assert.equal(take(undefined, { HTTPSYS_CACHE: '', HTTPSYS_CACHE_DURATION: '' }), null)
  assert.equal(cacheConfig(null).rules, 0)
})

test('true, an empty object and the variable mean RFC 9111 with its defaults', () => {
  const expected = {
    rules: 'rfc9111',
    duration: 0,
    cacheBytes: 32 * 2 ** 20,
    portCacheBytes: 0,
    maxEntryBytes: 2 ** 20,
    stale: { whileRevalidate: 0, ifError: 0 },
    refreshTimeout: 60_000,
    coalesceTimeout: 5_000,
    heuristics: false,
    ignoreReload: false,
    status: false,
    compress: 0,
    harmlessFields: [],
    prefixes: []
  }
  for (const settings of [take(true), take({}), take({ rules: 'rfc9111' }), take(undefined, { HTTPSYS_CACHE: 'rfc9111' })]) {
    assert.deepEqual(settings, expected)
  }
  assert.equal(cacheConfig(expected).rules, 2)
})

test('the rules of HTTP.SYS store up to 256 KiB, and the responses that set a time, unless there is a default', () => {
  const settings = take({ rules: 'httpsys' })
  assert.deepEqual([settings.rules, settings.duration, settings.maxEntryBytes], ['httpsys', 0, 262144])
  const { rules, duration, harmlessFields } = cacheConfig(take({ rules: 'httpsys', duration: 5, harmlessFields: ['X-Forwarded-For'] }))
  assert.deepEqual([rules, duration, harmlessFields], [1, 5, ['x-forwarded-for']])
})

test('each switch is one of the lanes', () => {
  const flags = (/** @type {any} */ option) => {
    const { heuristics, ignoreReload, status, saysWhy } = cacheConfig(take(option))
    return [heuristics, ignoreReload, status, saysWhy].map(Number).join('')
  }
  assert.deepEqual(
    [{ heuristics: true }, { ignoreReload: true }, { status: true }, { status: 'debug' }, { status: false }].map(flags), ['1000', '0100', '0010', '0011', '0000'])
  const { staleWhileRevalidate, staleIfError } = cacheConfig(take({ stale: { whileRevalidate: 5, ifError: 60 } }))
  assert.deepEqual([staleWhileRevalidate, staleIfError], [5, 60])
})

test('refreshTimeout is a time of both rule sets', () => {
  for (const rules of ['rfc9111', 'httpsys']) assert.equal(cacheConfig(take({ rules, refreshTimeout: 500 })).refreshTimeout, 500)
})

test('coalesceTimeout is a time of both rule sets, and may be 0', () => {
  for (const rules of ['rfc9111', 'httpsys']) {
    assert.deepEqual([{}, { coalesceTimeout: 0 }, { coalesceTimeout: 70 }].map((given) => cacheConfig(take({ rules, ...given })).coalesceTimeout), [5000, 0, 70])
  }
})

test('true compresses with what the running Node has, and a list names what must be there', () => {
  const codings = (/** @type {any} */ compress, /** @type {any} */ capabilities) => cacheConfig(take({ compress }, {}, capabilities)).compress
  assert.deepEqual([true, false, undefined, ['br'], ['gzip', 'br'], ['br', 'zstd', 'gzip'], ['zstd', 'zstd']].map((compress) => codings(compress, kOwn)),
    [7, 0, 0, 1, 5, 7, 2])
  assert.deepEqual([true, ['br', 'gzip']].map((compress) => codings(compress, kOlder)), [5, 5])
  assert.throws(() => codings(['gzip', 'zstd'], kOlder), { code: 'ERR_HTTPSYS_CAPABILITY', capability: 'cacheCodings', message: /\['zstd'\].*Node v/ })
  assert.equal(cacheConfig(take({ rules: 'httpsys', compress: true })).compress, 7)
})

test('HTTPSYS_CACHE_DURATION means what it does to httpsys', () => {
  assert.equal(take(undefined, { HTTPSYS_CACHE_DURATION: '-1' }), null)
  for (const [text, duration] of [['0', 0], ['5', 5], ['4294967295', 2 ** 32 - 1]]) {
    const settings = take(undefined, { HTTPSYS_CACHE_DURATION: text })
    assert.deepEqual([settings.rules, settings.duration], ['httpsys', duration])
  }
  // The default of servers that name no time themselves.
  assert.equal(take({ rules: 'httpsys' }, { HTTPSYS_CACHE_DURATION: '5' }).duration, 5)
  assert.equal(take({ rules: 'httpsys', duration: 1 }, { HTTPSYS_CACHE_DURATION: '5' }).duration, 1)
  assert.equal(take(undefined, { HTTPSYS_CACHE: 'httpsys', HTTPSYS_CACHE_DURATION: '5' }).duration, 5)
  assert.equal(take(true, { HTTPSYS_CACHE_DURATION: '5' }).duration, 0)
})

for (const env of [
  { HTTPSYS_CACHE: 'on' }, { HTTPSYS_CACHE_DURATION: 'long' }, { HTTPSYS_CACHE_DURATION: '1.5' }, { HTTPSYS_CACHE_DURATION: '4294967296' },
  { HTTPSYS_CACHE: 'rfc9111', HTTPSYS_CACHE_DURATION: '5' }
]) {
  test(`the environment ${JSON.stringify(env)} is refused`, () => {
    assert.throws(() => take(undefined, env), { code: 'ERR_HTTPSYS_ENVIRONMENT' })
  })
}

for (const [option, code] of /** @type {[any, string][]} */ ([
  [1, 'ERR_INVALID_ARG_TYPE'],
  [null, 'ERR_INVALID_ARG_TYPE'],
  ['rfc9111', 'ERR_INVALID_ARG_TYPE'],
  [[], 'ERR_INVALID_ARG_TYPE'],
  [{ rule: 'httpsys' }, 'ERR_HTTPSYS_OPTION'],
  [{ rules: 'rfc7234' }, 'ERR_INVALID_ARG_VALUE'],
  [{ duration: 5 }, 'ERR_HTTPSYS_OPTION'],
  [{ harmlessFields: [] }, 'ERR_HTTPSYS_OPTION'],
  [{ rules: 'httpsys', stale: {} }, 'ERR_HTTPSYS_OPTION'],
  [{ rules: 'httpsys', heuristics: true }, 'ERR_HTTPSYS_OPTION'],
  [{ rules: 'httpsys', ignoreReload: true }, 'ERR_HTTPSYS_OPTION'],
  [{ rules: 'httpsys', duration: 0.5 }, 'ERR_OUT_OF_RANGE'],
  [{ rules: 'httpsys', duration: -1 }, 'ERR_OUT_OF_RANGE'],
  [{ rules: 'httpsys', duration: '5' }, 'ERR_INVALID_ARG_TYPE'],
  [{ rules: 'httpsys', harmlessFields: ['X-Forwarded-For'] }, 'ERR_HTTPSYS_OPTION'],
  [{ rules: 'httpsys', duration: 5, harmlessFields: 'X-Forwarded-For' }, 'ERR_INVALID_ARG_TYPE'],
  [{ rules: 'httpsys', duration: 5, harmlessFields: [1] }, 'ERR_INVALID_ARG_TYPE'],
  [{ rules: 'httpsys', duration: 5, harmlessFields: ['a b'] }, 'ERR_INVALID_HTTP_TOKEN'],
  [{ rules: 'httpsys', duration: 5, harmlessFields: ['Cookie'] }, 'ERR_INVALID_ARG_VALUE'],
  [{ rules: 'httpsys', duration: 5, harmlessFields: ['authorization'] }, 'ERR_INVALID_ARG_VALUE'],
  [{ cacheBytes: 1024 }, 'ERR_OUT_OF_RANGE'],
  [{ portCacheBytes: 1024 }, 'ERR_OUT_OF_RANGE'],
  [{ portCacheBytes: '1gb' }, 'ERR_INVALID_ARG_TYPE'],
  [{ cacheBytes: '32mb' }, 'ERR_INVALID_ARG_TYPE'],
  [{ maxEntryBytes: 2 ** 20 + 1 }, 'ERR_OUT_OF_RANGE'],
  [{ stale: 5 }, 'ERR_INVALID_ARG_TYPE'],
  [{ refreshTimeout: 0 }, 'ERR_OUT_OF_RANGE'],
  [{ refreshTimeout: 2 ** 31 }, 'ERR_OUT_OF_RANGE'],
  [{ refreshTimeout: '1m' }, 'ERR_INVALID_ARG_TYPE'],
  [{ coalesceTimeout: -1 }, 'ERR_OUT_OF_RANGE'],
  [{ coalesceTimeout: 2 ** 31 }, 'ERR_OUT_OF_RANGE'],
  [{ stale: { whileRevalidate: -1 } }, 'ERR_OUT_OF_RANGE'],
  [{ stale: { ifErrors: 1 } }, 'ERR_HTTPSYS_OPTION'],
  [{ heuristics: 1 }, 'ERR_INVALID_ARG_TYPE'],
  [{ prefixes: 'http://*:80/' }, 'ERR_INVALID_ARG_TYPE'],
  [{ prefixes: [] }, 'ERR_INVALID_ARG_VALUE'],
  [{ prefixes: ['*:80'] }, 'ERR_HTTPSYS_PREFIX_SYNTAX'],
  [{ status: 'all' }, 'ERR_INVALID_ARG_VALUE'],
  [{ compress: 'br' }, 'ERR_INVALID_ARG_TYPE'],
  [{ compress: 1 }, 'ERR_INVALID_ARG_TYPE'],
  [{ compress: [] }, 'ERR_INVALID_ARG_VALUE'],
  [{ compress: ['deflate'] }, 'ERR_INVALID_ARG_VALUE'],
  [{ compress: [6] }, 'ERR_INVALID_ARG_TYPE']
])) {
  test(`cache: ${JSON.stringify(option)} is ${code}`, () => {
    assert.throws(() => take(option), { code })
  })
}

test('prefixes are those of listen(), in their canonical form', () => {
  assert.deepEqual(cacheConfig(take({ prefixes: ['http://Example.test:80/a'] })).prefixes, ['http://example.test:80/a/'])
})

test('an inherited option counts, and an undefined one does not', () => {
  assert.equal(take(Object.create({ rules: 'httpsys' })).rules, 'httpsys')
  assert.equal(take({ rules: undefined, duration: undefined }).rules, 'rfc9111')
})

test('HTTP.SYS keeps what responses ask for, and what it cannot do is refused by the name of the capability', () => {
  assert.equal(take({ rules: 'httpsys' }, {}, kWindows).duration, 0)
  assert.equal(take(undefined, { HTTPSYS_CACHE_DURATION: '0' }, kWindows).duration, 0)
  const expected = { code: 'ERR_HTTPSYS_CAPABILITY', capability: 'cacheRules' }
  assert.throws(() => take(true, {}, kWindows), expected)
  for (const more of [{ duration: 5 }, { cacheBytes: 2 ** 23 }, { portCacheBytes: 2 ** 23 }, { maxEntryBytes: 1 }, { status: true }, { prefixes: ['http://*:80/a/'] }, { compress: true }, { refreshTimeout: 500 }, { coalesceTimeout: 500 }]) {
    assert.throws(() => take({ rules: 'httpsys', ...more }, {}, kWindows), expected)
  }
  assert.throws(() => take(undefined, { HTTPSYS_CACHE_DURATION: '5' }, kWindows), expected)
})

test('a backend that keeps nothing refuses the option by the name of the capability', () => {
  assert.throws(() => take(true, {}, kNone), { code: 'ERR_HTTPSYS_CAPABILITY', capability: 'caches' })
})

test('server.cache is null without the option, and a program may have a property of that name', () => {
  const server = /** @type {any} */ (http.createServer())
  assert.equal(server.cache, null)
  server.cache = new Map()
  assert.ok(server.cache instanceof Map)
  assert.ok(Object.keys(server).includes('cache'))
})

const hasOwnCache = http.backend === 'engine' && loadBinding().capabilities.cacheRules

test('a server without a cache refuses what needs one', { skip: !hasOwnCache }, () => {
  assert.throws(() => http.flushCache(http.createServer(), 'http://*:80/'), { code: 'ERR_HTTPSYS_CACHE_OFF' })
})

test('what a cache tells needs a server that listens, and arguments of the right kind', { skip: !hasOwnCache }, () => {
  const server = /** @type {any} */ (http.createServer({ cache: true }))
  assert.equal(server.cache, server.cache)
  assert.throws(() => server.cache.stats(), { code: 'ERR_SERVER_NOT_RUNNING' })
  assert.throws(() => server.cache.entries({ limit: 0 }), { code: 'ERR_OUT_OF_RANGE' })
  assert.throws(() => server.cache.entries({ prefix: 1 }), { code: 'ERR_INVALID_ARG_TYPE' })
  assert.throws(() => server.cache.entries({ prefixes: '' }), { code: 'ERR_HTTPSYS_OPTION' })
  assert.throws(() => server.cache.flush(1), { code: 'ERR_INVALID_ARG_TYPE' })
  for (const url of ['', '/news', 'news', 'ftp://a.example/', 'http:///news', 'http://*:0/', 'http://*:65536/', 'http://*:80news']) {
    const refused = { code: 'ERR_INVALID_ARG_VALUE', message: `${JSON.stringify(url)} is no URL such as http://*:8080/news/` }
    assert.throws(() => server.cache.flush(url), refused)
    assert.throws(() => server.cache.entries({ prefix: url }), refused)
    assert.throws(() => http.flushCache(server, url), refused)
  }
  for (const url of ['http://a.example', 'HTTPS://+:443/a?b', 'http://[::1]:80/', 'http://*?a']) assert.throws(() => server.cache.flush(url), { code: 'ERR_SERVER_NOT_RUNNING' })
  assert.throws(() => server.cache.flush('http://*:80/', { recursiv: true }), { code: 'ERR_HTTPSYS_OPTION' })
})
