'use strict'

// The suite `wire`: every fixture of llhttp, as one segment, byte by byte, and cut off at every byte, to
// a server without and one with listeners. Stock Node's outcome is the reference, so there each test
// passes that comes to an end; ours passes when it has the same outcome. A difference that has a name
// counts against the test of that name and not against the fixture's.

const fs = require('node:fs')
const path = require('node:path')
const { cleanEnvironment, emptyFolder, expand, kRegister, readLines, requestsIn, start } = require('../child')
const { readFixtures } = require('./fixtures')
const { isEarlier, kClasses, judge } = require('./judge')

/** @typedef {import('./program').Job} Job */
/** @typedef {import('./exchange').Outcome} Outcome */
/** @typedef {{ name: string, jobs: Job[] }} WireTest */

const kProgressMs = 10_000
const kDefaultLimitSeconds = 240
/** How long an open connection is watched for an answer; and when a difference may be due to it. */
const kHoldMs = 60
const kPatientHoldMs = 2000
/** Inputs that a message names. */
const kShown = 3

/** @param {Omit<Job, 'key'>} job @returns {Job} */
const named = (job) => ({ ...job, key: `${job.listens ? 'listening' : 'quiet'} ${job.split ? 'bytes' : 'whole'} ${job.holdMs} ${job.bytes}` })

/** @param {import('./fixtures').Fixture[]} fixtures @returns {WireTest[]} */
function testsOf (fixtures) {
  return fixtures.flatMap(({ name, bytes: buffer }) => {
    const bytes = buffer.toString('latin1')
    /** @param {(listens: boolean) => Job[]} make */
    const both = (make) => [false, true].flatMap(make)
    return [
      { name: `${name}: in one segment`, jobs: both((listens) => [named({ bytes, listens, split: false, holdMs: kHoldMs })]) },
      { name: `${name}: byte by byte`, jobs: both((listens) => [named({ bytes, listens, split: true, holdMs: kHoldMs })]) },
      {
        name: `${name}: cut off at every byte`,
        jobs: both((listens) => Array.from({ length: bytes.length + 1 }, (_, length) => named({ bytes: bytes.slice(0, length), listens, split: false, holdMs: 0 }))),
      },
    ]
  })
}

/**
 * @param {Job[]} jobs
 * @param {'stock' | 'ours'} mode
 * @param {string} scratch
 * @param {string} name of this run in it
 * @param {number} limitMs
 */
async function runJobs (jobs, mode, scratch, name, limitMs) {
  const [list, results, report] = ['jobs', 'results', 'served'].map((kind) => path.join(scratch, `${name}-${kind}`))
  const distinct = [...new Map(jobs.map((job) => [job.key, job])).values()]
  fs.writeFileSync(list, JSON.stringify(distinct))
  fs.writeFileSync(results, '')
  const began = Date.now()
  const progress = setInterval(() => {
    console.log(`wire: ${mode}, ${readLines(results).length} of ${distinct.length} inputs after ${Math.round((Date.now() - began) / 1000)} s`)
  }, kProgressMs)
  const env = cleanEnvironment({
    HTTPSYS_COMPAT_RESULTS: results,
    ...mode === 'ours' ? { HTTPSYS_REGISTER_REPORT: report, NODE_OPTIONS: `--require ${JSON.stringify(kRegister)}` } : {},
  })
  const { timedOut, output, status } = await start(process.execPath, [path.join(__dirname, 'program.js'), list], { cwd: scratch, env, limitMs })
    .finally(() => clearInterval(progress))
  /** @type {Map<string, Outcome>} */
  const outcomes = new Map(readLines(results).map(({ key, outcome }) => [key, outcome]))
  return { outcomes, timedOut, output: status === 0 ? output : `exit ${status}: ${output}`, requests: requestsIn(report), inputs: distinct.length }
}

/** @param {Job} job @returns {Job} the same once more, given more time */
const again = (job) => named({ ...job, holdMs: job.holdMs === 0 ? 0 : kPatientHoldMs })

/**
 * What is different is asked once more, with time; of stock Node in one segment and byte by byte. Only time is forgiven: what
 * ours did the first time is judged, too, unless it is the beginning of what it does now.
 *
 * @param {Job[]} jobs
 * @param {Map<string, Outcome>} outcomes of ours
 * @param {string} scratch
 * @param {number} limitMs
 * @returns {Promise<Map<string, { verdict: string | null, stock: Outcome, ours: Outcome, then: Outcome }>>} by the job's key; `then`: ours
 *   when it is asked again
 */
async function askAgain (jobs, outcomes, scratch, limitMs) {
  const once = jobs.map(again)
  const others = [true, false].map((split) => once.map((job) => named({ ...job, split })))
  const stock = await runJobs([once, ...others].flat(), 'stock', scratch, 'again-stock', limitMs)
  const ours = await runJobs(once, 'ours', scratch, 'again-ours', limitMs)
  const lost = { text: '', seen: [], errors: ['the server under test went away'], late: true }
  return new Map(jobs.map((job, i) => {
    const reference = stock.outcomes.get(once[i].key) ?? lost
    const outcome = ours.outcomes.get(once[i].key) ?? { ...lost, errors: ['ours went away'] }
    const first = outcomes.get(job.key) ?? lost
    /** @param {Outcome} one */
    const verdictOf = (one) => judge(Buffer.from(job.bytes, 'latin1'), reference, one, others.flatMap((list) => stock.outcomes.get(list[i].key) ?? []))
    const verdict = verdictOf(outcome)
    // TCP may cut the bytes differently each time; so both outcomes have to be good ones, or one the beginning of the other.
    const isGood = isEarlier(first, outcome) || verdictOf(first) !== 'different'
    return [job.key, { verdict: isGood ? verdict : 'different', stock: reference, ours: first, then: outcome }]
  }))
}

/** @param {string[]} lines */
const shorten = (lines) => [...lines.slice(0, kShown), ...lines.length > kShown ? [`… and ${lines.length - kShown} more`] : []].join('\n')

/**
 * @param {WireTest[]} tests
 * @param {Map<string, Outcome>} reference
 * @param {Map<string, Outcome>} outcomes
 * @param {string} scratch
 * @param {number} limitMs
 */
async function results (tests, reference, outcomes, scratch, limitMs) {
  const jobs = tests.flatMap((test) => test.jobs)
  const differing = new Map(jobs.filter(({ key, bytes }) => {
    const [stock, ours] = [reference.get(key), outcomes.get(key)]
    return stock === undefined || ours === undefined || judge(Buffer.from(bytes, 'latin1'), stock, ours) !== null
  }).map((job) => [job.key, job]))
  const seconds = differing.size === 0 ? new Map() : await askAgain([...differing.values()], outcomes, scratch, limitMs)
  /** @type {Map<string, Set<string>>} inputs of each known difference */
  const classes = new Map(kClasses.map((name) => [name, new Set()]))
  /** @type {import('../child').Execution['tests']} */
  const found = new Map()
  for (const { name, jobs } of tests) {
    const wrong = []
    for (const { key, bytes } of jobs) {
      const second = seconds.get(key)
      if (second === undefined || second.verdict === null) continue
      if (classes.has(second.verdict)) classes.get(second.verdict)?.add(JSON.stringify(bytes))
      else wrong.push(`${JSON.stringify(key)}\n  stock ${JSON.stringify(second.stock)}\n  ours  ${JSON.stringify(second.ours)}\n  then  ${JSON.stringify(second.then)}`)
    }
    found.set(name, { result: wrong.length === 0 ? 'pass' : 'fail', error: shorten(wrong) })
  }
  for (const [name, inputs] of classes) {
    found.set(name, { result: inputs.size === 0 ? 'pass' : 'fail', error: `${inputs.size} inputs, such as\n${shorten([...inputs])}` })
  }
  return found
}

/**
 * @param {import('../suites').Suite} suite
 * @param {string} folder
 * @param {'stock' | 'ours'} mode stock first: it leaves the reference
 * @param {string} scratch
 * @returns {Promise<import('../child').Execution>}
 */
async function executeWire (suite, folder, mode, scratch) {
  emptyFolder(scratch)
  const began = Date.now()
  const limitMs = (suite.limitSeconds ?? kDefaultLimitSeconds) * 1000
  const tests = testsOf(readFixtures(expand(suite.files, folder).map((file) => path.join(folder, file))))
  const saved = path.join(path.dirname(scratch), `${suite.name}-reference.json`)
  const { outcomes, timedOut, output, requests, inputs } = await runJobs(tests.flatMap(({ jobs }) => jobs), mode, scratch, 'all', limitMs)
  console.log(`${suite.name}: ${mode}, ${inputs} inputs in ${((Date.now() - began) / 1000).toFixed(1)} s`)
  /** @type {import('../child').Execution['tests']} */
  let found
  if (mode === 'stock') {
    fs.writeFileSync(saved, JSON.stringify([...outcomes]))
    const isThere = (/** @type {Job} */ { key }) => outcomes.get(key)?.late === undefined && outcomes.has(key)
    found = new Map([
      ...tests.map(({ name, jobs }) => /** @type {const} */ ([name, { result: jobs.every(isThere) ? 'pass' : 'fail' }])),
      ...kClasses.map((name) => /** @type {const} */ ([name, { result: 'pass' }])),
    ])
  } else {
    found = await results(tests, new Map(JSON.parse(fs.readFileSync(saved, 'utf8'))), outcomes, scratch, limitMs)
  }
  return { tests: found, requests, timedOut, seconds: (Date.now() - began) / 1000, reaching: new Set(), output }
}

module.exports = { executeWire, testsOf }
