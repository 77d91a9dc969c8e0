'use strict'

// What two runs of a suite say about us, and what of it is known.

/** At most so many entries a suite: a list that grows is a defect that is not repaired. */
const kMaxKnown = 10
/** Over another protocol, where some of what is tested does not exist. */
const kMaxKnownOver = 50

/** @typedef {{ test: string, reason: string }} Known */

/**
 * @typedef {object} Verdict
 * @property {string} suite
 * @property {string} version
 * @property {number} tests
 * @property {{ passed: number, failed: number, skipped: number, seconds: number }} stock
 * @property {{ passed: number, failed: number, skipped: number, seconds: number, requests: number }} ours
 * @property {number} same
 * @property {string[]} lost passed on stock, or required of ours whatever stock does, and not on ours; or failed on ours only
 * @property {string[]} gained
 * @property {Known[]} known those of the lost that are listed
 * @property {string[]} unexpected lost and not listed
 * @property {Known[]} stale listed, but not lost
 * @property {string[]} problems why the run proves nothing; empty when it does
 * @property {{ files: number, passStock: number, passOurs: number } | null} reaching tests that reach a server, where that is known
 */

/** @param {import('./child').Execution} execution */
function tally ({ tests, seconds }) {
  const count = (/** @type {string} */ wanted) => [...tests.values()].filter(({ result }) => result === wanted).length
  return { passed: count('pass'), failed: count('fail'), skipped: count('skip'), seconds }
}

/**
 * @param {import('./suites').Suite} suite
 * @param {import('./child').Execution} stock
 * @param {import('./child').Execution} ours
 * @param {Known[]} listed
 * @returns {Verdict}
 */
function compare (suite, stock, ours, listed) {
  const passes = (/** @type {import('./child').Execution} */ { tests }, /** @type {string} */ name) => tests.get(name)?.result === 'pass'
  const names = [...new Set([...stock.tests.keys(), ...ours.tests.keys()])]
  // A failure that stock Node has not even a name for: a file or a hook that did not end.
  const isNew = (/** @type {string} */ name) => ours.tests.get(name)?.result === 'fail' && !stock.tests.has(name)
  const isDue = (/** @type {string} */ name) => passes(stock, name) || ours.wanted?.required.has(name) === true
  const lost = names.filter((name) => isDue(name) ? !passes(ours, name) : isNew(name))
  const gained = names.filter((name) => passes(ours, name) && !passes(stock, name))
  const isListed = (/** @type {string} */ name) => listed.some(({ test }) => test === name)
  const problems = []
  if (![...stock.tests.values()].some(({ result }) => result === 'pass')) problems.push(`no test passed on stock Node:\n${stock.output}`)
  if (stock.timedOut) problems.push('the run on stock Node did not end within its time limit')
  if (ours.timedOut) problems.push('the run on the engine did not end within its time limit')
  if (ours.requests === 0) problems.push(`the engine served no request${suite.over === undefined ? '' : ` over ${suite.over}`}`)
  const passStock = [...stock.reaching].filter((name) => passes(stock, name))
  const passOurs = passStock.filter((name) => passes(ours, name))
  if (passOurs.length < (suite.share ?? 0) * passStock.length) {
    problems.push(`of ${passStock.length} files that reach a server and pass on stock ${passOurs.length} pass on the engine: too few`)
  }
  const [required, optimal] = [[...ours.wanted?.required ?? []], [...ours.wanted?.optimal ?? []]]
  const passed = (/** @type {string[]} */ wanted) => wanted.filter((name) => passes(ours, name)).length
  const least = Math.ceil((suite.requiredLeast ?? 0) * required.length)
  if (passed(required) < least) problems.push(`of ${required.length} required tests ${passed(required)} pass: at least ${least} must`)
  const failed = optimal.length - passed(optimal)
  if (failed > (suite.optimalLost ?? Infinity)) problems.push(`of ${optimal.length} optimal tests ${failed} fail: at most ${suite.optimalLost} may`)
  return {
    suite: suite.name,
    version: suite.target === undefined ? suite.version ?? suite.source.version : `${suite.target.version}, tests of ${suite.source.version}`,
    tests: stock.tests.size,
    stock: tally(stock),
    ours: { ...tally(ours), requests: ours.requests },
    same: names.length - lost.length - gained.length,
    lost,
    gained,
    known: listed.filter(({ test }) => lost.includes(test)),
    unexpected: lost.filter((name) => !isListed(name)),
    // Of cache-tests there are two versions.
    stale: listed.filter(({ test }) => !lost.includes(test) && (suite.runner !== 'cache-tests' || names.includes(test))),
    problems,
    reaching: suite.runner === 'node-core' ? { files: stock.reaching.size, passStock: passStock.length, passOurs: passOurs.length } : null,
  }
}

/**
 * Takes what stock Node fails when it is asked again out of what it passes.
 *
 * @param {import('./child').Execution} stock
 * @param {import('./child').Execution} again of stock, too
 * @param {string[]} names that ours has lost
 * @returns {string[]} those that stock passed once and failed now
 */
function discount (stock, again, names) {
  const unstable = names.filter((name) => stock.tests.get(name)?.result === 'pass' && again.tests.get(name)?.result === 'fail')
  for (const name of unstable) stock.tests.set(name, /** @type {any} */ (again.tests.get(name)))
  return unstable
}

/** @param {string} text of the list, in which an entry may name several tests @returns {Record<string, Known[]>} */
function readKnown (text) {
  /** @type {Record<string, { test: string | string[], reason: string }[]>} */
  const lists = JSON.parse(text)
  return Object.fromEntries(Object.entries(lists).map(([suite, entries]) =>
    [suite, entries.flatMap(({ test, reason }) => [test].flat().map((each) => ({ test: each, reason })))]))
}

/**
 * @param {Record<string, Known[]>} known
 * @param {{ name: string, over?: string }[]} suites
 * @returns {string[]} what is wrong with the list
 */
function checkKnown (known, suites) {
  const most = (/** @type {string} */ suite) => suites.find(({ name }) => name === suite)?.over === undefined ? kMaxKnown : kMaxKnownOver
  return Object.entries(known).flatMap(([suite, entries]) => [
    ...suites.some(({ name }) => name === suite) ? [] : [`${suite} is not a suite`],
    ...entries.length > most(suite) ? [`${suite} has ${entries.length} known differences, more than ${most(suite)}`] : [],
    ...new Set(entries.map(({ test }) => test)).size < entries.length ? [`${suite} names a test twice`] : [],
    ...entries.filter(({ reason }) => typeof reason !== 'string' || reason.length < 20 || /not implemented/i.test(reason))
      .map(({ test }) => `${suite}: ${test} has no reason that can be checked`),
  ])
}

/** @param {Verdict} verdict */
const isGreen = ({ problems, unexpected }) => problems.length === 0 && unexpected.length === 0

module.exports = { kMaxKnown, checkKnown, compare, discount, isGreen, readKnown }
