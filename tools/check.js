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
 * @property {number} seconds that it takes on two idle cores, from a fresh clone
 * @property {boolean} [essential] nothing after it makes sense when it fails
 * @property {boolean} [onlyAll] left out without --all
 * @property {boolean} [beside] runs at the same time as the one before it: that one leaves a core idle, and neither of them disturbs the other
 */

// Where the addon is HTTP.SYS's: the files whose results docs/internals/windows.md shows. What the rest of the project needs to be
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
  { name: 'install what is missing', seconds: 5, work: () => setup('test', { npm: false }), essential: true },
  { name: 'install what only --all needs', seconds: 60, work: () => setup('all', { npm: false }), essential: true, onlyAll: true },
  { name: 'C++ tests, address and undefined-behaviour sanitizers: compile', seconds: 120, work: () => compileTests('address') },
  // Takes half a core, and the compilers above need none of them.
  { name: 'npm packages', seconds: 60, work: () => setup('npm'), essential: true, beside: true },
  { name: 'build the addon', seconds: 45, work: () => build(), essential: true },
  // They wait most of their time: what one core is enough for runs beside them.
  { name: 'C++ tests, address and undefined-behaviour sanitizers: run', seconds: 40, work: () => nativeTests('address') },
  { name: 'lint and layers', seconds: 24, work: () => lint(), beside: true },
  { name: 'types', seconds: 12, work: () => run(process.execPath, [kTypeScript, '-p', kRoot], { quiet: true }), beside: true },
  { name: 'C++ format', seconds: 4, work: () => format(), beside: true },
  { name: 'h2spec, strict, without and with TLS', seconds: 3, work: () => require('./h2spec').conformance(), beside: true },
  { name: 'clang-tidy', seconds: 160, work: () => tidy(), onlyAll: true },
  { name: 'C++ tests, thread sanitizer', seconds: 180, work: () => nativeTests('thread'), onlyAll: true },
  {
    name: 'fuzzers',
    seconds: 120,
    work: () => fuzz(Number(process.env.HTTPSYS_FUZZ_SECONDS ?? kSecondsDefault)),
    onlyAll: true
  },
  { name: 'JavaScript tests on stock Node, the reference', seconds: 60, work: () => jsTests({ backend: 'reference' }), onlyAll: true },
  { name: 'JavaScript tests on the engine', seconds: 250, work: () => jsTests({ backend: 'engine', without: [...kCrashes, kFrozenClock] }) },
  {
    name: 'conformance and register tests on the engine, Node 24',
    seconds: 70,
    work: () => testVersions(['24'], ['^test/(conformance|register)/', '--backend', 'engine'], { [kThorough]: undefined }),
    onlyAll: true
  },
  { name: 'processes that are killed under load', seconds: 20, work: () => jsTests({ backend: 'engine', pattern: 'sharing/crash|cache/killed-owner' }), onlyAll: true },
  {
    name: 'differential programs with a clock that stands still',
    seconds: 60,
    work: () => jsTests({ backend: 'engine', pattern: 'differential/frozen-clock' }),
    onlyAll: true
  },
  { name: 'sslyze: TLS with default options', seconds: 20, work: () => require('./tlsscan').tlsScan(), onlyAll: true },
  { name: 'hadolint: the Dockerfiles of the examples', seconds: 1, work: () => require('./lint-docker').lintDocker(), onlyAll: true, beside: true },
  { name: 'HTTP.SYS below Wine', seconds: 400, work: () => wineTests(), onlyAll: true },
  { name: 'the npm packages, installed without a compiler: the brief part', seconds: 240, work: () => require('./test-packages').testPackages({ isBrief: true }), onlyAll: true },
  // Fails where the suites cannot be fetched, and says so: a check that was left out proves nothing.
  { name: 'other people\'s test suites, the fast part', seconds: 300, work: () => require('./compat').compat(['--fast']), onlyAll: true },
]

/** @param {NodeJS.Platform} platform @param {boolean} [all] */
function stepsOn (platform, all = false) {
  return (platform === 'win32' ? kWindowsSteps : kSteps).filter(({ onlyAll = false }) => all || !onlyAll)
}

/** @param {any} value what a step gave, or its error @returns {Tally[]} */
const tallyOf = (value) => [value?.tally ?? value].filter((tally) => typeof tally?.passed === 'number')

/**
 * @typedef {object} Ended
 * @property {Step} step
 * @property {boolean} isGood
 * @property {number} ms
 * @property {Tally[]} tallies
 * @property {string} [message] of its error
 */

/** @param {Step} step @param {(line: string) => void} write @returns {Promise<Ended>} */
async function runStep (step, write) {
  const start = Date.now()
  try {
    const tallies = tallyOf(await step.work())
    return { step, isGood: true, ms: Date.now() - start, tallies }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    write(`${step.name}: ${message}`)
    return { step, isGood: false, ms: Date.now() - start, tallies: tallyOf(error), message }
  }
}

/** @param {Step[]} steps @returns {Step[][]} those of each part run at the same time */
function together (steps) {
  /** @type {Step[][]} */
  const parts = []
  for (const step of steps) {
    if (step.beside && parts.length > 0) parts[parts.length - 1].push(step)
    else parts.push([step])
  }
  return parts
}

/** @param {Step[]} part @returns {number} seconds */
const secondsOf = (part) => Math.max(...part.map(({ seconds }) => seconds))

/** What failed is said again at the end: who reads the last page of a long output needs it. A step may have hundreds. */
const kFailuresShown = 20

/** @param {Step} step @param {Tally[]} tallies @param {string} [message] @returns {string} */
function describeFailed (step, tallies, message = '') {
  const { failures } = sum(tallies)
  const lines = failures.slice(0, kFailuresShown).map((failure) => `  FAILED ${failure.replaceAll('\n', '\n    ')}`)
  if (failures.length > kFailuresShown) lines.push(`  and ${failures.length - kFailuresShown} more`)
  return [`${step.name}: ${message}`, ...lines].join('\n')
}

/** @param {Step[]} steps @param {(line: string) => void} [write] @returns {Promise<boolean>} whether all was well */
async function runSteps (steps, write = console.log) {
  const parts = together(steps)
  /** @type {Ended[]} */
  const ended = []
  const begin = Date.now()
  for (const [index, part] of parts.entries()) {
    const left = parts.slice(index).reduce((total, other) => total + secondsOf(other), 0)
    const names = part.map((step) => `[${steps.indexOf(step) + 1}/${steps.length}] ${step.name}`)
    write(`\n${names.join('\n')}\n  about ${span(secondsOf(part) * 1000)}; ${span(left * 1000)} to the end`)
    ended.push(...await Promise.all(part.map((step) => runStep(step, write))))
    if (ended.some(({ isGood, step }) => !isGood && step.essential)) break
  }
  for (const { step, tallies, message } of ended.filter(({ isGood }) => !isGood)) write(`\n${describeFailed(step, tallies, message)}`)
  const failed = ended.filter(({ isGood }) => !isGood).length
  write(`\n${ended.map(({ step, isGood, ms }) => `${isGood ? 'ok    ' : 'FAILED'} ${(ms / 1000).toFixed(1).padStart(7)} s  ${step.name}`).join('\n')}`)
  write(`${failed === 0 ? 'Everything passed' : `${failed} of ${steps.length} steps failed`}, ${span(Date.now() - begin)}`)
  write(tallyLine(sum(ended.flatMap(({ tallies }) => tallies))))
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
  // Tests that have many cases of one kind try all of them.
  if (options.all) process.env[kThorough] = '1'
  process.exitCode = await runSteps(stepsOn(process.platform, options.all)) ? 0 : 1
}

if (require.main === module) check()

module.exports = { parseArgs, runSteps, stepsOn }
