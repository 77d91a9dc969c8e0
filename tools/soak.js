'use strict'

// Looks for tests that fail now and then: runs the JavaScript tests on the engine and the C++ tests with the address
// sanitizer again and again, in an order that a seed decides, beside processes that take the CPU. A failure is shown
// with the seed and the round, and makes the whole run fail; nothing is run again to be forgiven.
//
//   node tools/soak.js <minutes> [pattern over the names of files and programs] [--seed <number>] [--busy <processes>]

const { spawn } = require('node:child_process')
const { randomInt } = require('node:crypto')
const os = require('node:os')
const path = require('node:path')
const util = require('node:util')
const { build } = require('./build')
const { kCoreNative, listFiles, main } = require('./lib/project')
const { runRounds } = require('./lib/test-runner')
const { nativeTests } = require('./native')
const { plan, testFiles } = require('./test')

/** @typedef {{ minutes: number, pattern: string, seed: number, busy: number }} Options */

/** @param {string[]} args @returns {Options | null} null when they are wrong */
function parseArgs (args) {
  try {
    const { values, positionals: [minutes, pattern = '', ...unknown] } = util.parseArgs({ args, allowPositionals: true, options: { seed: { type: 'string' }, busy: { type: 'string' } } })
    const options = { minutes: Number(minutes), pattern, seed: Number(values.seed ?? randomInt(0x7fff_ffff)), busy: Number(values.busy ?? os.cpus().length) }
    return options.minutes > 0 && Number.isInteger(options.seed) && options.busy >= 0 && unknown.length === 0 ? options : null
  } catch {
    return null
  }
}

/** @param {number} count @returns {() => void} ends them */
function startBusy (count) {
  const children = Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'process.on("disconnect", () => process.exit()); (function turn () { const until = Date.now() + 50; while (Date.now() < until); setImmediate(turn) })()'],
    { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }))
  return () => { for (const child of children) child.kill('SIGKILL') }
}

/** @param {Options} options */
async function soak ({ minutes, pattern, seed, busy }) {
  await build()
  const files = plan(testFiles(pattern), 'engine').flatMap((part) => part.files)
  const hasNative = listFiles(path.join(kCoreNative, 'test-native'), (file) => file.endsWith('_test.cc') && new RegExp(pattern).test(path.basename(file, '.cc'))).length > 0
  if (files.length === 0 && !hasNative) throw new Error(`No test matches ${pattern}`)
  const endBusy = startBusy(busy)
  try {
    await runRounds(files, { minutes, seed, optionsOf: () => ({ env: { HTTPSYS_BACKEND: '' } }) }, async (results, round) => {
      const failures = results.flatMap((result) => result.failures)
      if (!hasNative) return failures
      // GoogleTest takes seeds below 100,000, of which 0 is the clock.
      Object.assign(process.env, { GTEST_SHUFFLE: '1', GTEST_RANDOM_SEED: String((seed + round) % 99_999 + 1) })
      await nativeTests('address', pattern).catch((error) => failures.push(error.message, ...error.tally?.failures ?? []))
      return failures
    })
  } finally {
    endBusy()
  }
}

if (require.main === module) {
  const options = parseArgs(process.argv.slice(2))
  if (options === null) {
    console.error('Usage: npm run test:soak -- <minutes> [pattern] [--seed <number>] [--busy <processes>]')
    process.exitCode = 2
  } else {
    main(soak(options))
  }
}

module.exports = { parseArgs }
