'use strict'

// A small model of a shared cache (RFC 9111): what it may have stored, and whether a request must, may or must not reach the handler.
// Times are not exact, so that an expectation near the end of a lifetime is "either".

/** Date has whole seconds, and Node renews it once a second: a response may count as that much older than it is. */
const kDateMs = 1100
/** Longer than a handler that answers at once needs in the background. */
const kRefreshMs = 2000
const kUnsafe = new Set(['POST', 'PUT', 'DELETE', 'PATCH', 'M-SEARCH'])

/**
 * @typedef {object} Terms of a response to any request
 * @property {boolean} isStored
 * @property {boolean} [isPublic] requests with cookies may have it
 * @property {number} [seconds] of its lifetime
 * @property {boolean} [asks] each use asks the handler: no-cache
 * @property {boolean} [goesStale] it may be used although it is stale
 * @property {boolean} [varies] with Accept-Language
 *
 * @typedef {object} Asked
 * @property {string} method
 * @property {string} url Host, forwarding field and target
 * @property {string} language
 * @property {'none' | 'cookie' | 'authorization'} credentials
 * @property {boolean} hasRange
 * @property {'' | 'no-cache' | 'max-age=0' | 'no-store' | 'only-if-cached'} directive
 *
 * @typedef {object} Times of a request, in ms
 * @property {number} sent
 * @property {number} received
 *
 * @typedef {object} Entry
 * @property {number} call of the handler that made it
 * @property {Terms} terms
 * @property {Times} times earliest and latest time at which it was stored
 *
 * @typedef {{ does: 'hit', call: number } | { does: 'call' } | { does: 'either' } | { does: 'unsatisfiable' }} Expected either: a hit of
 *   anything that was answered for the URL, or a call
 */

/** What is stored for a URL. A variant that is not listed is unknown or not there. */
class Stored {
  /** @param {boolean} varies @param {boolean} isKnown whether what is not listed is not there */
  constructor (varies, isKnown) {
    this.varies = varies
    this.isKnown = isKnown
    /** @type {Map<string, Entry>} */
    this.entries = new Map()
  }
}

class CacheModel {
  /** @type {Map<string, Stored>} */
  #urls = new Map()
  /** Until when a stale response may be replaced in the background. @type {Map<string, number>} */
  #unsettled = new Map()

  /** @param {Asked} asked @param {Times} times @returns {Expected} */
  expects (asked, times) {
    if ((asked.method !== 'GET' && asked.method !== 'HEAD') || asked.credentials === 'authorization') return { does: 'call' }
    const stored = this.#urls.get(asked.url)
    const entry = stored?.entries.get(stored.varies ? asked.language : '')
    if (entry !== undefined) return this.#judge(entry, asked, times)
    if (stored?.isKnown === false) return { does: 'either' }
    return { does: asked.directive === 'only-if-cached' ? 'unsatisfiable' : 'call' }
  }

  /** @param {Entry} entry @param {Asked} asked @param {Times} times @returns {Expected} */
  #judge ({ call, terms, times: stored }, { credentials, directive }, { sent, received }) {
    const isOnlyStored = directive === 'only-if-cached'
    const onlyStored = /** @type {const} */ (isOnlyStored ? 'unsatisfiable' : 'call')
    // Whether 504 or the handler answers who may not have what is stored is the cache's choice.
    if (credentials === 'cookie' && terms.isPublic !== true) return { does: isOnlyStored ? 'either' : 'call' }
    if (terms.asks === true || directive === 'no-cache') return { does: onlyStored }
    const lifetime = (terms.seconds ?? 0) * 1000
    const [least, most] = [sent - stored.received, received - stored.sent + kDateMs]
    if (directive === 'max-age=0') return { does: 'either' }
    if (most < lifetime) return { does: 'hit', call }
    return { does: least > lifetime && terms.goesStale !== true ? onlyStored : 'either' }
  }

  /**
   * Learns from a response of the handler.
   *
   * @param {Asked} asked
   * @param {Times} times
   * @param {{ call: number, status: number, terms: Terms }} answer
   */
  learn (asked, times, { call, status, terms }) {
    const { method, url, language, credentials, hasRange, directive } = asked
    // After an error a cache may keep what it has, or not (section 4.4).
    if (kUnsafe.has(method)) return status < 400 ? this.#invalidate(url) : this.forget(url)
    if (status === 304) return this.#refresh(asked, times)
    if (method === 'HEAD') return this.forget(url)
    const isStored = method === 'GET' && terms.isStored && credentials !== 'authorization' && !hasRange && directive !== 'no-store' &&
      (credentials === 'none' || terms.isPublic === true)
    if (!isStored) return
    if (this.#isUnsettled(url, times)) return this.doubt(url)
    const before = this.#urls.get(url)
    const varies = terms.varies === true
    // One that varies takes the place of one that does not. But what other variants there are is not known if what was there is not.
    const stored = varies && before?.varies === true ? before : new Stored(varies, !varies || before?.isKnown !== false)
    stored.entries.set(varies ? language : '', { call, terms, times })
    this.#urls.set(url, stored)
  }

  /**
   * Learns from a hit of which it was not known whether it would be one.
   *
   * @param {Asked} asked
   * @param {Times} times
   * @param {{ call: number, terms: Terms, at: number }} entry at: when the handler made it
   */
  learnHit ({ url, language }, times, { call, terms, at }) {
    if (terms.goesStale === true) this.#unsettled.set(url, times.received + kRefreshMs)
    if (this.#isUnsettled(url, times)) return this.doubt(url)
    const before = this.#urls.get(url)
    const varies = terms.varies === true
    const stored = varies && before?.varies === true ? before : new Stored(varies, !varies)
    stored.entries.set(varies ? language : '', { call, terms, times: { sent: at, received: times.received } })
    this.#urls.set(url, stored)
  }

  /** Whether a response may be on its way that takes the place of what is stored. @param {string} url @param {Times} times */
  #isUnsettled (url, { received }) {
    return received < (this.#unsettled.get(url) ?? 0)
  }

  /** The handler has said that a response is still good; the cache's, or that of the client. @param {Asked} asked @param {Times} times */
  #refresh ({ url, language }, times) {
    const stored = this.#urls.get(url)
    const key = stored?.varies === true ? language : ''
    const entry = stored?.entries.get(key)
    if (entry !== undefined) stored?.entries.set(key, { ...entry, times: { sent: entry.times.sent, received: times.received } })
  }

  /** @param {string} url */
  #invalidate (url) {
    const target = url.split(' ').at(-1)
    // The same URL behind another proxy may or may not be stored any more.
    for (const other of this.#urls.keys()) if (other.split(' ').at(-1) === target) this.forget(other)
    this.#urls.delete(url)
  }

  /** What is stored for a URL is not known any more. @param {string} url */
  forget (url) {
    if (this.#urls.has(url)) this.doubt(url)
  }

  /** Something may be stored for a URL. @param {string} url */
  doubt (url) {
    this.#urls.set(url, new Stored(false, false))
  }
}

module.exports = { CacheModel, kUnsafe }
