'use strict'

// Runs the JavaScript tests: every *.test.js below packages/*/test and test/. Files below
// test/conformance and test/behaviour run twice, on stock Node (the reference) and on the engine.
//
//   node tools/test.js [pattern over file names] [--backend node | engine] [node --test flags]

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { kJobs, kRoot, listFiles, main, run } = require('./lib/project')

/** The slowest honest test takes seconds; this ends one that hangs. */
const kTestTimeoutMs = 240_000

/** @param {string} [pattern] @returns {string[]} */
function testFiles (pattern = '') {
  return [path.join(kRoot, 'packages'), path.join(kRoot, 'test')]
    .flatMap((folder) => listFiles(folder, (file) => file.endsWith('.test.js')))
    .map((file) => path.relative(kRoot, file))
    .filter((file) => /(^|[\\/])test[\\/]/.test(file) && new RegExp(pattern).test(file))
}

/** Whose tests are about any server with node:http's face. */
const kOnBoth = [path.join('test', 'conformance'), path.join('test', 'behaviour')]

/** Those that need the double of httpapi.dll: tools/wine.js. */
const kWithDouble = path.join('test', 'windows-double')

/** More than this is no accident of a busy machine. */
const kFilesRunAgainMax = 5

/** @param {string[]} files @param {string} backend @param {string[]} flags */
async function runFiles (files, backend, flags) {
  if (files.length === 0) return
  console.log(`\n${files.length} test files on ${backend === 'node' ? 'stock Node' : 'the engine'}`)
  const report = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-test-')), 'failed.json')
  const attempt = (/** @type {string[]} */ list, /** @type {number} */ jobs) => run(process.execPath, [
    '--test', `--test-timeout=${kTestTimeoutMs}`, `--test-concurrency=${jobs}`,
    `--test-reporter=${path.join(__dirname, 'lib', 'reporter.js')}`, '--test-reporter-destination=stdout',
    ...flags, ...list,
  ], { env: { HTTPSYS_BACKEND: backend === 'node' ? 'node' : '', NODE_ENV: 'test', HTTPSYS_FAILED_FILES: report } })
  try {
    await attempt(files, kJobs)
  } catch (error) {
    const failed = fs.existsSync(report) ? JSON.parse(fs.readFileSync(report, 'utf8')) : []
    if (failed.length === 0 || failed.length > kFilesRunAgainMax || files.length === failed.length) throw error
    console.log(`\nOnce more, with the machine to themselves: ${failed.join(', ')}`)
    await attempt(failed, 1)
    console.log(`UNSTABLE: passed only when run again, which is a defect of the test or of the code: ${failed.join(', ')}`)
  } finally {
    fs.rmSync(path.dirname(report), { recursive: true, force: true })
  }
}

/**
 * @param {object} [options]
 * @param {string} [options.pattern]
 * @param {string} [options.backend] only this one; by default what each file is for
 * @param {string[]} [options.flags]
 */
async function jsTests ({ pattern, backend = process.env.HTTPSYS_BACKEND, flags = [] } = {}) {
  const files = testFiles(pattern).filter((file) => !file.startsWith(kWithDouble))
  if (files.length === 0) throw new Error(`No test file matches ${pattern}`)
  const conformance = files.filter((file) => kOnBoth.some((folder) => file.startsWith(folder)))
  /** @type {unknown[]} */
  const failures = []
  const attempt = (/** @type {Promise<void>} */ work) => work.catch((error) => failures.push(error))
  if (backend !== 'engine') await attempt(runFiles(backend === 'node' ? files : conformance, 'node', flags))
  if (backend !== 'node') await attempt(runFiles(files, 'engine', flags))
  if (failures.length > 0) throw new Error('JavaScript tests failed')
}

if (require.main === module) {
  const args = process.argv.slice(2)
  const at = args.indexOf('--backend')
  const [, backend] = at === -1 ? [] : args.splice(at, 2)
  const flags = args.filter((arg) => arg.startsWith('--'))
  const pattern = args.find((arg) => !arg.startsWith('--'))
  main(jsTests({ pattern, backend, flags }))
}

module.exports = { jsTests, testFiles }
