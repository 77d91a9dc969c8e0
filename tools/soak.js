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
const { build } = require('./build')
const { span } = require('./lib/progress')
const { kCoreNative, kJobs, listFiles, main } = require('./lib/project')
const { shuffle } = require('./lib/shuffle')
const { describe, runGroup, runTestFile, runWhile } = require('./lib/test-runner')
const { compileTests, sanitizerOptions } = require('./native')
const { plan, testFiles } = require('./test')

/** How often a line says how far it is (ms). */
const kReportMs = 60_000

/** @typedef {{ name: string, run: (seed: number) => Promise<{ isGood: boolean, text: string }> }} Item */

/** @typedef {{ minutes: number, pattern: string, seed: number, busy: number }} Options */

/** @param {string[]} args @returns {Options | null} null when they are wrong */
function parseArgs (args) {
  const rest = [...args]
  const take = (/** @type {string} */ name, /** @type {number} */ otherwise) => {
    const at = rest.indexOf(name)
    return at === -1 ? otherwise : Number(rest.splice(at, 2)[1])
  }
  const seed = take('--seed', randomInt(0x7fff_ffff))
  const busy = take('--busy', os.cpus().length)
  const [minutes, pattern = '', ...unknown] = rest
  const isGood = Number(minutes) > 0 && Number.isInteger(seed) && Number.isInteger(busy) && busy >= 0 && unknown.length === 0 && !pattern.startsWith('--')
  return isGood ? { minutes: Number(minutes), pattern, seed, busy } : null
}

/** @param {string} file @returns {Item} */
function jsItem (file) {
  return {
    name: file,
    run: async () => {
      const result = await runTestFile(file, { env: { HTTPSYS_BACKEND: '' } })
      return { isGood: result.failed === 0, text: describe(result) }
    }
  }
}

/** @param {string} folder of the build @param {string} name @returns {Item} */
function nativeItem (folder, name) {
  return {
    name,
    run: async (seed) => {
      // GoogleTest takes seeds below 100,000, of which 0 is the clock.
      const end = await runGroup(path.join(folder, name), ['--gtest_shuffle', `--gtest_random_seed=${seed % 99_999 + 1}`], { env: sanitizerOptions() })
      return { isGood: end.status === 0, text: `${end.status === 0 ? 'ok  ' : 'FAIL'} ${name}${end.isLate ? ', which did not end' : ''}\n${end.output}` }
    }
  }
}

/** @param {string} pattern @returns {Promise<Item[]>} */
async function itemsFor (pattern) {
  const programs = listFiles(path.join(kCoreNative, 'test-native'), (file) => new RegExp(pattern).test(path.basename(file, '.cc')) && file.endsWith('_test.cc'))
  const folder = programs.length === 0 ? '' : await compileTests('address')
  const items = [
    ...plan(testFiles(pattern), 'engine').flatMap(({ files }) => files).map(jsItem),
    ...programs.map((file) => nativeItem(folder, path.basename(file, '.cc')))
  ]
  if (items.length === 0) throw new Error(`No test matches ${pattern}`)
  return items
}

/** @param {number} count @returns {() => void} ends them */
function startBusy (count) {
  const children = Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'process.on("disconnect", () => process.exit()); (function turn () { const until = Date.now() + 50; while (Date.now() < until); setImmediate(turn) })()'],
    { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }))
  return () => { for (const child of children) child.kill('SIGKILL') }
}

/**
 * Round after round until the time is over; what has begun by then ends by itself, or by its own limit.
 *
 * @param {Item[]} items
 * @param {object} options
 * @param {number} options.seed
 * @param {() => boolean} options.mayBegin
 * @param {() => string} [options.left] what is said of the time that is left
 * @param {number} [options.jobs]
 * @param {(line: string) => void} [options.write]
 * @returns {Promise<{ runs: number, failures: { name: string, round: number }[] }>}
 */
async function soakItems (items, { seed, mayBegin, left = () => '', jobs = kJobs, write = console.log }) {
  /** @type {{ name: string, round: number }[]} */
  const failures = []
  let runs = 0
  let round = 0
  const start = Date.now()
  const timer = setInterval(() => write(`  ... round ${round}, ${runs} files run, ${failures.length} failures, ${span(Date.now() - start)}${left()}`), kReportMs)
  try {
    do {
      const now = ++round
      await runWhile(shuffle(items, seed + now), jobs, mayBegin, async ({ name, run }) => {
        const { isGood, text } = await run(seed + now)
        runs++
        if (isGood) return
        failures.push({ name, round: now })
        write(`\nseed ${seed}, round ${now}, after ${span(Date.now() - start)}:\n${text}\n`)
      })
    } while (mayBegin())
  } finally {
    clearInterval(timer)
  }
  return { runs, failures }
}

/** @param {Options} options */
async function soak ({ minutes, pattern, seed, busy }) {
  await build()
  const items = await itemsFor(pattern)
  console.log(`${items.length} files and programs for ${minutes} min beside ${busy} busy processes; the order's seed is ${seed}`)
  const endBusy = startBusy(busy)
  try {
    const until = Date.now() + minutes * 60_000
    const { runs, failures } = await soakItems(items, {
      seed,
      mayBegin: () => Date.now() < until,
      left: () => `, ${span(Math.max(0, until - Date.now()))} left`
    })
    for (const { name, round } of failures) console.log(`FAILED ${name} in round ${round}`)
    console.log(`${runs} runs of ${items.length} files and programs with seed ${seed}: ${runs - failures.length} passed, ${failures.length} failed`)
    if (failures.length > 0) throw new Error('Some tests are not to be relied on')
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

module.exports = { parseArgs, soakItems }
