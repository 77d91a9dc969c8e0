'use strict'

// npm test: installs what is missing, builds, and runs every check. All checks run even when one fails;
// the summary names the failed ones, and the exit status is theirs.

const path = require('node:path')
const { build } = require('./build')
const { format } = require('./format')
const { fuzz, kSecondsDefault } = require('./fuzz')
const { kRoot, run } = require('./lib/project')
const { lint } = require('./lint')
const { nativeTests } = require('./native')
const { setup } = require('./setup')
const { jsTests } = require('./test')
const { tidy } = require('./tidy')
const { wineTests } = require('./wine')

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {() => Promise<unknown>} work
 * @property {boolean} [essential] nothing after it makes sense when it fails
 */

// Where the addon is HTTP.SYS's: the files whose results docs/windows.md shows. What the rest of the project needs to be
// checked is there on Linux.
/** @type {Step[]} */
const kWindowsSteps = [
  { name: 'npm packages', work: () => setup('npm'), essential: true },
  { name: 'build the addon', work: () => build(), essential: true },
  { name: 'behaviour of HTTP.SYS beside stock Node', work: () => jsTests({ pattern: 'behaviour' }) },
]

/** @type {Step[]} */
const kSteps = [
  { name: 'install what is missing', work: () => setup('test'), essential: true },
  { name: 'build the addon', work: () => build(), essential: true },
  { name: 'lint and layers', work: () => lint() },
  { name: 'C++ format', work: () => format() },
  { name: 'types', work: () => run(process.execPath, [path.join(kRoot, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', kRoot]) },
  { name: 'clang-tidy', work: () => tidy() },
  { name: 'C++ tests, address and undefined-behaviour sanitizers', work: () => nativeTests('address') },
  { name: 'C++ tests, thread sanitizer', work: () => nativeTests('thread') },
  { name: 'fuzzers', work: () => fuzz(Number(process.env.HTTPSYS_FUZZ_SECONDS ?? kSecondsDefault)) },
  { name: 'JavaScript tests', work: () => jsTests() },
  { name: 'h2spec, strict, without and with TLS', work: () => require('./h2spec').conformance() },
  { name: 'sslyze: TLS with default options', work: () => require('./tlsscan').tlsScan() },
  { name: 'HTTP.SYS below Wine', work: () => wineTests() },
  // Fails where the suites cannot be fetched, and says so: a check that was left out proves nothing.
  { name: 'other people\'s test suites, the fast part', work: () => require('./compat').compat(['--fast']) },
]

/** @param {NodeJS.Platform} platform */
const stepsOn = (platform) => platform === 'win32' ? kWindowsSteps : kSteps

async function check () {
  const steps = stepsOn(process.platform)
  /** @type {string[]} */
  const summary = []
  let failed = 0
  for (const [index, { name, work, essential }] of steps.entries()) {
    console.log(`\n[${index + 1}/${steps.length}] ${name}`)
    const start = Date.now()
    let result = 'ok    '
    try {
      await work()
    } catch (error) {
      console.error(error instanceof Error ? error.message : error)
      failed++
      result = 'FAILED'
    }
    summary.push(`${result} ${((Date.now() - start) / 1000).toFixed(1).padStart(7)} s  ${name}`)
    if (result === 'FAILED' && essential) break
  }
  console.log(`\n${summary.join('\n')}`)
  console.log(failed === 0 ? 'Everything passed.' : `${failed} of ${steps.length} steps failed.`)
  process.exitCode = failed === 0 ? 0 : 1
}

if (require.main === module) check()

module.exports = { stepsOn }
