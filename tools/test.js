'use strict'

// Runs the JavaScript tests: every *.test.js below packages/*/test and test/. Files below
// test/conformance and test/behaviour run twice, on stock Node (the reference) and on the engine.
//
//   node tools/test.js [pattern over file names] [--backend node | engine | reference] [flags of node --test]

const fs = require('node:fs')
const path = require('node:path')
const { kRoot, listFiles, main } = require('./lib/project')
const { runTestFiles, sum, tallyLine } = require('./lib/test-runner')

/** @typedef {import('./lib/test-runner').Tally} Tally */
/** @typedef {import('./lib/test-runner').FileResult} FileResult */

/** How long each file took on this machine the last time. */
const kSeconds = path.join(kRoot, 'node_modules', '.cache', 'httpsys', 'test-seconds.json')

/** The folders with most of the long files, for a machine that has not run them yet. */
const kLongFolders = /^test.(differential|lifecycle|sharing)\b/

/** @param {string} [pattern] @returns {string[]} */
function testFiles (pattern = '') {
  return [path.join(kRoot, 'packages'), path.join(kRoot, 'test')]
    .flatMap((folder) => listFiles(folder, (file) => file.endsWith('.test.js')))
    .map((file) => path.relative(kRoot, file))
    .filter((file) => /(^|[\\/])test[\\/]/.test(file) && new RegExp(pattern).test(file))
}

/** Whose tests are about any server with node:http's face. */
const kOnBoth = [path.join('test', 'conformance'), path.join('test', 'behaviour')]

/** See plan(). */
const kBackends = ['node', 'engine', 'reference']

/** The longest, which fails only where code of ours takes a timer of the application's, and the linter sees most of these: with --all. */
const kFrozenClock = path.join('test', 'differential', 'frozen-clock.test.js')

/** Kills processes for twenty seconds, under full load; membership, dying-members and http2 kill one each: with --all. */
const kCrashes = [path.join('test', 'sharing', 'crash.test.js'), path.join('test', 'cache', 'killed-owner.test.js')]

/** Those that need the double of httpapi.dll: tools/wine.js. */
const kWithDouble = path.join('test', 'windows-double')

/** @returns {Record<string, number>} by file */
function readSeconds () {
  try {
    return JSON.parse(fs.readFileSync(kSeconds, 'utf8'))
  } catch {
    // None yet, or half of them: another run was writing.
    return {}
  }
}

/** @param {string[]} files @returns {string[]} A long file that begins last is waited for alone. */
function longestFirst (files) {
  const known = readSeconds()
  const seconds = (/** @type {string} */ file) => known[file] ?? (kLongFolders.test(file) ? 20 : 2)
  return [...files].sort((a, b) => seconds(b) - seconds(a))
}

/** @param {FileResult[]} results */
function recordSeconds (results) {
  fs.mkdirSync(path.dirname(kSeconds), { recursive: true })
  fs.writeFileSync(kSeconds, JSON.stringify({ ...readSeconds(), ...Object.fromEntries(results.map(({ file, seconds }) => [file, seconds])) }))
}

/**
 * What runs where.
 *
 * @param {string[]} files
 * @param {string} [backend] only this one: 'engine', 'node' for all files on stock Node, or 'reference' for those that
 *   are about both on stock Node; by default the reference, then all of them on the engine
 * @returns {{ on: 'node' | 'engine', files: string[] }[]}
 */
function plan (files, backend) {
  const all = files.filter((file) => !file.startsWith(kWithDouble))
  const reference = all.filter((file) => kOnBoth.some((folder) => file.startsWith(folder)))
  /** @type {{ on: 'node' | 'engine', files: string[] }[]} */
  const parts = []
  if (backend !== 'engine') parts.push({ on: 'node', files: backend === 'node' ? all : reference })
  if (backend !== 'node' && backend !== 'reference') parts.push({ on: 'engine', files: all })
  return parts.filter((part) => part.files.length > 0)
}

/**
 * @param {object} [options]
 * @param {string} [options.pattern]
 * @param {string} [options.backend] see plan()
 * @param {string[]} [options.without] files that are left out
 * @param {string[]} [options.flags]
 * @returns {Promise<Tally>}
 */
async function jsTests ({ pattern, backend = process.env.HTTPSYS_BACKEND || undefined, without = [], flags = [] } = {}) {
  const parts = plan(testFiles(pattern).filter((file) => !without.includes(file)), backend)
  if (parts.length === 0) throw new Error(`No test file matches ${pattern}`)
  /** @type {FileResult[]} */
  const results = []
  for (const { on, files } of parts) {
    console.log(`\n${files.length} test files on ${on === 'node' ? 'stock Node' : 'the engine'}`)
    results.push(...await runTestFiles(longestFirst(files), () => ({ flags, env: { HTTPSYS_BACKEND: on === 'node' ? 'node' : '' } })))
  }
  recordSeconds(results)
  const tally = sum(results)
  const bad = results.filter(({ failed }) => failed > 0).map(({ file }) => file)
  if (bad.length > 0) console.log(`\nFailed: ${[...new Set(bad)].sort().join(', ')}`)
  console.log(`${tally.passed + tally.failed + tally.skipped} tests in ${results.length} files: ${tallyLine(tally)}`)
  if (tally.failed > 0) throw Object.assign(new Error('JavaScript tests failed'), { tally })
  return tally
}

/** @param {string[]} args @returns {{ pattern?: string, backend?: string, flags: string[] } | null} null when they are wrong */
function parseArgs (args) {
  const rest = [...args]
  const at = rest.indexOf('--backend')
  const [, backend] = at === -1 ? [] : rest.splice(at, 2)
  if (at !== -1 && !kBackends.includes(String(backend))) return null
  const flags = rest.filter((arg) => arg.startsWith('--'))
  const [pattern, ...more] = rest.filter((arg) => !arg.startsWith('--'))
  return more.length > 0 || flags.includes('--help') ? null : { pattern, backend, flags }
}

if (require.main === module) {
  const options = parseArgs(process.argv.slice(2))
  if (options === null) {
    console.error(`Usage: npm run test:js -- [pattern] [--backend ${kBackends.join(' | ')}] [flags of node --test]`)
    process.exitCode = 2
  } else {
    main(jsTests(options))
  }
}

module.exports = { jsTests, kCrashes, kFrozenClock, parseArgs, plan, testFiles }
