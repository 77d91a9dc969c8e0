'use strict'

// The suite `cache-tests` (http-tests/cache-tests): where its files are, in the npm package and in a checkout of its
// repository, and how its results count.

const fs = require('node:fs')
const path = require('node:path')
const { pathToFileURL } = require('node:url')

/**
 * @typedef {object} CacheTest as the suite describes it
 * @property {string} id
 * @property {string} name a sentence
 * @property {'required' | 'optimal' | 'check'} [kind] without one it is required
 * @property {string[]} [depends_on] ids of tests without whose passing this one says nothing
 * @property {boolean} [browser_only]
 */

/** What a run of the suite says of a test: true, or the kind of its failure and a message. @typedef {true | [string, string]} Outcome */
/** @typedef {Record<string, Outcome>} Outcomes by id */

/** The package's folders stand at the top, the repository's program in `test-engine`. */
const kEngine = 'test-engine'
/**
 * Tests that the package alone has as they are: the repository has removed them, demands the opposite since RFC 9111 (an Age that is no number
 * is ignored, the first of several counts), lets caches choose, or has mended what no cache could pass.
 */
const kRevised = new RegExp('^(?:' + [
  'freshness-max-age-ignore-quoted-all(-rev)?',
  'age-parse-(nonnumeric|negative|float|prefix-twoline|dup-0|dup-0-twoline|dup-old|parameter|numeric-parameter)',
  'stale-close-(must-revalidate|proxy-revalidate|no-cache|s-maxage=2)',
  '304-etag-update-response-(Content-(Encoding|Length|Location|MD5|Range|Security-Policy|Type)|Clear-Site-Data|ETag|Expires|Public-Key-Pins|Set-Cookie2?|X-Frame-Options|X-XSS-Protection)',
  'invalidate-(POST|PUT|DELETE|M-SEARCH)-(location|cl)',
].join('|') + ')$')

/** @param {string} folder of the suite */
const isRepository = (folder) => fs.existsSync(path.join(folder, kEngine))

/** @param {string} folder of the suite @param {string} name such as cli.mjs @returns {string} */
function programOf (folder, name) {
  return isRepository(folder) ? path.join(folder, kEngine, name) : path.join(folder, name)
}

/** @param {string} file an ES module @returns {Promise<any>} its default export */
const load = async (file) => (await import(pathToFileURL(file).href)).default

/**
 * The tests that count: those for caches that are not in a browser. The package's command line also runs 16 of Surrogate-Control, which
 * are not in its index, and which the repository has replaced by those of CDN-Cache-Control (RFC 9213).
 *
 * @param {string} folder of the suite
 * @returns {Promise<CacheTest[]>}
 */
async function readTests (folder) {
  /** @type {{ tests: CacheTest[] }[]} */
  const groups = await load(path.join(folder, 'tests', 'index.mjs'))
  return groups.flatMap(({ tests }) => tests).filter(({ browser_only: isForBrowsers }) => isForBrowsers !== true)
}

/** @param {string} folder of the suite @param {CacheTest[]} tests @returns {CacheTest[]} those that are as the RFCs of today want them */
const upToDate = (folder, tests) => isRepository(folder) ? tests : tests.filter(({ id }) => !kRevised.test(id))

/** @param {CacheTest} test */
const kindOf = ({ kind }) => kind ?? 'required'

/**
 * Whether tests pass. With `strictly` a test counts only if the tests that it depends on pass, too, as on the suite's own site.
 *
 * @param {CacheTest[]} tests
 * @param {Outcomes} outcomes
 * @param {boolean} strictly
 * @returns {Set<string>} ids of those that pass
 */
function passing (tests, outcomes, strictly) {
  const byId = new Map(tests.map((test) => [test.id, test]))
  /** @type {Map<string, boolean>} */
  const known = new Map()
  /** @param {string} id @returns {boolean} */
  const passes = (id) => {
    const before = known.get(id)
    if (before !== undefined) return before
    const result = outcomes[id] === true && (!strictly || (byId.get(id)?.depends_on ?? []).every(passes))
    known.set(id, result)
    return result
  }
  return new Set([...byId.keys()].filter(passes))
}

/** @typedef {{ passed: number, strictly: number, tests: number }} Score */
/** @typedef {Record<'required' | 'optimal' | 'check', Score>} Scores */

/** @param {CacheTest[]} tests @param {Outcomes} outcomes @returns {Scores} */
function scoresOf (tests, outcomes) {
  const [loosely, strictly] = [false, true].map((each) => passing(tests, outcomes, each))
  const score = (/** @type {string} */ kind) => {
    const ids = tests.filter((test) => kindOf(test) === kind).map(({ id }) => id)
    return { passed: ids.filter((id) => loosely.has(id)).length, strictly: ids.filter((id) => strictly.has(id)).length, tests: ids.length }
  }
  return { required: score('required'), optimal: score('optimal'), check: score('check') }
}

/** @param {Score} score */
const scoreText = ({ passed, strictly, tests }) => `${passed} (${strictly}) of ${tests}`

/**
 * Results of other caches, which a checkout of the repository has.
 *
 * @param {string} folder of the suite
 * @returns {Promise<{ name: string, outcomes: Outcomes }[]>} none of browsers
 */
async function readPublished (folder) {
  const results = path.join(folder, 'results')
  if (!isRepository(folder) || !fs.existsSync(path.join(results, 'index.mjs'))) return []
  return (await load(path.join(results, 'index.mjs'))).filter((/** @type {any} */ { type }) => type !== 'browser')
    .map((/** @type {any} */ { name, version, file }) => ({ name: `${name} ${version}`, outcomes: JSON.parse(fs.readFileSync(path.join(results, file), 'utf8')) }))
}

module.exports = { kindOf, programOf, readPublished, readTests, scoreText, scoresOf, upToDate }
