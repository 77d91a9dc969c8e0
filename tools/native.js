'use strict'

// Builds the engine without Node and runs its unit tests.
//
//   node tools/native.js [none | address | thread] [test name pattern]

const fs = require('node:fs')
const path = require('node:path')
const { ask, findProgram, kCoreNative, kJobs, main, run } = require('./lib/project')

const kSanitizers = ['none', 'address', 'thread']

/**
 * @param {string} name of the build folder, build-<name>
 * @param {string[]} options for cmake
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<string>} the build folder
 */
async function configure (name, options, env) {
  const folder = path.join(kCoreNative, `build-${name}`)
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

/**
 * @param {string} sanitizer one of kSanitizers
 * @param {string} [pattern] a regular expression over test names
 */
async function nativeTests (sanitizer, pattern) {
  if (!kSanitizers.includes(sanitizer)) {
    throw new Error(`Usage: node tools/native.js [${kSanitizers.join(' | ')}] [pattern]`)
  }
  const folder = await configure(sanitizer, [`-DHTTPSYS_SANITIZE=${sanitizer}`])
  await run('cmake', ['--build', folder, '--parallel', String(kJobs)], { quiet: process.env.CI !== undefined })
  const [program, ...args] = [
    ...(sanitizer === 'thread' ? withoutRandomisation() : []),
    'ctest', '--test-dir', folder, '--output-on-failure', '--no-tests=error', '--parallel', String(kJobs),
    ...(pattern === undefined ? [] : ['--tests-regex', pattern]),
  ]
  await run(program, args, {
    env: {
      ASAN_OPTIONS: 'detect_stack_use_after_return=1:strict_string_checks=1',
      UBSAN_OPTIONS: 'print_stacktrace=1',
      TSAN_OPTIONS: 'halt_on_error=1:second_deadlock_stack=1:suppressions=' +
        path.join(kCoreNative, 'test-native', 'tsan.supp'),
    },
  })
}

if (require.main === module) main(nativeTests(process.argv[2] ?? 'none', process.argv[3]))

module.exports = { configure, nativeTests }
