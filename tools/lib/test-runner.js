'use strict'

// Runs test files with run() of node:test, each as a process of its own, once. Adds what run() does not have in Node 20: an environment and
// flags for each file, the end of everything that a file has started and left behind, and a time limit that ends a process that is busy (the one
// of run() sends SIGTERM in Node 20, and nothing to a busy process in Node 24).

const { createHash } = require('node:crypto')
const { subscribe, unsubscribe } = require('node:diagnostics_channel')
const path = require('node:path')
const { run } = require('node:test')
const { Progress, span } = require('./progress')
const { forEachParallel, kJobs, kRoot } = require('./project')

/** The slowest honest test takes seconds; these end a test that hangs, and a file that hangs (ms). */
const kTestTimeoutMs = 240_000
const kFileTimeoutMs = 300_000

/** Test files that run at a time: most of them wait half of their time. */
const kFilesAtATime = 2 * kJobs

/**
 * With extra authorities Node 20 reads all that it knows at the start of each process, of which the tests start some
 * 2,000: with them the suite takes half as long again. Tests have authorities of their own.
 */
const kTestEnv = { NODE_ENV: 'test', NODE_EXTRA_CA_CERTS: undefined, npm_package_name: undefined, npm_package_json: undefined }

/** Node's own counts, which come the same way as what tests note. */
const kSummary = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */
/** @typedef {Counts & { failures?: string[] }} Tally failures: a text for each, the first line of which has its name */
/** @typedef {Required<Tally> & { file: string, notes: string[], output: string, seconds: number }} FileResult */
/** @typedef {{ env?: NodeJS.ProcessEnv, flags?: string[], timeoutMs?: number }} FileOptions flags: for node; timeoutMs: after which the file is ended */

/** @param {string} file */
const entryOf = (file) => path.resolve(kRoot, file)

/** The test files that are running, each the leader of a group of processes. @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()

/** @param {import('node:child_process').ChildProcess} child is ended, with all that it has started and not moved elsewhere */
function endGroup (child) {
  try {
    if (process.platform === 'win32' || child.pid === undefined) process.kill(Number(child.pid), 'SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Nothing is left of it.
  }
}

/** A group of its own does not get the signals of the terminal. */
function listenForEnd () {
  if (running.size > 0 || process.listeners('exit').includes(endAll)) return
  process.on('exit', endAll)
  for (const [signal, number] of /** @type {const} */ ([['SIGINT', 2], ['SIGTERM', 15], ['SIGHUP', 1]])) {
    process.on(signal, () => process.exit(128 + number))
  }
}

function endAll () {
  for (const child of running) endGroup(child)
}

/**
 * Changes how run() starts the process of a test file: as the leader of a group, with an environment, flags and a time limit.
 *
 * @param {any} child that has not been started yet
 * @param {FileResult} result
 * @param {FileOptions} options
 */
function leadGroup (child, { file, notes }, { env, flags = [], timeoutMs = kFileTimeoutMs }) {
  const { spawn } = child
  child.spawn = (/** @type {any} */ options) => {
    if (options.args.at(-1) !== entryOf(file)) return spawn.call(child, options)
    const [program, ...args] = options.args
    const all = { ...process.env, NODE_TEST_CONTEXT: 'child-v8', ...kTestEnv, ...env }
    const timer = setTimeout(() => {
      notes.push(`did not end within ${timeoutMs / 1000} s`)
      endGroup(child)
    }, timeoutMs)
    child.on('exit', () => {
      clearTimeout(timer)
      endGroup(child)
      running.delete(child)
    })
    running.add(child)
    return spawn.call(child, {
      ...options,
      args: [program, `--require=${path.join(__dirname, 'test-context.js')}`, `--test-timeout=${kTestTimeoutMs}`, ...flags, ...args],
      envPairs: Object.entries(all).filter(([, value]) => value !== undefined).map(([name, value]) => `${name}=${value}`),
      detached: process.platform !== 'win32'
    })
  }
}

/** @param {any} error of node:test @returns {string} */
function describeError (error) {
  if (error?.exitCode !== undefined) return `the file ended with ${error.signal ?? error.exitCode}`
  const inner = error?.cause ?? error
  return inner?.stack ?? String(inner?.message ?? inner)
}

/** @param {string} text @param {string} margin */
const indent = (text, margin) => text.trimEnd().replace(/^/gm, margin)

/** @param {FileResult} result @param {string} type @param {any} data of an event of node:test */
function take (result, type, data) {
  if (type === 'test:stdout' || type === 'test:stderr') result.output += data.message
  if (type === 'test:diagnostic' && !kSummary.test(data.message)) result.notes.push(data.message)
  if (type !== 'test:pass' && type !== 'test:fail') return
  const { name, line, skip, todo, details } = data
  const isFile = entryOf(result.file) === name
  if (skip !== undefined && skip !== false) {
    result.skipped++
    result.notes.push(`skipped: ${name}${typeof skip === 'string' ? ` (${skip})` : ''}`)
  } else if (type === 'test:fail' && todo === undefined) {
    // What failed inside it has been told.
    if (details.error?.failureType === 'subtestsFailed') return
    result.failed++
    result.failures.push(`${isFile ? result.file : name}\n  at ${result.file}:${line ?? 0}\n${indent(describeError(details.error), '  ')}`)
  } else if (details.type !== 'suite' && !isFile) {
    result.passed++
  }
}

/** @param {string} file relative to the root @param {FileOptions} [options] @returns {Promise<FileResult>} */
async function runTestFile (file, options = {}) {
  listenForEnd()
  const start = Date.now()
  /** @type {FileResult} */
  const result = { file, passed: 0, failed: 0, skipped: 0, failures: [], notes: [], output: '', seconds: 0 }
  const onChild = (/** @type {any} */ message) => leadGroup(message.process, result, options)
  subscribe('child_process', onChild)
  try {
    for await (const { type, data } of run({ files: [entryOf(file)] })) take(result, type, data)
  } finally {
    unsubscribe('child_process', onChild)
  }
  result.seconds = (Date.now() - start) / 1000
  return result
}

/** @param {FileResult} result @returns {string} a line, what the tests noted and printed, and everything about what failed */
function describe ({ file, failures, notes, output, passed, failed, skipped, seconds }) {
  const counts = [`${passed + failed + skipped} tests`, failed > 0 ? `${failed} failed` : '', skipped > 0 ? `${skipped} skipped` : '', `${seconds.toFixed(1)} s`]
  return [
    `${failed > 0 ? 'FAIL' : 'ok  '} ${file} (${counts.filter(Boolean).join(', ')})`,
    ...notes.map((note) => indent(note, '  ')),
    ...failures.map((failure) => `\n${indent(`FAILED ${failure}`, '  ')}\n`),
    ...output.trim() === '' ? [] : [indent(output, '  | ')]
  ].join('\n')
}

/**
 * @param {string[]} files in the order in which they are begun
 * @param {(file: string) => FileOptions} optionsOf
 * @param {() => boolean} [mayBegin] false: no more files are begun
 * @returns {Promise<FileResult[]>}
 */
async function runTestFiles (files, optionsOf, mayBegin = () => true) {
  /** @type {FileResult[]} */
  const results = []
  const progress = new Progress({ unit: 'files', total: files.length })
  try {
    await forEachParallel(files, async (file) => {
      if (!mayBegin()) return
      const result = await runTestFile(file, optionsOf(file))
      results.push(result)
      progress.add()
      console.log(describe(result))
    }, kFilesAtATime)
  } finally {
    progress.end()
  }
  return results
}

/**
 * @template T
 * @param {T[]} items @param {number} seed
 * @returns {T[]} in an order that the seed alone decides
 */
function shuffle (items, seed) {
  const key = (/** @type {T} */ item) => createHash('sha1').update(`${seed} ${item}`).digest('hex')
  return items.map((item) => ({ item, key: key(item) })).sort((a, b) => a.key < b.key ? -1 : 1).map(({ item }) => item)
}

/**
 * Runs files round after round, in an order that the seed decides, until the time is over; a file that has begun by then ends by itself.
 *
 * @param {string[]} files
 * @param {{ minutes: number, seed: number, optionsOf: (file: string) => FileOptions }} options
 * @param {(results: FileResult[], round: number) => string[] | Promise<string[]>} judge says what failed
 * @throws {Error} that names every failure
 */
async function runRounds (files, { minutes, seed, optionsOf }, judge) {
  const until = Date.now() + minutes * 60_000
  /** @type {string[]} */
  const failures = []
  let runs = 0
  for (let round = 1; Date.now() < until; round++) {
    console.log(`\nRound ${round} with seed ${seed}, ${span(until - Date.now())} left`)
    const results = await runTestFiles(shuffle(files, seed + round), optionsOf, () => Date.now() < until)
    runs += results.length
    failures.push(...(await judge(results, round)).map((failure) => `FAILED in round ${round}: ${failure}`))
  }
  if (failures.length > 0) throw new Error(`${failures.join('\n')}\n${runs} runs of ${files.length} files with seed ${seed}: ${failures.length} failures`)
  console.log(`${runs} runs of ${files.length} files with seed ${seed} passed`)
}

/** @param {Tally[]} results @returns {Required<Tally>} */
function sum (results) {
  const of = (/** @type {keyof Counts} */ key) => results.reduce((total, result) => total + result[key], 0)
  return { passed: of('passed'), failed: of('failed'), skipped: of('skipped'), failures: results.flatMap(({ failures = [] }) => failures) }
}

/** @param {Counts} tally */
const tallyLine = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`

module.exports = { describe, runRounds, runTestFile, runTestFiles, shuffle, sum, tallyLine }
