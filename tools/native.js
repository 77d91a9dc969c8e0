'use strict'

// Builds the engine without Node and runs its unit tests.
//
//   node tools/native.js [none | address | thread | coverage] [test name pattern]

const fs = require('node:fs')
const path = require('node:path')
const { Progress } = require('./lib/progress')
const { findSanitizingClang, findSymbolizer } = require('./lib/packages')
const { ask, findProgram, kCoreNative, kJobs, main, run } = require('./lib/project')

/** The long ones among the test programs wait most of their time. */
const kProgramsOfACore = 2

/** The last one is no sanitizer: tools/coverage.js. */
const kSanitizers = ['none', 'address', 'thread', 'coverage']

/**
 * @param {string} name of the build folder, build-<name>
 * @param {string[]} options for cmake
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<string>} the build folder
 */
async function configure (name, options, env) {
  const folder = path.join(kCoreNative, `build-${name}`)
  const cache = path.join(folder, 'CMakeCache.txt')
  const compiler = options.map((option) => /^-DCMAKE_CXX_COMPILER=(.*)/.exec(option)?.[1]).find((file) => file !== undefined)
  // cmake forgets its other options when it is given another compiler than before.
  if (compiler !== undefined && fs.existsSync(cache) && !fs.readFileSync(cache, 'utf8').includes(`=${compiler}\n`)) fs.rmSync(folder, { recursive: true })
  await run('cmake', ['-S', kCoreNative, '-B', folder, ...options], { env, quiet: true })
  return folder
}

/**
 * gcc 12's ThreadSanitizer cannot map its shadow memory where the kernel randomises more than 28 bits.
 *
 * @returns {string[]} a program to start the tests with
 */
function withoutRandomisation () {
  try {
    const bits = Number(fs.readFileSync('/proc/sys/vm/mmap_rnd_bits', 'utf8'))
    const setarch = findProgram('setarch')
    if (bits <= 28 || setarch === null || ask(setarch, ['-R', 'true']) === null) return []
    return [setarch, '-R']
  } catch {
    return []
  }
}

/** @param {string} folder that configure() gave @param {string} [target] everything that is built by default */
async function compile (folder, target) {
  const progress = new Progress({ unit: '% compiled', total: 100 })
  const onLine = (/** @type {string} */ line) => {
    const percent = /^\[ *(\d+)%\]/.exec(line)
    if (percent !== null) progress.set(Number(percent[1]))
  }
  try {
    const only = target === undefined ? [] : ['--target', target]
    await run('cmake', ['--build', folder, '--parallel', String(kJobs), ...only], { quiet: true, onLine })
  } finally {
    progress.end()
  }
}

/** @param {string} sanitizer one of kSanitizers @returns {Promise<string>} the folder of the test programs */
async function compileTests (sanitizer) {
  // With the address sanitizer gcc takes twice as long, and coverage is clang's; and the packages' addons are made by clang.
  const clang = ['address', 'coverage'].includes(sanitizer) ? findSanitizingClang() : null
  const folder = await configure(sanitizer, [`-DHTTPSYS_SANITIZE=${sanitizer}`, ...(clang === null ? [] : [`-DCMAKE_CXX_COMPILER=${clang}`])])
  await compile(folder)
  return folder
}

/** @returns {NodeJS.ProcessEnv} */
function sanitizerOptions () {
  const symbolizer = findSymbolizer()
  return {
    // By this name clang's reports have functions and lines; gcc's have them by themselves.
    ...(symbolizer === null ? {} : { ASAN_SYMBOLIZER_PATH: symbolizer }),
    ASAN_OPTIONS: 'detect_stack_use_after_return=1:strict_string_checks=1',
    UBSAN_OPTIONS: 'print_stacktrace=1',
    TSAN_OPTIONS: 'halt_on_error=1:second_deadlock_stack=1:suppressions=' +
      path.join(kCoreNative, 'test-native', 'tsan.supp'),
  }
}

/**
 * @param {string} sanitizer one of kSanitizers
 * @param {string} [pattern] a regular expression over test names
 * @returns {Promise<import('./lib/test-runner').Tally>} of test programs
 */
async function nativeTests (sanitizer, pattern) {
  if (!kSanitizers.includes(sanitizer)) {
    throw new Error(`Usage: node tools/native.js [${kSanitizers.join(' | ')}] [pattern]`)
  }
  const folder = await compileTests(sanitizer)
  const [program, ...args] = [
    ...(sanitizer === 'thread' ? withoutRandomisation() : []),
    'ctest', '--test-dir', folder, '--output-on-failure', '--no-tests=error', '--parallel', String(kJobs * kProgramsOfACore),
    ...(pattern === undefined ? [] : ['--tests-regex', pattern]),
  ]
  const progress = new Progress({ unit: 'test programs', total: 0 })
  const tally = { passed: 0, failed: 0, skipped: 0, failures: /** @type {string[]} */ ([]) }
  const onLine = (/** @type {string} */ line) => {
    const [, total, name, result] = /^\s*\d+\/(\d+) Test +#\d+: (\S+).*?(Passed|Skipped|\*\*\*)/.exec(line) ?? []
    if (total === undefined) return
    if (result === '***') tally.failures.push(name)
    tally[result === 'Passed' ? 'passed' : result === 'Skipped' ? 'skipped' : 'failed']++
    progress.set(tally.passed + tally.failed + tally.skipped, Number(total))
  }
  try {
    await run(program, args, { env: sanitizerOptions(), onLine })
  } catch (error) {
    throw Object.assign(/** @type {Error} */ (error), { tally })
  } finally {
    progress.end()
  }
  return tally
}

if (require.main === module) main(nativeTests(process.argv[2] ?? 'none', process.argv[3]))

module.exports = { compile, compileTests, configure, nativeTests, sanitizerOptions, withoutRandomisation }
