'use strict'

// Runs a suite once, on stock Node or on ours, and returns what became of each test.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { ensureNode } = require('../lib/node-version')
const { executeOnePort } = require('./one-port')
const { executePrograms } = require('./programs')
const { kJobs, forEachParallel, listFiles } = require('../lib/project')
const { cleanEnvironment, emptyFolder, expand, kRegister, readLines, requestsIn, start } = require('./child')

/** @typedef {import('./child').Result} Result */
/** @typedef {import('./child').Execution} Execution */

const kDefaultLimitSeconds = 240
/** For one file of Node's; its own runner allows 120 s on machines of any kind. */
const kFileLimitMs = 40_000
const kTestTimeoutMs = 60_000
/** Most of Node's tests wait for timers rather than for a processor. */
const kFilesAtATime = kJobs * 2
const kProgressMs = 10_000

/** @param {string} file @returns {Map<string, { result: Result, error?: string }>} tests of the same name numbered */
function readResults (file) {
  const tests = new Map()
  for (const { test, result, error } of readLines(file)) {
    let name = test
    for (let n = 2; tests.has(name); n++) name = `${test} (${n})`
    tests.set(name, { result, error })
  }
  return tests
}

/** @param {import('./suites').Suite} suite @returns {string[]} what the engine is preloaded with */
const preloadsOf = ({ preload }) => [kRegister, ...preload === undefined ? [] : [path.join(__dirname, preload)]]

// Of a suite over another protocol only those count that came over it.
/** @param {import('./suites').Suite} suite @param {string} report @returns {NodeJS.ProcessEnv} */
function reportTo ({ over }, report) {
  return over === undefined ? { HTTPSYS_REGISTER_REPORT: report } : { HTTPSYS_COMPAT_OVER: over, HTTPSYS_COMPAT_OVER_REPORT: report }
}

/** @param {import('./suites').Suite} suite @param {string} folder @param {string[]} files @returns {string[]} */
function argumentsFor ({ runner, mocha }, folder, files) {
  const bin = path.join(folder, 'node_modules', 'mocha', 'bin')
  const reporter = path.join(__dirname, runner === 'mocha' ? 'mocha-reporter.js' : 'node-test-reporter.js')
  if (runner === 'mocha') {
    // Those of the time before have no configuration, and end the process anyway.
    const start = mocha === undefined ? [path.join(bin, 'mocha.js'), '--no-config', '--exit'] : [path.join(bin, '_mocha')]
    return [...start, '--reporter', reporter, ...files]
  }
  return ['--test', `--test-concurrency=${kJobs}`, `--test-timeout=${kTestTimeoutMs}`,
    `--test-reporter=${reporter}`, '--test-reporter-destination=stdout', ...expand(files, folder)]
}

/**
 * mocha or node:test, for all files at once or for each.
 *
 * @param {import('./suites').Suite} suite
 * @param {string} folder
 * @param {'stock' | 'ours'} mode
 * @param {string} scratch empty folder for this run
 * @returns {Promise<Execution>}
 */
async function executeWhole (suite, folder, mode, scratch) {
  const report = path.join(scratch, 'served')
  const limitMs = (suite.limitSeconds ?? kDefaultLimitSeconds) * 1000
  const began = Date.now()
  const options = preloadsOf(suite).map((file) => `--require ${JSON.stringify(file)}`).join(' ')
  /** @param {string[]} files @param {string} results @param {number} limit */
  const once = (files, results, limit) => start(process.execPath, argumentsFor(suite, folder, files), {
    cwd: folder,
    env: cleanEnvironment({
      NODE_ENV: 'test',
      HTTPSYS_COMPAT_RESULTS: results,
      ...mode === 'ours' ? { ...reportTo(suite, report), NODE_OPTIONS: options } : {},
    }),
    limitMs: limit,
  })
  /** @type {Execution} */
  const execution = { tests: new Map(), requests: 0, timedOut: false, seconds: 0, reaching: new Set(), output: '' }
  const all = path.join(scratch, 'results')
  const progress = setInterval(() => console.log(`${suite.name}: ${mode}, ${execution.tests.size + readLines(all).length} tests ` +
    `after ${Math.round((Date.now() - began) / 1000)} s`), kProgressMs)
  const byFile = async (/** @type {string} */ file) => {
    const results = path.join(scratch, `results-${file.replaceAll(path.sep, '-')}`)
    const { timedOut, output } = await once([...(suite.byFile ?? []), file], results, Math.min(kFileLimitMs, limitMs))
    const tests = readResults(results)
    for (const [name, outcome] of tests) execution.tests.set(`${file}: ${name}`, outcome)
    if (tests.size === 0) execution.tests.set(`${file}: the file`, { result: 'fail', error: output })
    if (timedOut) execution.tests.set(`${file}: its end`, { result: 'fail', error: `no end within ${kFileLimitMs / 1000} s` })
  }
  if (suite.byFile !== undefined) {
    await forEachParallel(expand(suite.files, folder), byFile).finally(() => clearInterval(progress))
  } else {
    const { timedOut, output } = await once(suite.files, all, limitMs).finally(() => clearInterval(progress))
    Object.assign(execution, { tests: readResults(all), timedOut, output })
  }
  return { ...execution, requests: requestsIn(report), seconds: (Date.now() - began) / 1000 }
}

/** @param {string} file @returns {string[]} what Node's runner takes from a comment of the test */
function flagsOf (file) {
  const line = /^\/\/ Flags: (.*)$/m.exec(fs.readFileSync(file, 'utf8'))
  return line === null ? [] : line[1].trim().split(/\s+/)
}

/**
 * Node's own tests: each file is a program that passes by exiting with 0.
 *
 * @param {import('./suites').Suite} suite
 * @param {string} folder
 * @param {'stock' | 'ours'} mode
 * @param {string} scratch
 * @returns {Promise<Execution>}
 */
async function executeNodeCore (suite, folder, mode, scratch) {
  const node = suite.node === undefined || process.version.startsWith(`v${suite.node}.`) ? process.execPath : await ensureNode(suite.node)
  const root = path.join(folder, 'test')
  const wanted = new RegExp(suite.files[0])
  const mentions = new RegExp(suite.mentions ?? '')
  const names = listFiles(root, (file) => wanted.test(path.relative(root, file)) && file.endsWith('.js') && mentions.test(fs.readFileSync(file, 'utf8')))
    .map((file) => path.relative(root, file))
  /** @type {Execution} */
  const execution = { tests: new Map(), requests: 0, timedOut: false, seconds: 0, reaching: new Set(), output: '' }
  const began = Date.now()
  const until = began + (suite.limitSeconds ?? kDefaultLimitSeconds) * 1000
  const report = path.join(scratch, 'served')
  let port = 12_346
  /** @param {string} name @param {string[]} preloads @param {NodeJS.ProcessEnv} env */
  const once = async (name, preloads, env) => {
    const file = path.join(root, name)
    const args = [...flagsOf(file), ...preloads.flatMap((preload) => ['--require', preload]), file]
    const { status, timedOut, output } = await start(node, args, {
      cwd: root, env: cleanEnvironment({ NODE_TEST_DIR: scratch, TEST_THREAD_ID: String(port), NODE_COMMON_PORT: String(port++), ...env }), limitMs: kFileLimitMs
    })
    const error = timedOut ? `no end within ${kFileLimitMs / 1000} s` : output
    return { result: /** @type {Result} */ (status === 0 ? (/^1\.\.0 # Skipped/m.test(output) ? 'skip' : 'pass') : 'fail'), error }
  }
  /** @param {string} name */
  const attempt = async (name) => {
    if (Date.now() > until) {
      execution.timedOut = true
      return
    }
    if (mode === 'ours') {
      execution.tests.set(name, await once(name, preloadsOf(suite), reportTo(suite, report)))
      return
    }
    const count = path.join(scratch, `count-${name.replaceAll('/', '-')}`)
    const counted = () => once(name, [path.join(__dirname, 'count-servers.js')], { HTTPSYS_COMPAT_COUNT: count })
    let outcome = await counted()
    if (outcome.result === 'fail') {
      // The reference has nothing preloaded.
      outcome = await once(name, [], {})
      // The first time it may have failed before it came to its server.
      if (outcome.result === 'pass') await counted()
    }
    if (readLines(count).some(({ connections }) => connections > 0)) execution.reaching.add(name)
    execution.tests.set(name, outcome)
  }
  const progress = setInterval(() => console.log(`${suite.name}: ${mode}, ${execution.tests.size} of ${names.length} files after ${Math.round((Date.now() - began) / 1000)} s`), kProgressMs)
  // Those in sequential/ use fixed ports or measure time: alone.
  const isAlone = (/** @type {string} */ name) => name.startsWith('sequential')
  await forEachParallel(names.filter((name) => !isAlone(name)), attempt, kFilesAtATime).finally(() => clearInterval(progress))
  await forEachParallel(names.filter(isAlone), attempt, 1)
  // A test of timing that failed beside others gets the machine for itself once. Ours is not asked twice.
  if (mode === 'stock') for (const [name, { result }] of execution.tests) if (result === 'fail') await attempt(name)
  return { ...execution, requests: requestsIn(report), seconds: (Date.now() - began) / 1000 }
}

/**
 * @param {import('./suites').Suite} suite
 * @param {string} folder
 * @param {(folder: string) => Promise<Execution>} work
 * @returns {Promise<Execution>} of the work with the suite's folder, or with a copy that is removed afterwards
 */
async function inItsFolder ({ elsewhere }, folder, work) {
  if (elsewhere !== true) return work(folder)
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-compat-'))
  try {
    fs.cpSync(folder, copy, { recursive: true, verbatimSymlinks: true })
    return await work(copy)
  } finally {
    fs.rmSync(copy, { recursive: true, force: true })
  }
}

/**
 * Runs a suite; those with the runner 'wire' are run by wire/execute.js.
 *
 * @param {import('./suites').Suite} suite
 * @param {string} folder
 * @param {'stock' | 'ours'} mode
 * @param {string} scratch
 */
function execute (suite, folder, mode, scratch) {
  emptyFolder(scratch)
  if (suite.runner === 'one-port' && suite.source.kind === 'own') return executeOnePort(suite.source, mode, scratch)
  if (suite.source.kind === 'own') return executePrograms(suite.source, mode)
  if (suite.runner === 'node-core') return executeNodeCore(suite, folder, mode, scratch)
  return inItsFolder(suite, folder, (home) => executeWhole(suite, home, mode, scratch))
}

module.exports = { execute, readResults }
