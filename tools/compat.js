'use strict'

// Runs other people's test suites on stock Node, then on the engine, and says which tests differ.
//
//   node tools/compat.js [suite ...] [--over https|http2] [--fast] [--write] [--list]
//
// --over takes the suites that are run over another protocol, by the names of those over plain HTTP/1.1;
// --fast runs the part that `npm test -- --all` runs; --write puts the results into docs/compatibility.md;
// --list names the suites.
// Needs the registries of Debian, npm and PyPI, and GitHub, the first time; suites are kept in the user's cache folder.

const fs = require('node:fs')
const path = require('node:path')
const { compare, checkKnown, discount, isGreen, readKnown } = require('./compat/compare')
const { executeCacheTests } = require('./compat/cache/execute')
const { execute } = require('./compat/execute')
const { UnreachableError, compatFolder, ensureSuite, isAvailable } = require('./compat/fetch')
const { summary, updatePage } = require('./compat/report')
const { kSuites } = require('./compat/suites')
const { executeWire } = require('./compat/wire/execute')
const { kRoot, main } = require('./lib/project')

const kKnown = path.join(kRoot, 'test', 'compat', 'known-differences.json')
const kPage = path.join(kRoot, 'docs', 'compatibility.md')

/** How often stock Node is asked whether it passes a test each time that ours has lost. */
const kStockAgain = 2

/** How much of what a lost test said is shown. */
const kShownError = 600

/** @typedef {import('./compat/suites').Suite} Suite */

/** What came of stock Node, by what was run: a suite over another protocol is the same there. @type {Map<string, import('./compat/child').Execution>} */
const stockRuns = new Map()

/**
 * @param {Suite} suite
 * @param {import('./compat/compare').Known[]} listed
 */
async function runSuite (suite, listed) {
  const folder = await ensureSuite(suite)
  const scratch = path.join(compatFolder(), 'runs', path.basename(folder))
  /** @param {'stock' | 'ours'} mode */
  const once = async (mode) => {
    const executeSuite = suite.runner === 'wire' ? executeWire : suite.runner === 'cache-tests' ? executeCacheTests : execute
    const execution = await executeSuite(suite, folder, mode, `${scratch}-${mode}`)
    const passed = [...execution.tests.values()].filter(({ result }) => result === 'pass').length
    console.log(`${suite.name}: ${mode}, ${passed} of ${execution.tests.size} pass (${execution.seconds.toFixed(1)} s)` +
      (mode === 'ours' ? `, the engine served ${execution.requests} requests${suite.over === undefined ? '' : ` over ${suite.over}`}` : ''))
    return execution
  }
  const key = suite.base ?? suite.name
  const stock = stockRuns.get(key) ?? await once('stock')
  stockRuns.set(key, stock)
  const ours = await once('ours')
  let verdict = compare(suite, stock, ours, listed)
  if (verdict.unexpected.length > 0) {
    // Ours is not run again. But a test of timing that stock Node fails, too, when it is asked again, says nothing about us.
    for (let i = 0; i < kStockAgain; i++) {
      console.log(`${suite.name}: stock is run again for ${verdict.unexpected.join('; ')}`)
      const again = await once('stock')
      for (const name of discount(stock, again, verdict.unexpected)) {
        console.log(`${suite.name}: fails on stock Node now and then, and is not counted: ${name}`)
      }
    }
    verdict = compare(suite, stock, ours, listed)
  }
  console.log(`${suite.name}: ${verdict.same} same, ${verdict.lost.length} lost, ${verdict.gained.length} gained`)
  for (const problem of verdict.problems) console.log(`  ${problem}`)
  for (const name of verdict.unexpected) {
    console.log(`  LOST ${name}\n${(ours.tests.get(name)?.error ?? 'did not run').slice(-kShownError).replace(/^/gm, '    ')}`)
  }
  for (const name of verdict.gained) console.log(`  gained ${name}`)
  for (const { test, reason } of verdict.known) console.log(`  known: ${test} (${reason})`)
  for (const { test } of verdict.stale) console.log(`  passes, though listed as known difference: ${test}`)
  return verdict
}

/** @param {string[]} names @param {string} [over] @returns {Suite[]} */
function chooseSuites (names, over) {
  const all = over === undefined ? kSuites : kSuites.filter((suite) => suite.over === over)
  const isNamed = (/** @type {Suite} */ suite, /** @type {string} */ name) => suite.name === name || (over !== undefined && suite.base === name)
  const unknown = names.filter((name) => !all.some((suite) => isNamed(suite, name)))
  if (unknown.length > 0 || all.length === 0) throw new Error(`No such suite: ${unknown.join(', ')}. There are: ${kSuites.map(({ name }) => name).join(' ')}`)
  return names.length === 0 ? all : all.filter((suite) => names.some((name) => isNamed(suite, name)))
}

/** @param {Suite[]} suites @returns {Suite[]} the fast part of them, as far as this kind of system has it */
function fastPart (suites) {
  const fast = suites.flatMap((suite) => suite.fast === undefined ? [] : [{ ...suite, ...suite.fast }])
  const missing = fast.filter((suite) => !isAvailable(suite))
  if (missing.length > 0) {
    console.log(`Left out, because they are Debian source packages and there is no apt-get here: ${missing.map(({ name }) => name).join(', ')}`)
  }
  return fast.filter(isAvailable)
}

/** @param {string[]} args */
async function compat (args) {
  const order = kSuites.map(({ name }) => name)
  if (args.includes('--list')) return console.log(order.join('\n'))
  const isFast = args.includes('--fast')
  if (isFast && args.includes('--write')) throw new Error('--write takes the complete suites, not --fast')
  if (args.includes('--write') && process.env.HTTPSYS_CACHE_TESTS !== undefined) throw new Error('--write takes the package, not HTTPSYS_CACHE_TESTS')
  const overAt = args.indexOf('--over')
  const over = overAt === -1 ? [] : args.splice(overAt, 2)
  const chosen = chooseSuites(args.filter((arg) => !arg.startsWith('--')), over[1])
  const suites = isFast ? fastPart(chosen) : chosen
  const known = readKnown(fs.readFileSync(kKnown, 'utf8'))
  const mistakes = checkKnown(known, kSuites)
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'))
  /** @type {import('./compat/compare').Verdict[]} */
  const verdicts = []
  const failures = []
  /** @type {string[]} */
  const notRun = []
  for (const [index, suite] of suites.entries()) {
    console.log(`\n[${index + 1}/${suites.length}] ${suite.name} ${suite.version ?? suite.source.version}`)
    try {
      verdicts.push(await runSuite(suite, known[suite.name] ?? []))
    } catch (error) {
      console.error(`${suite.name}: ${error instanceof Error ? error.message : error}`)
      // npm test -- --all is for machines without a way to the registries, too; the complete run proves something or fails.
      if (isFast && error instanceof UnreachableError) notRun.push(suite.name)
      else failures.push(suite.name)
    }
  }
  console.log(`\n${summary(verdicts)}\n`)
  if (args.includes('--write')) fs.writeFileSync(kPage, updatePage(fs.readFileSync(kPage, 'utf8'), verdicts, order))
  const sum = (/** @type {(verdict: typeof verdicts[0]) => number} */ of) => verdicts.reduce((total, verdict) => total + of(verdict), 0)
  console.log(`${sum(({ tests }) => tests)} tests: ${sum(({ same }) => same)} same, ${sum(({ lost }) => lost.length)} lost ` +
    `(${sum(({ known }) => known.length)} known), ${sum(({ gained }) => gained.length)} gained`)
  if (notRun.length > 0) console.log(`NOT RUN, since their registries did not answer: ${notRun.join(', ')}`)
  const red = [...failures, ...verdicts.filter((verdict) => !isGreen(verdict)).map(({ suite }) => suite)]
  if (red.length > 0) throw new Error(`Not compatible, or not proven: ${red.join(', ')}`)
}

if (require.main === module) main(compat(process.argv.slice(2)))

module.exports = { compat, fastPart, kKnown, kPage }
