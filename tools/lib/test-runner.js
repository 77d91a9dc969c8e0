'use strict'

// Runs test files, each as a process of its own, once: as many at a time as the machine has work for, the longest
// first. What a file started and left behind ends with it.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { Progress } = require('./progress')
const { kJobs, kRoot } = require('./project')

/** The slowest honest test takes seconds; these end one that hangs, and a file that does (ms). */
const kTestTimeoutMs = 240_000
const kFileTimeoutMs = 300_000

/** A file that only waits takes part of a core, too: more of them than this at a time disturb each other. */
const kShareMin = 0.4

/** What a file is taken to cost that nobody has measured: [seconds, seconds of CPU]. */
const kUsualCost = /** @type {[number, number]} */ ([2, 1])

/**
 * With extra authorities Node 20 reads all that it knows at the start of each process, of which the tests start some
 * 2,000: with them the suite takes half as long again. Tests have authorities of their own.
 */
const kTestEnv = { NODE_ENV: 'test', NODE_EXTRA_CA_CERTS: undefined, npm_package_name: undefined, npm_package_json: undefined }

/** @typedef {import('./reporter').Event} Event */
/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */
/** @typedef {Counts & { failures?: string[] }} Tally failures: a text for each, the first line of which has its name */

/**
 * @typedef {Required<Tally> & {
 *   file: string,
 *   events: Event[],
 *   output: string,
 *   problem: string | null,
 *   seconds: number,
 *   cpu: number | null
 * }} FileResult `problem` is about the file as a whole; it counts as one that failed
 */

/** Ends everything that is still running when this process is told to end. @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
let listens = false

/** @param {import('node:child_process').ChildProcess} child with all that it has started and not moved elsewhere */
function endAll (child) {
  try {
    if (process.platform === 'win32' || child.pid === undefined) child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Nothing is left of it.
  }
}

function listenForEnd () {
  if (listens) return
  listens = true
  process.on('exit', () => { for (const child of running) endAll(child) })
  for (const [signal, number] of /** @type {const} */ ([['SIGINT', 2], ['SIGTERM', 15], ['SIGHUP', 1]])) {
    process.on(signal, () => process.exit(128 + number))
  }
}

/**
 * Starts a program that leads a group of processes, and ends the group with it.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, timeoutMs?: number }} [options]
 * @returns {Promise<{ status: number | null, signal: string | null, output: string, isLate: boolean }>}
 */
function runGroup (program, args, { env = {}, timeoutMs = kFileTimeoutMs } = {}) {
  listenForEnd()
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: kRoot, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: process.platform !== 'win32'
    })
    running.add(child)
    let output = ''
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      endAll(child)
    }, timeoutMs)
    child.stdout.setEncoding('utf8').on('data', (piece) => { output += piece })
    child.stderr.setEncoding('utf8').on('data', (piece) => { output += piece })
    child.on('error', reject)
    child.on('exit', () => endAll(child))
    child.on('close', (status, signal) => {
      clearTimeout(timer)
      running.delete(child)
      resolve({ status, signal, output, isLate })
    })
  })
}

/** @param {string} file of the reporter @returns {Event[]} */
function readEvents (file) {
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
  // A process that was ended may have left half a line.
  return text.split('\n').slice(0, -1).map((line) => JSON.parse(line))
}

/**
 * @param {{ status: number | null, signal: string | null, isLate: boolean }} end
 * @param {Event[]} events
 * @param {number} timeoutMs
 * @returns {string | null}
 */
function problemOf ({ status, signal, isLate }, events, timeoutMs) {
  if (isLate) return `did not end within ${timeoutMs / 1000} s`
  if (signal !== null) return `was ended by ${signal}`
  if (events.at(-1)?.type !== 'end') return `ended with ${status} before its tests did`
  const hasFailed = events.some(({ type }) => type === 'failed')
  return status === 0 || hasFailed ? null : `ended with ${status}, though no test failed`
}

/**
 * @param {string} file relative to the root
 * @param {{ env?: NodeJS.ProcessEnv, flags?: string[], timeoutMs?: number }} [options] timeoutMs: after which it is ended
 * @returns {Promise<FileResult>}
 */
async function runTestFile (file, { env = {}, flags = [], timeoutMs = kFileTimeoutMs } = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-test-'))
  const report = path.join(folder, 'events')
  const start = Date.now()
  try {
    const end = await runGroup(process.execPath, [
      `--test-timeout=${kTestTimeoutMs}`, `--test-reporter=${path.join(__dirname, 'reporter.js')}`, `--test-reporter-destination=${report}`,
      ...flags, file
    ], { env: { ...kTestEnv, ...env }, timeoutMs })
    const events = readEvents(report)
    const problem = problemOf(end, events, timeoutMs)
    const count = (/** @type {string} */ wanted) => events.filter(({ type }) => type === wanted).length
    return {
      file,
      events,
      output: end.output,
      problem,
      passed: count('passed'),
      failed: count('failed') + (problem === null ? 0 : 1),
      skipped: count('skipped'),
      failures: failuresOf(file, events, problem),
      seconds: (Date.now() - start) / 1000,
      cpu: events.at(-1)?.cpu ?? null
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} text @param {string} margin */
const indent = (text, margin) => text.trimEnd().replace(/^/gm, margin)

/** @param {FileResult} result @returns {string} a line, the reasons of skips, and everything about what failed */
function describe ({ file, events, output, problem, passed, failed, skipped, seconds }) {
  const counts = [`${passed + failed + skipped} tests`, failed > 0 ? `${failed} failed` : '', skipped > 0 ? `${skipped} skipped` : '', `${seconds.toFixed(1)} s`]
  const lines = [`${failed > 0 ? 'FAIL' : 'ok  '} ${file} (${counts.filter(Boolean).join(', ')})`]
  for (const { type, name, line, text = '' } of events) {
    if (type === 'skipped') lines.push(`  skipped: ${name}${text === '' ? '' : ` (${text})`}`)
    if (type === 'failed') lines.push(`\n  FAILED ${name}\n    at ${file}:${line ?? 0}\n${indent(text, '    ')}\n`)
    if (type === 'note' && failed > 0) lines.push(`  ${text}`)
  }
  if (problem !== null) lines.push(`\n  FAILED ${file} ${problem}\n`)
  if (output.trim() !== '') lines.push(indent(output, '  | '))
  return lines.join('\n')
}

/** @param {Record<string, [number, number]>} costs @param {string} file */
const costOf = (costs, file) => costs[file.replaceAll(path.sep, '/')] ?? kUsualCost

/**
 * Calls `work` for each item; several at a time, as long as what they take of the cores together is no more than there is.
 *
 * @template T
 * @param {T[]} items in the order in which they are begun, as far as there is room
 * @param {(item: T) => number} shareOf cores that it keeps busy
 * @param {(item: T) => Promise<void>} work
 * @param {number} room cores
 */
async function runShared (items, shareOf, work, room) {
  const waiting = [...items]
  const shares = items.map(shareOf)
  const left = [...shares]
  /** @type {Set<Promise<void>>} */
  const begun = new Set()
  let taken = 0
  while (waiting.length > 0 || begun.size > 0) {
    for (let i = 0; i < waiting.length;) {
      const share = Math.min(left[i], room)
      if (taken + share > room + 1e-9) {
        i++
        continue
      }
      const [item] = waiting.splice(i, 1)
      left.splice(i, 1)
      taken += share
      const done = work(item).finally(() => {
        taken -= share
        begun.delete(done)
      })
      begun.add(done)
    }
    if (begun.size > 0) await Promise.race(begun)
  }
}

/**
 * Calls `work` for each item in turn, `jobs` at a time, as long as `mayBegin()` says so.
 *
 * @template T
 * @param {T[]} items
 * @param {number} jobs
 * @param {() => boolean} mayBegin
 * @param {(item: T) => Promise<void>} work
 */
async function runWhile (items, jobs, mayBegin, work) {
  const waiting = [...items]
  const worker = async () => {
    while (mayBegin()) {
      const item = waiting.shift()
      if (item === undefined) return
      await work(item)
    }
  }
  await Promise.all(Array.from({ length: jobs }, worker))
}

/**
 * @param {string[]} files
 * @param {object} options
 * @param {Record<string, [number, number]>} options.costs by file: [seconds, seconds of CPU]
 * @param {NodeJS.ProcessEnv} [options.env]
 * @param {string[]} [options.flags] for node
 * @param {number} [options.jobs] cores
 * @param {(line: string) => void} [options.write]
 * @returns {Promise<FileResult[]>}
 */
async function runTestFiles (files, { costs, env, flags, jobs = kJobs, write = console.log }) {
  const seconds = (/** @type {string} */ file) => costOf(costs, file)[0]
  const share = (/** @type {string} */ file) => Math.max(kShareMin, costOf(costs, file)[1] / costOf(costs, file)[0])
  const order = [...files].sort((a, b) => seconds(b) - seconds(a))
  const progress = new Progress({ unit: 'files', total: files.length, weight: files.reduce((sum, file) => sum + seconds(file), 0), write })
  /** @type {FileResult[]} */
  const results = []
  try {
    await runShared(order, share, async (file) => {
      const result = await runTestFile(file, { env, flags })
      results.push(result)
      progress.add(seconds(file))
      write(describe(result))
    }, jobs)
  } finally {
    progress.end()
  }
  return results
}

/** @param {string} file @param {Event[]} events @param {string | null} problem @returns {string[]} */
function failuresOf (file, events, problem) {
  const failed = events.filter(({ type }) => type === 'failed')
  const texts = failed.map(({ name, line, text = '' }) => `${name}\n  at ${file}:${line ?? 0}\n${indent(firstLines(text), '  ')}`)
  return problem === null ? texts : [...texts, `${file} ${problem}`]
}

/** @param {string} text @returns {string} as much as says what was expected */
const firstLines = (text) => text.split('\n').filter((line) => line.trim() !== '').slice(0, 4).join('\n')

/** @param {Tally[]} results @returns {Required<Tally>} */
function sum (results) {
  const of = (/** @type {keyof Counts} */ key) => results.reduce((total, result) => total + result[key], 0)
  return { passed: of('passed'), failed: of('failed'), skipped: of('skipped'), failures: results.flatMap(({ failures = [] }) => failures) }
}

/** @param {Counts} tally */
const tallyLine = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`

module.exports = { describe, firstLines, runGroup, runShared, runTestFile, runTestFiles, runWhile, sum, tallyLine }
