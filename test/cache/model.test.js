'use strict'

// Goal: no answer of one user ever reaches another, and the cache answers exactly what RFC 9111 lets it answer. Random requests to
// resources whose answers change, beside a model; each answer of the handler says whose it is.
//
//   HTTPSYS_CACHE_STEPS  how many steps are played (3,000)
//   HTTPSYS_CACHE_SEED   the seed (the clock); a failure names its own

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { needsCache, serveCached } = require('./origin-kit')
const { CacheModel, kUnsafe } = require('./model')

/** @typedef {import('./model').Terms} Terms */
/** @typedef {import('./origin-kit').Answer} Answer */

const kSteps = Number(process.env.HTTPSYS_CACHE_STEPS ?? 3000)
const kSeed = Number(process.env.HTTPSYS_CACHE_SEED ?? Date.now() % 1_000_000_000)
/** A step takes half a millisecond; now and then time passes. */
const kLimitMs = 120_000 + kSteps * 20

/** Requests for the URL that a message shows. */
const kShown = 10

const kPaths = ['/a', '/a?b', '/a/', '/me.css', '/c%2fd', '/e']
const kHosts = ['one.example', 'two.example']
const kUsers = ['alice', 'bob', 'carol']
const kLanguages = ['en', 'de']
/** How many bytes they want of so many. @type {Record<string, (length: number) => number>} */
const kRanges = { 'bytes=0-3': () => 4, 'bytes=5-': (length) => length - 5, 'bytes=-7': () => 7, 'bytes=1-2,4-6': () => 5, 'bytes=0-1,-9': () => 11 }
const kTags = '"none", "of", "ours"'

/** How a resource answers. @type {Record<string, Terms & { fields: () => Record<string, string | string[]>, status?: number }>} */
const kKinds = {
  silent: { isStored: false, fields: () => ({}) },
  short: { isStored: true, seconds: 2, fields: () => ({ 'Cache-Control': 'max-age=2' }) },
  long: { isStored: true, seconds: 3600, fields: () => ({ 'Cache-Control': 'max-age=3600' }) },
  public: { isStored: true, isPublic: true, seconds: 3600, fields: () => ({ 'Cache-Control': 'public, max-age=3600' }) },
  publicShort: { isStored: true, isPublic: true, seconds: 2, fields: () => ({ 'Cache-Control': 'public, max-age=2' }) },
  shared: { isStored: true, seconds: 3600, fields: () => ({ 'Cache-Control': 's-maxage=3600, max-age=0' }) },
  expires: { isStored: true, seconds: 3600, fields: () => ({ Expires: new Date(Date.now() + 3_700_000).toUTCString() }) },
  targeted: { isStored: true, seconds: 3600, fields: () => ({ 'CDN-Cache-Control': 'max-age=3600', 'Cache-Control': 'no-store' }) },
  targetedPrivate: { isStored: false, fields: () => ({ 'CDN-Cache-Control': 'private', 'Cache-Control': 'public, max-age=3600' }) },
  private: { isStored: false, fields: () => ({ 'Cache-Control': 'private, max-age=3600' }) },
  noStore: { isStored: false, fields: () => ({ 'Cache-Control': 'no-store' }) },
  noCache: { isStored: true, asks: true, seconds: 3600, fields: () => ({ 'Cache-Control': 'no-cache, max-age=3600' }) },
  setsCookie: { isStored: false, isPublic: true, fields: () => ({ 'Cache-Control': 'public, max-age=3600', 'Set-Cookie': ['a=1', 'b=2'] }) },
  varies: { isStored: true, isPublic: true, varies: true, seconds: 3600, fields: () => ({ 'Cache-Control': 'public, max-age=3600', Vary: 'Accept-Language' }) },
  variesWithCookie: { isStored: false, fields: () => ({ 'Cache-Control': 'public, max-age=3600', Vary: 'Cookie' }) },
  variesWithAll: { isStored: false, fields: () => ({ 'Cache-Control': 'public, max-age=3600', Vary: '*' }) },
  stale: { isStored: true, goesStale: true, seconds: 1, fields: () => ({ 'Cache-Control': 'max-age=1, stale-while-revalidate=3600' }) },
  missing: { isStored: true, seconds: 3600, status: 404, fields: () => ({ 'Cache-Control': 'max-age=3600' }) },
  failing: { isStored: false, status: 500, fields: () => ({}) },
}
const kKindNames = Object.keys(kKinds)

/** @param {number} seed @returns {() => number} from 0 up to 1 */
function randomOf (seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6D2B79F5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * What the handler has answered.
 *
 * @typedef {object} Said
 * @property {number} call
 * @property {string} step of the request
 * @property {string} url
 * @property {string | null} user null: the same for all
 * @property {string | null} language null: the same for all
 * @property {number} version
 * @property {string} kind
 * @property {number} status
 * @property {string} tag
 * @property {number} at ms
 */

/** @param {Said} said @returns {string} of a length of its own */
const bodyOf = (said) => `${JSON.stringify(said)}${'.'.repeat(said.version * 977 % 5000)}`

/** A step: a request, as the model and as the wire have it. @typedef {ReturnType<World['makeRequest']>} Step */

class World {
  /** @type {Map<string, { kind: string, version: number }>} */
  resources = new Map(kPaths.map((path) => [path, { kind: 'long', version: 1 }]))
  /** What was asked and answered, for messages. @type {{ url: string, line: string }[]} */
  history = []
  /** By call. @type {Said[]} */
  said = []
  /** The same by the step of the request. @type {Map<string, Said[]>} */
  saidAt = new Map()
  model = new CacheModel()
  counts = { hits: 0, calls: 0, either: 0, unsatisfiable: 0, bursts: 0, partial: 0, notModified: 0 }
  steps = 0
  failsUnsafe = false

  /** @param {() => number} random */
  constructor (random) {
    this.random = random
  }

  /** @template T @param {T[]} list @returns {T} */
  one (list) {
    return list[Math.floor(this.random() * list.length)]
  }

  /** @param {number} part */
  chance (part) {
    return this.random() < part
  }

  /** @param {import('node:http').IncomingMessage} req @param {import('node:http').ServerResponse} res */
  handle (req, res) {
    const { method = '', url = '', headers } = req
    const resource = /** @type {{ kind: string, version: number }} */ (this.resources.get(url))
    const user = /(?:session=|Bearer )(\w+)/.exec(`${headers.cookie} ${headers.authorization}`)?.[1] ?? 'nobody'
    const { kind, version } = resource
    const { isPublic = false, varies = false, status = 200, fields } = kKinds[kind]
    const isUnsafe = kUnsafe.has(method)
    const call = this.said.length
    const said = {
      call,
      step: String(headers['x-step']),
      url: `${headers.host} ${headers['x-forwarded-host'] ?? ''} ${url}`,
      // An application that says "public" answers all the same, unless they name themselves by Authorization.
      user: isPublic && headers.authorization === undefined && !isUnsafe ? null : user,
      language: varies ? String(headers['accept-language']) : null,
      version,
      kind,
      status: isUnsafe ? (this.failsUnsafe ? 500 : 200) : status,
      tag: '',
      at: performance.now(),
    }
    said.tag = `"${version}-${said.url.replaceAll(' ', '_')}-${said.user}-${said.language}"`
    if (isUnsafe && said.status === 200) resource.version++
    if (!isUnsafe && status === 200 && headers['if-none-match'] === said.tag) said.status = 304
    this.said.push(said)
    this.saidAt.set(said.step, [...this.saidAt.get(said.step) ?? [], said])
    res.statusCode = said.status
    for (const [name, value] of Object.entries(fields())) res.setHeader(name, value)
    res.setHeader('ETag', said.tag)
    if (said.status === 304) return res.end()
    res.setHeader('X-Call', String(call))
    res.setHeader('Content-Type', 'text/plain')
    const body = bodyOf(said)
    if (version % 3 === 0) res.write(body.slice(0, 20))
    res.end(version % 3 === 0 ? body.slice(20) : body)
  }

  makeRequest (path = this.one(kPaths)) {
    const step = String(this.steps++)
    const method = this.chance(0.82) ? 'GET' : this.one(['HEAD', 'HEAD', 'OPTIONS', ...kUnsafe])
    const host = this.one(kHosts)
    const language = this.one(kLanguages)
    const credentials = this.one(/** @type {const} */ (['none', 'none', 'cookie', 'cookie', 'authorization']))
    const user = credentials === 'none' ? 'nobody' : this.one(kUsers)
    const forwarded = this.chance(0.1) ? 'front.example' : ''
    const isGet = method === 'GET'
    const range = isGet && this.chance(0.08) ? this.one(Object.keys(kRanges)) : ''
    const directive = this.chance(0.88) ? '' : this.one(/** @type {const} */ (['no-cache', 'max-age=0', 'no-store', 'only-if-cached']))
    const seen = this.chance(0.1) && range === '' ? this.one([kTags, this.said.at(-1)?.tag ?? kTags, this.said.findLast(({ url }) => url.endsWith(` ${path}`))?.tag ?? kTags]) : ''
    /** @type {Record<string, string>} */
    const headers = {
      Host: host,
      'X-Step': step,
      'Accept-Language': language,
      ...credentials === 'cookie' && { Cookie: `theme=dark; session=${user}` },
      ...credentials === 'authorization' && { Authorization: `Bearer ${user}` },
      ...forwarded !== '' && { 'X-Forwarded-Host': forwarded },
      ...range !== '' && { Range: range },
      ...directive !== '' && { 'Cache-Control': directive },
      ...seen !== '' && { 'If-None-Match': seen },
    }
    /** @type {import('./model').Asked} */
    const asked = { method, url: `${host} ${forwarded} ${path}`, language, credentials, hasRange: range !== '', directive }
    return { step, asked, user, path, range, seen, wire: { method, path, headers, body: kUnsafe.has(method) ? 'change' : undefined } }
  }

  /** Whose an answer is, whether it is whole, and whether it belongs to the request. @param {Step} request @param {Answer} answer */
  check (request, answer) {
    const { asked, user, range, seen } = request
    const why = () => `step ${request.step}: ${JSON.stringify(request.wire)} was answered ${answer.status} ${JSON.stringify(answer.headers)} ${answer.body.slice(0, 300)}`
    if (answer.status === 304) {
      assert.ok(seen !== '' && seen === answer.headers.etag, why())
      this.counts.notModified++
      return
    }
    if (answer.status === 504 && asked.directive === 'only-if-cached') return
    const said = this.said[Number(answer.headers['x-call'])]
    assert.ok(said !== undefined, why())
    assert.ok(said.user === null || said.user === user, why())
    assert.equal(said.url, asked.url, why())
    if (said.language !== null) assert.equal(said.language, asked.language, why())
    assert.equal(answer.headers.etag, said.tag, why())
    assert.equal(answer.headers['set-cookie'] !== undefined, said.kind === 'setsCookie', why())
    if (asked.method === 'HEAD') return assert.equal(answer.body, '')
    if (answer.status !== 206) {
      assert.equal(answer.status, said.status, why())
      assert.equal(answer.body, bodyOf(said), why())
      return
    }
    this.counts.partial++
    assert.equal(said.status, 200, why())
    const body = bodyOf(said)
    // Ranges that are near each other may come as one; each part says what it is.
    const parts = answer.headers['content-range'] !== undefined
      ? [[`content-range: ${answer.headers['content-range']}`, answer.body]]
      : answer.body.split('\r\n--').slice(0, -1).map((part) => part.split('\r\n\r\n'))
    for (const [head, bytes] of parts) {
      const [, first, last, length] = /content-range: bytes (\d+)-(\d+)\/(\d+)/i.exec(head) ?? []
      assert.equal(Number(length), body.length, why())
      assert.equal(bytes, body.slice(Number(first), Number(last) + 1), why())
    }
    assert.ok(parts.length > 0 && kRanges[range](body.length) <= parts.reduce((sum, [, bytes]) => sum + bytes.length, 0), why())
  }

  /** @param {Step} request @param {Answer} answer @param {import('./model').Times} times */
  compare (request, answer, times) {
    const { asked, step } = request
    const expected = this.model.expects(asked, times)
    const calls = this.saidAt.get(step) ?? []
    const told = Number(answer.headers['x-call'])
    const { path, ...wire } = request.wire
    this.history.push({
      url: asked.url,
      line: `${step} at ${Math.round(times.sent)}: ${JSON.stringify(wire)}, expected ${JSON.stringify(expected)}, was answered ${answer.status} by call ` +
      `${told} (${this.said[told]?.kind}), calls ${JSON.stringify(calls.map(({ call, status, kind, version }) => [call, status, kind, version]))}`
    })
    const why = () => `what happened to ${asked.url}:\n${this.history.filter(({ url }) => url === asked.url).slice(-kShown).map(({ line }) => line).join('\n')}\n`
    if (expected.does === 'hit') {
      assert.equal(calls.length, 0, why())
      if (answer.status !== 304) assert.equal(told, expected.call, why())
      this.counts.hits++
    } else if (expected.does === 'unsatisfiable') {
      assert.deepEqual([answer.status, calls.length], [504, 0], why())
      this.counts.unsatisfiable++
    } else if (expected.does === 'call') {
      assert.equal(calls.length, 1, why())
      // Its own answer, or one that it called good.
      if (calls[0].status !== 304) assert.equal(told, calls[0].call, why())
      else if (answer.status !== 304) assert.equal(this.said[told].tag, calls[0].tag, why())
      this.counts.calls++
    } else {
      assert.ok(calls.length <= 1, why())
      if (calls.length === 0 && !(answer.status === 504 && asked.directive === 'only-if-cached')) assert.ok(['GET', 'HEAD'].includes(asked.method), why())
      this.counts.either++
      const said = this.said[told]
      if (calls.length === 0 && said !== undefined) this.model.learnHit(asked, times, { call: told, terms: kKinds[said.kind], at: said.at })
    }
    for (const { call, status, kind } of calls) this.model.learn(asked, times, { call, status, terms: kKinds[kind] })
  }
}

/** @param {World} world @param {(asked: any) => Promise<Answer>} ask */
async function playOne (world, ask) {
  const request = world.makeRequest()
  const sent = performance.now()
  const answer = await ask(request.wire)
  world.check(request, answer)
  world.compare(request, answer, { sent, received: performance.now() })
}

/** Several users ask for the same thing at once: only whose the answers are is known then. @param {World} world @param {(asked: any) => Promise<Answer>} ask */
async function playBurst (world, ask) {
  const path = world.one(kPaths)
  const requests = Array.from({ length: 2 + Math.floor(world.random() * 6) }, () => world.makeRequest(path))
  const answers = await Promise.all(requests.map(({ wire }) => ask(wire)))
  for (const [index, request] of requests.entries()) world.check(request, answers[index])
  for (const host of kHosts) {
    for (const forwarded of ['', 'front.example']) {
      world.model.doubt(`${host} ${forwarded} ${path}`)
      world.history.push({ url: `${host} ${forwarded} ${path}`, line: 'several at once' })
    }
  }
  world.counts.bursts++
}

test('answers reach whom they are for, and come from the cache exactly when they may', { ...needsCache(), timeout: kLimitMs }, async (t) => {
  const world = new World(randomOf(kSeed))
  const { ask } = await serveCached(t, (req, res) => world.handle(req, res))
  try {
    while (world.steps < kSteps) {
      const dice = world.random()
      if (dice < 0.04) {
        const resource = world.resources.get(world.one(kPaths))
        Object.assign(/** @type {object} */ (resource), { kind: world.one(kKindNames), version: (resource?.version ?? 0) + 1 })
      } else if (dice < 0.05) {
        world.failsUnsafe = !world.failsUnsafe
      } else if (dice < 0.053) {
        await sleep(100 + world.random() * 900)
      } else if (dice < 0.075) {
        await playBurst(world, ask)
      } else {
        await playOne(world, ask)
      }
    }
  } catch (error) {
    throw Object.assign(/** @type {Error} */ (error), { message: `HTTPSYS_CACHE_SEED=${kSeed}: ${/** @type {Error} */ (error).message}` })
  }
  t.diagnostic(`seed ${kSeed}, ${world.steps} requests: ${JSON.stringify(world.counts)}`)
  // A run that met nothing shows nothing.
  const { hits, calls, partial, notModified } = world.counts
  assert.ok(hits > kSteps / 50 && calls > kSteps / 10 && partial > 0 && notModified > 0, JSON.stringify(world.counts))
})
