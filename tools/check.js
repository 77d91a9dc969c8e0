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
const { compileTests, nativeTests } = require('./native')
const { testVersions } = require('./node-versions')
const { setup } = require('./setup')
const { jsTests, kCrashes, kFrozenClock } = require('./test')
const { tidy } = require('./tidy')
const { wineTests } = require('./wine')

/** @typedef {import('./lib/test-runner').Tally} Tally */

/** Read by tests: test/helpers/thorough.js. */
const kThorough = 'HTTPSYS_THOROUGH'

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {() => Promise<unknown>} work may give a Tally, also as property of its error
 * @property {boolean} [essential] nothing after it makes sense when it fails
 * @property {boolean} [onlyAll] left out without --all
 * @property {boolean} [beside] runs at the same time as the one before it: that one leaves a core idle, and neither of them disturbs the other
 */

// Where the addon is HTTP.SYS's: the files whose results docs/internals/windows.md shows. What the rest of the project needs to be
// checked is there on Linux.
/** @type {Step[]} */
const kWindowsSteps = [
  { name: 'npm packages', work: () => setup('npm'), essential: true },
  { name: 'build the addon', work: () => build(), essential: true },
  { name: 'behaviour of HTTP.SYS beside stock Node', work: () => jsTests({ pattern: 'behaviour' }) },
]

const kTypeScript = path.join(kRoot, 'node_modules', 'typescript', 'bin', 'tsc')

/** @type {Step[]} */
const kSteps = [
  { name: 'install what is missing', work: () => setup('test', { npm: false }), essential: true },
  { name: 'install what only --all needs', work: () => setup('all', { npm: false }), essential: true, onlyAll: true },
  { name: 'C++ tests, address and undefined-behaviour sanitizers: compile', work: () => compileTests('address') },
  // Takes half a core, and the compilers above need none of them.
  { name: 'npm packages', work: () => setup('npm'), essential: true, beside: true },
  { name: 'build the addon', work: () => build(), essential: true },
  // They wait most of their time: what one core is enough for runs beside them.
  { name: 'C++ tests, address and undefined-behaviour sanitizers: run', work: () => nativeTests('address') },
  { name: 'lint and layers', work: () => lint(), beside: true },
  { name: 'types', work: () => run(process.execPath, [kTypeScript, '-p', kRoot], { quiet: true }), beside: true },
  { name: 'C++ format', work: () => format(), beside: true },
  { name: 'h2spec, strict, without and with TLS', work: () => require('./h2spec').conformance(), beside: true },
  { name: 'clang-tidy', work: () => tidy(), onlyAll: true },
  { name: 'C++ tests, thread sanitizer', work: () => nativeTests('thread'), onlyAll: true },
  { name: 'fuzzers', work: () => fuzz(Number(process.env.HTTPSYS_FUZZ_SECONDS ?? kSecondsDefault)), onlyAll: true },
  { name: 'JavaScript tests on stock Node, the reference', work: () => jsTests({ backend: 'reference' }), onlyAll: true },
  { name: 'JavaScript tests on the engine', work: () => jsTests({ backend: 'engine', without: [...kCrashes, kFrozenClock] }) },
  { name: 'conformance and register tests on the engine, Node 24', work: () => testVersions(['24'], ['^test/(conformance|register)/', '--backend', 'engine'], { [kThorough]: undefined }), onlyAll: true },
  { name: 'processes that are killed under load', work: () => jsTests({ backend: 'engine', pattern: 'sharing/crash|cache/killed-owner' }), onlyAll: true },
  { name: 'differential programs with a clock that stands still', work: () => jsTests({ backend: 'engine', pattern: 'differential/frozen-clock' }), onlyAll: true },
  { name: 'sslyze: TLS with default options', work: () => require('./tlsscan').tlsScan(), onlyAll: true },
  { name: 'hadolint: the Dockerfiles of the examples', work: () => require('./lint-docker').lintDocker(), onlyAll: true, beside: true },
  { name: 'HTTP.SYS below Wine', work: () => wineTests(), onlyAll: true },
  { name: 'the npm packages, installed without a compiler: the brief part', work: () => require('./test-packages').testPackages({ isBrief: true }), onlyAll: true },
  // Fails where the suites cannot be fetched, and says so: a check that was left out proves nothing.
  { name: 'other people\'s test suites, the fast part', work: () => require('./compat').compat(['--fast']), onlyAll: true },
]

/** @param {NodeJS.Platform} platform @param {boolean} [all] */
function stepsOn (platform, all = false) {
  return (platform === 'win32' ? kWindowsSteps : kSteps).filter(({ onlyAll = false }) => all || !onlyAll)
}

/** @typedef {{ step: Step, error: Error | null, ms: number, tally: Tally }} Ended */

/** @param {Step} step @param {(line: string) => void} write @returns {Promise<Ended>} */
async function runStep (step, write) {
  const start = Date.now()
  const end = (/** @type {any} */ tally, /** @type {Error | null} */ error) => ({ step, error, ms: Date.now() - start, tally: sum(typeof tally?.passed === 'number' ? [tally] : []) })
  try {
    return end(await step.work(), null)
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error))
    write(`${step.name}: ${failure.message}`)
    return end(/** @type {any} */ (failure).tally, failure)
  }
}

/** What failed is said again at the end, for a reader of the last page of a long output. A step may have hundreds. */
const kFailuresShown = 20
const kLinesShown = 6

/** @param {Ended} ended @returns {string} */
function describeFailed ({ step, error, tally: { failures = [] } }) {
  const lines = failures.slice(0, kFailuresShown).map((failure) => `  FAILED ${failure.split('\n').slice(0, kLinesShown).join('\n    ')}`)
  if (failures.length > kFailuresShown) lines.push(`  and ${failures.length - kFailuresShown} more`)
  return [`\n${step.name}: ${error?.message}`, ...lines].join('\n')
}

/** @param {Step[]} steps @param {(line: string) => void} [write] @returns {Promise<boolean>} whether all was well */
async function runSteps (steps, write = console.log) {
  /** @type {Ended[]} */
  const ended = []
  const begin = Date.now()
  for (let at = 0, next = 1; at < steps.length; at = next, next++) {
    while (steps[next]?.beside) next++
    const part = steps.slice(at, next)
    write(part.map((step, index) => `\n[${at + index + 1}/${steps.length}] ${step.name}`).join(''))
    ended.push(...await Promise.all(part.map((step) => runStep(step, write))))
    if (ended.some(({ error, step }) => error !== null && step.essential)) break
  }
  const failed = ended.filter(({ error }) => error !== null)
  for (const one of failed) write(describeFailed(one))
  write(`\n${ended.map(({ step, error, ms }) => `${error === null ? 'ok    ' : 'FAILED'} ${(ms / 1000).toFixed(1).padStart(7)} s  ${step.name}`).join('\n')}`)
  write(`${failed.length === 0 ? 'Everything passed' : `${failed.length} of ${steps.length} steps failed`}, ${span(Date.now() - begin)}`)
  write(tallyLine(sum(ended.map(({ tally }) => tally))))
  return failed.length === 0
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
  // Tests that have many cases of one kind try all of them.
  if (options.all) process.env[kThorough] = '1'
  process.exitCode = await runSteps(stepsOn(process.platform, options.all)) ? 0 : 1
}

if (require.main === module) check()

module.exports = { parseArgs, runSteps, stepsOn }
