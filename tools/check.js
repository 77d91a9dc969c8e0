'use strict'

// npm test: installs what is missing, builds, and checks what a change can break; with --all everything that there is
// to check, as continuous integration does. All checks run even when one fails; the summary names the failed ones, and
// the exit status is theirs.
//
//   node tools/check.js [--all]

const path = require('node:path')
const { build } = require('./build')
const { format } = require('./format')
const { fuzz, kSecondsDefault } = require('./fuzz')
const { kRoot, run } = require('./lib/project')
const { span } = require('./lib/progress')
const { sum, tallyLine } = require('./lib/test-runner')
const { lint } = require('./lint')
const { nativeTests } = require('./native')
const { setup } = require('./setup')
const { jsTests } = require('./test')
const { tidy } = require('./tidy')
const { wineTests } = require('./wine')

/** @typedef {import('./lib/test-runner').Tally} Tally */

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {() => Promise<unknown>} work may give a Tally, also as property of its error
 * @property {number} seconds that it takes on two idle cores, from a fresh clone
 * @property {boolean} [essential] nothing after it makes sense when it fails
 * @property {boolean} [onlyAll] left out without --all
 */

// Where the addon is HTTP.SYS's: the files whose results docs/windows.md shows. What the rest of the project needs to be
// checked is there on Linux.
/** @type {Step[]} */
const kWindowsSteps = [
  { name: 'npm packages', seconds: 30, work: () => setup('npm'), essential: true },
  { name: 'build the addon', seconds: 120, work: () => build(), essential: true },
  { name: 'behaviour of HTTP.SYS beside stock Node', seconds: 30, work: () => jsTests({ pattern: 'behaviour' }) },
]

const kTypeScript = path.join(kRoot, 'node_modules', 'typescript', 'bin', 'tsc')

/** @type {Step[]} */
const kSteps = [
  { name: 'install what is missing', seconds: 60, work: () => setup('test'), essential: true },
  { name: 'install what only --all needs', seconds: 60, work: () => setup('all'), essential: true, onlyAll: true },
  { name: 'build the addon', seconds: 100, work: () => build(), essential: true },
  { name: 'lint and layers', seconds: 15, work: () => lint() },
  { name: 'C++ format', seconds: 2, work: () => format() },
  { name: 'types', seconds: 8, work: () => run(process.execPath, [kTypeScript, '-p', kRoot]) },
  { name: 'clang-tidy', seconds: 240, work: () => tidy(), onlyAll: true },
  { name: 'C++ tests, address and undefined-behaviour sanitizers', seconds: 150, work: () => nativeTests('address') },
  { name: 'C++ tests, thread sanitizer', seconds: 180, work: () => nativeTests('thread'), onlyAll: true },
  {
    name: 'fuzzers',
    seconds: 120,
    work: () => fuzz(Number(process.env.HTTPSYS_FUZZ_SECONDS ?? kSecondsDefault)),
    onlyAll: true
  },
  { name: 'JavaScript tests on stock Node, the reference', seconds: 60, work: () => jsTests({ backend: 'reference' }), onlyAll: true },
  { name: 'JavaScript tests on the engine', seconds: 200, work: () => jsTests({ backend: 'engine' }) },
  { name: 'h2spec, strict, without and with TLS', seconds: 25, work: () => require('./h2spec').conformance() },
  { name: 'sslyze: TLS with default options', seconds: 20, work: () => require('./tlsscan').tlsScan(), onlyAll: true },
  { name: 'HTTP.SYS below Wine', seconds: 400, work: () => wineTests(), onlyAll: true },
  // Fails where the suites cannot be fetched, and says so: a check that was left out proves nothing.
  { name: 'other people\'s test suites, the fast part', seconds: 300, work: () => require('./compat').compat(['--fast']), onlyAll: true },
]

/** @param {NodeJS.Platform} platform @param {boolean} [all] */
function stepsOn (platform, all = false) {
  return (platform === 'win32' ? kWindowsSteps : kSteps).filter(({ onlyAll = false }) => all || !onlyAll)
}

/** @param {any} value what a step gave, or its error @returns {Tally[]} */
const tallyOf = (value) => [value?.tally ?? value].filter((tally) => typeof tally?.passed === 'number')

/** @param {Step[]} steps @param {(line: string) => void} [write] @returns {Promise<boolean>} whether all was well */
async function runSteps (steps, write = console.log) {
  /** @type {string[]} */
  const summary = []
  /** @type {Tally[]} */
  const tallies = []
  let failed = 0
  const begin = Date.now()
  for (const [index, { name, work, seconds, essential }] of steps.entries()) {
    const left = steps.slice(index).reduce((total, step) => total + step.seconds, 0)
    write(`\n[${index + 1}/${steps.length}] ${name} (about ${span(seconds * 1000)}; ${span(left * 1000)} to the end)`)
    const start = Date.now()
    let result = 'ok    '
    try {
      tallies.push(...tallyOf(await work()))
    } catch (error) {
      write(String(error instanceof Error ? error.message : error))
      tallies.push(...tallyOf(error))
      failed++
      result = 'FAILED'
    }
    summary.push(`${result} ${((Date.now() - start) / 1000).toFixed(1).padStart(7)} s  ${name}`)
    if (result === 'FAILED' && essential) break
  }
  write(`\n${summary.join('\n')}`)
  write(`${failed === 0 ? 'Everything passed' : `${failed} of ${steps.length} steps failed`}, ${span(Date.now() - begin)}`)
  write(tallyLine(sum(tallies)))
  return failed === 0
}

/** @param {string[]} args @returns {{ all: boolean } | null} null when they are wrong */
function parseArgs (args) {
  return args.every((arg) => arg === '--all') ? { all: args.length > 0 } : null
}

async function check () {
  const options = parseArgs(process.argv.slice(2))
  if (options === null) {
    console.error('Usage: npm test [-- --all]')
    process.exitCode = 2
    return
  }
  process.exitCode = await runSteps(stepsOn(process.platform, options.all)) ? 0 : 1
}

if (require.main === module) check()

module.exports = { parseArgs, runSteps, stepsOn }
