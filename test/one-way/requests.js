'use strict'

// Generates the requests of the test `one-way`, in batches. The requests of one batch cannot affect each other: a client may send them in any
// order and at the same time. A batch that is held is sent while JavaScript stands still and the queues are full.

const { kBodyMax, kFiles, kFileTime, kQueueLimit, kResources, tagOfFile } = require('./resources')

/**
 * @typedef {object} Request
 * @property {number} id
 * @property {string} method
 * @property {string} target
 * @property {string | null} host null: none
 * @property {[string, string][]} fields
 * @property {Buffer | null} body
 * @property {'length' | 'chunked' | 'none'} framing of the body
 * @property {boolean} isLate the body is sent after the head
 */

/** @typedef {{ requests: Request[], isHeld: boolean }} Batch */

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

/** A host that the certificate does not cover. */
const kUncovered = 'b.two.test'

const kReading = ['GET', 'GET', 'GET', 'GET', 'GET', 'GET', 'HEAD']
const kWriting = ['POST', 'POST', 'POST', 'PUT', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND']
const kHosts = ['a.one.test', 'A.One.Test.:99', kUncovered, 'x_y.test', '[::1]:80', '.']
/** They name no host. @type {(string | null)[]} */
const kNoHosts = ['a.test:80:x', '::1', ':80', null]
const kQueries = ['', '', '', '?empty', '?fails', '?pieces', '?cookies', '?a=%zz']
const kOwned = ['/shop/', '/shop', '/SHOP/js/1', '/shop/js/%7Euser', '/shop/a/../js/2', '/shop//js', '/shop/%2e/js', '/shop/nestedx', '/shop/nested/x', '/shop/nested', '/shop/x/%2e%2e/nested/y', '/strict/js', '/strict', '/basic/js', '/shop/%', '/shop/%u0041', '/shop/%c3%a4']
const kUnowned = ['/', '/nobody', '/shopping', '/shop%2Fjs', '/shop/../other', '/shop/%2e%2e/other', '/named/x', '/elsewher', '//shop']
const kWrongEscapes = ['/strict/%', '/strict/%4', '/strict/%XY', '/strict/%00', '/strict/%u001F', '/strict/%81', '/strict/%F0%8F%8F%BF', '/shop/nested/%7f', `/strict/${'x'.repeat(261)}/y`]
const kRightEscapes = ['/strict/%FF', '/strict/%u0041', '/strict/%C0%A4', `/strict/${'x'.repeat(260)}/y`]
const kFileNames = [...Object.keys(kFiles).map((name) => name.replace(' ', '%20')), '', 'none', 'sub', 'sub/', 'sub/../a.txt', 'bare', 'bare/', 'a.txt/', 'a%2Fb', '%', '%ff', 'a.txt?x=1', '../js/3', '../../other']
/** Bodies by size: around the limits of the servers, and longer than what comes with a head. */
const kBodies = [0, 1, 9, 10, 11, 100, 500, kBodyMax - 1, kBodyMax, kBodyMax + 1, 5000, 70_000].map((bytes) => Buffer.alloc(bytes, 'body '))
/** How many of them are within all limits. While JavaScript stands still, HTTP/1.1 does not refuse a longer body, nor an unknown method. */
const kHeldBodies = 4

class Generator {
  #id = 0
  /** Targets of the batch that have a state. @type {Set<string>} */
  #taken = new Set()
  /** Requests that are answered from the cache from the next batch on. @type {Map<string, Request>} */
  #stored = new Map()
  #isHeld = false
  /** Methods of the batch. Those that write make stored answers to other URLs obsolete, too: which ones, would depend on the order. */
  #methods = kReading

  /** @param {number} seed */
  constructor (seed) { this.random = randomOf(seed) }

  /** @template T @param {readonly T[]} list @returns {T} */
  one (list) { return list[Math.floor(this.random() * list.length)] }

  /** @param {number} part */
  chance (part) { return this.random() < part }

  /** @param {number} count @returns {Batch[]} */
  batches (count) {
    const batches = []
    for (let left = count; left > 0; left -= kQueueLimit) {
      // The first batches fill the cache, so that those that are held find something there.
      this.#isHeld = batches.length > 40 && this.chance(0.1)
      this.#methods = this.chance(0.75) ? kReading : kWriting
      this.#taken.clear()
      const before = [...this.#stored.values()]
      /** @type {Request[]} */
      const requests = []
      while (requests.length < Math.min(kQueueLimit, left)) {
        if (before.length > 0 && this.#methods === kReading && this.chance(0.02)) {
          // Heads with the same bytes, which a lane answers alike.
          const again = this.one(before)
          if (this.#taken.has(again.target)) continue
          this.#taken.add(again.target)
          for (let i = 0; i < 3 && requests.length < Math.min(kQueueLimit, left); i++) requests.push({ ...again, id: this.#id++ })
        } else requests.push(this.#request())
      }
      batches.push({ requests, isHeld: this.#isHeld })
    }
    return batches
  }

  /** @returns {Request} */
  #request () {
    const kind = this.random()
    if (kind < 0.30) return this.#cached()
    if (kind < 0.48) return this.#file()
    if (kind < 0.71) return this.#make(this.one(this.#methods), this.one(kOwned) + this.one(kQueries))
    if (kind < 0.78) return this.#make(this.one(this.#methods), this.one(kUnowned))
    if (kind < 0.81) return this.#make(this.one(this.#methods), this.one(kWrongEscapes))
    if (kind < 0.83) return this.#make(this.one(this.#methods), this.one(kRightEscapes))
    if (kind < 0.85) return this.#make(this.one(this.#methods), '/few/x')
    if (kind < 0.86 && !this.#isHeld) return this.#make('FOO', this.one(['/shop/js', '/nobody', '/strict/%']))
    if (kind < 0.87 && this.#methods === kWriting) return this.#make('OPTIONS', '*')
    if (kind < 0.90) return this.#make(this.one(this.#methods), '/named/x', { host: this.one(['a.one.test', 'A.ONE.TEST', 'a.one.test', kUncovered, 'other.test']) })
    return this.#make(this.one(this.#methods), this.one(['/shop/js/b', '/strict/b', '/nobody/b', '/shop/nested/b', '/shop/files/a.txt', '/basic/b']), { hasBody: true })
  }

  #cached () {
    const kinds = Object.keys(kResources)
    let target = ''
    do {
      target = `${this.one(['/shop', '/shop', '/shop', '/strict'])}/cached/${this.one([...kinds, 'fresh', 'fresh', 'varies'])}/${Math.floor(this.random() * 12)}`
    } while (this.#taken.has(target))
    this.#taken.add(target)
    /** @type {[string, string][]} */
    const fields = []
    const tag = `"${target.split('/').at(-1)}"`
    if (this.chance(0.2)) fields.push(['Accept-Language', this.one(['en', 'de'])])
    if (this.chance(0.15)) fields.push(['Cache-Control', this.one(['no-cache', 'max-age=0', 'only-if-cached', 'no-store', 'min-fresh=5', 'max-stale', 'only-if-cached, max-stale'])])
    if (this.chance(0.03)) fields.push(['Pragma', 'no-cache'])
    if (this.chance(0.05)) fields.push(['Cookie', 'session=1'])
    if (this.chance(0.03)) fields.push(['Authorization', 'Bearer x'])
    if (this.chance(0.04)) fields.push(['X-Forwarded-Host', 'b.test'])
    if (target.includes('/errs/') && this.chance(0.4)) fields.push(['X-Fail', '1'])
    if (this.chance(0.5)) fields.push(...this.#conditions(tag))
    const request = this.#make(this.one(this.#methods), target, { fields, isPlain: this.chance(0.5) })
    const isFill = request.method === 'GET' && fields.length === 0 && request.body === null && request.host === 'any.test' && /fresh|long/.test(target)
    if (isFill && !this.#isHeld && !request.fields.some(([name]) => name === 'X-Id')) this.#stored.set(target, request)
    else if (this.#methods === kWriting) this.#stored.delete(target)
    return request
  }

  /** @param {string} tag @returns {[string, string][]} */
  #conditions (tag) {
    const dates = [kFileTime.toUTCString(), 'Thu, 01 Jan 2026 00:00:00 GMT', 'Fri, 01 Jan 2100 00:00:00 GMT', 'yesterday']
    /** @type {[string, string[]][]} */
    const all = [
      ['If-None-Match', [tag, `"x", ${tag}`, '*', '"x"']],
      ['If-Modified-Since', dates],
      ['If-Match', [tag, '*', '"x"']],
      ['If-Unmodified-Since', dates],
      ['Range', ['bytes=0-9', 'bytes=10-', 'bytes=-5', 'bytes=0-9,100-109', 'bytes=999999-', 'bytes=9-1', 'lines=1-2']],
      ['If-Range', [tag, '"x"', ...dates]]
    ]
    const chosen = all.filter(() => this.chance(0.35))
    return chosen.map(([name, values]) => [name, this.one(values)])
  }

  #file () {
    const name = this.one(kFileNames)
    const target = `${this.one(['/shop/files/', '/shop/files/', '/strict/files/'])}${name}`
    /** @type {[string, string][]} */
    const fields = []
    if (this.chance(0.4)) fields.push(['Accept-Encoding', this.one(['br', 'gzip', 'gzip, br;q=0.5', 'identity', 'br;q=0'])])
    if (this.chance(0.5)) fields.push(...this.#conditions(tagOfFile(name in kFiles ? name : 'a.txt')))
    return this.#make(this.one(this.#methods), target, { fields })
  }

  /**
   * @param {string} method @param {string} target
   * @param {{ fields?: [string, string][], host?: string | null, hasBody?: boolean, isPlain?: boolean }} [given] isPlain: nothing by chance
   * @returns {Request}
   */
  #make (method, target, { fields = [], host = 'any.test', hasBody = ['POST', 'PUT', 'PATCH'].includes(method) && this.chance(0.7), isPlain = false } = {}) {
    const id = this.#id++
    if (!isPlain && host === 'any.test' && this.chance(0.05)) host = this.one([...kHosts, ...kNoHosts])
    fields = [...fields]
    if (!isPlain && this.chance(0.7)) fields.push(['X-Id', String(id)])
    if (!isPlain && this.chance(0.05)) fields.push(['X-Twice', '1'], ['X-Twice', '2'])
    /** @type {Request} */
    const request = { id, method, target, host, fields, body: null, framing: 'none', isLate: false }
    // HTTP/2 resets a stream without a host; the DATA that follow sometimes end the connection.
    if (hasBody && method !== 'FOO' && !kNoHosts.includes(host)) {
      request.body = this.one(kBodies.slice(0, this.#isHeld ? kHeldBodies : undefined))
      request.framing = this.one(['length', 'length', 'chunked'])
      request.isLate = this.chance(0.3)
      if (this.chance(0.1)) fields.push(['Expect', '100-continue'])
    }
    // Over HTTP/1.1 a chunked body that is too long behind the answer 417 gets a second answer.
    if (!isPlain && !this.#isHeld && request.framing !== 'chunked' && this.chance(0.01)) fields.push(['Expect', 'something'])
    return request
  }
}

/** @param {string} target @returns {Request} */
const simple = (target) => ({ id: -1, method: 'GET', target, host: 'any.test', fields: [], body: null, framing: 'none', isLate: false })

/** @param {number} seed @param {number} count */
const batchesOf = (seed, count) => new Generator(seed).batches(count)

module.exports = { batchesOf, kUncovered, simple }
