'use strict'

// The suite `cache-tests`: its origin runs on stock Node or on ours, there behind the cache if the suite has one, and its
// client asks that server. What a test is called is its id.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { createInterface } = require('node:readline')
const { cleanEnvironment, emptyFolder, kRegister, requestsIn, start } = require('../child')
const { kindOf, programOf, readPublished, readTests, scoreText, scoresOf, upToDate } = require('./tests')

/** @typedef {import('./tests').CacheTest} CacheTest */
/** @typedef {import('./tests').Outcomes} Outcomes */
/** @typedef {import('../child').Execution} Execution */

/** One run takes a minute: it consists of pauses of 3 s. */
const kDefaultLimitSeconds = 240

/**
 * @param {string} folder of the suite
 * @param {NodeJS.ProcessEnv} env
 * @param {string[]} preloads
 * @param {string} scratch
 */
async function startOrigin (folder, env, preloads, scratch) {
  const requires = preloads.flatMap((file) => ['--require', file])
  const child = spawn(process.execPath, [...requires, programOf(folder, 'server/server.mjs')], {
    cwd: folder,
    env: cleanEnvironment({ ...env, npm_config_protocol: 'http', npm_config_port: '0', npm_config_pidfile: path.join(scratch, 'pid') }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const take = (/** @type {string} */ text) => { output = `${output}${text}\n`.slice(-4000) }
  createInterface({ input: child.stderr }).on('line', take)
  const ended = once(child, 'exit')
  const port = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (status) => reject(new Error(`the origin ended with ${status}:\n${output}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const listening = /^Listening on .*:(\d+)\/$/.exec(line)
      if (listening !== null) resolve(Number(listening[1]))
      else take(line)
    })
  })
  return {
    port,
    async stop () {
      child.kill()
      const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
      await ended
      clearTimeout(timer)
    },
  }
}

/**
 * @param {string} folder of the suite
 * @param {number} port of the origin
 * @param {string} scratch
 * @param {number} limitMs
 * @returns {Promise<{ outcomes: Outcomes, timedOut: boolean, output: string }>}
 */
async function ask (folder, port, scratch, limitMs) {
  const results = path.join(scratch, 'results.json')
  const script = `${JSON.stringify(process.execPath)} --no-warnings ${JSON.stringify(programOf(folder, 'cli.mjs'))} > ${JSON.stringify(results)}`
  // The empty variable stands for all tests.
  const env = cleanEnvironment({ npm_config_base: `http://127.0.0.1:${port}`, npm_package_config_id: '' })
  const { timedOut, output } = await start('/bin/sh', ['-c', script], { cwd: folder, env, limitMs })
  try {
    return { outcomes: JSON.parse(fs.readFileSync(results, 'utf8')), timedOut, output }
  } catch (error) {
    return { outcomes: {}, timedOut, output: `${output}\n${error}` }
  }
}

/** @param {CacheTest[]} tests @param {string} name @param {Outcomes} outcomes @returns {string} a line */
function scoreLine (tests, name, outcomes) {
  const { required, optimal, check } = scoresOf(tests, outcomes)
  return `${name.padEnd(32)} required ${scoreText(required)}, optimal ${scoreText(optimal)}, checks ${scoreText(check)}`
}

/**
 * @param {import('../suites').Suite} suite
 * @param {string} folder
 * @param {'stock' | 'ours'} mode
 * @param {string} scratch
 * @returns {Promise<Execution>} without the tests that only tell how a cache behaves ("check"), and without those that are out of date
 */
async function executeCacheTests (suite, folder, mode, scratch) {
  emptyFolder(scratch)
  const began = Date.now()
  const report = path.join(scratch, 'served')
  const isCached = mode === 'ours' && suite.cache !== undefined
  const env = mode === 'stock' ? {} : { HTTPSYS_REGISTER_REPORT: report, ...isCached ? { HTTPSYS_CACHE: suite.cache } : {} }
  const origin = await startOrigin(folder, env, [path.join(__dirname, 'origin.js'), ...mode === 'ours' ? [kRegister] : []], scratch)
  const { outcomes, timedOut, output } = await ask(folder, origin.port, scratch, (suite.limitSeconds ?? kDefaultLimitSeconds) * 1000)
    .finally(() => origin.stop())
  const tests = await readTests(folder)
  console.log(`${suite.name}: a test in brackets passes only if those it depends on pass\n  ${scoreLine(tests, mode, outcomes)}`)
  const current = upToDate(folder, tests)
  if (current.length < tests.length) console.log(`  ${scoreLine(current, `${mode}, without ${tests.length - current.length} out of date`, outcomes)}`)
  if (isCached) for (const { name, outcomes } of await readPublished(folder)) console.log(`  ${scoreLine(tests, name, outcomes)}`)
  const counted = current.filter((test) => kindOf(test) !== 'check')
  const idsOf = (/** @type {string} */ kind) => new Set(counted.filter((test) => kindOf(test) === kind).map(({ id }) => id))
  /** @param {CacheTest} test @returns {[string, { result: import('../child').Result, error?: string }]} */
  const entryOf = ({ id, name }) => {
    const outcome = outcomes[id]
    if (outcome === true) return [id, { result: 'pass' }]
    return [id, { result: 'fail', error: `${name}\n${outcome === undefined ? 'did not run' : outcome.join(': ')}` }]
  }
  return {
    tests: new Map(counted.map(entryOf)),
    requests: requestsIn(report),
    timedOut,
    seconds: (Date.now() - began) / 1000,
    reaching: new Set(),
    output,
    ...isCached && { wanted: { required: idsOf('required'), optimal: idsOf('optimal') } },
  }
}

module.exports = { executeCacheTests }
