'use strict'

// Runs the programs that put load and faults on servers against an addon that a sanitizer watches, round after round. What
// counts is what the sanitizer reports, in whichever process: under it everything is slower and takes more memory, so that a
// test that fails for this reason is only named. The same tests are judged by npm test.
//
//   node tools/sanitized.js <address | thread> <minutes> [pattern over the names of test files] [--seed <number>]

const { spawnSync } = require('node:child_process')
const { randomInt } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { span } = require('./lib/progress')
const { ask, kCoreNative, kRoot, main, nodeHeaders } = require('./lib/project')
const { describe, runTestFile } = require('./lib/test-runner')
const { compile, configure, withoutRandomisation } = require('./native')
const { soakItems } = require('./soak')
const { plan, testFiles } = require('./test')

const kLibraries = { address: ['libasan.so', 'libubsan.so'], thread: ['libtsan.so'] }

/** Those that put load and faults on servers, or many kinds of input. Without those that measure memory. */
const kDefaultPattern = '^test/(sharing|cache/(?!memory|model)|lifecycle/(?!memory|unread)|dispatch|wire|http2|tls|websocket/(?!conformance/idle-sockets)|prefixes|differential/differential|fuzz|conformance/(cluster|worker-threads|limits|bad-input|close|back-pressure|pipelining))'

/** Ends a file that hangs; the longest takes a third of it on a busy machine (ms). */
const kFileTimeoutMs = 900_000

/** @typedef {keyof typeof kLibraries} Sanitizer */

/** @typedef {{ sanitizer: Sanitizer, minutes: number, pattern: string, seed: number }} Options */

/** @param {string[]} args @returns {Options | null} null when they are wrong */
function parseArgs (args) {
  const rest = [...args]
  const at = rest.indexOf('--seed')
  const seed = at === -1 ? randomInt(0x7fff_ffff) : Number(rest.splice(at, 2)[1])
  const [sanitizer, minutes, pattern = kDefaultPattern, ...unknown] = rest
  const isGood = Object.hasOwn(kLibraries, sanitizer ?? '') && Number(minutes) > 0 && Number.isInteger(seed) && unknown.length === 0
  return isGood ? { sanitizer: /** @type {Sanitizer} */ (sanitizer), minutes: Number(minutes), pattern, seed } : null
}

/** @param {Sanitizer} sanitizer @returns {Promise<string>} the addon */
async function buildAddon (sanitizer) {
  const headers = nodeHeaders()
  if (headers === null) throw new Error('Node\'s headers are not on this machine: npm run build says how to get them')
  const folder = await configure(`addon-${sanitizer}`, [
    `-DHTTPSYS_SANITIZE=${sanitizer}`,
    `-DHTTPSYS_NODE_INCLUDE=${headers}`,
    `-DHTTPSYS_NAPI_INCLUDE=${path.join(kRoot, 'node_modules', 'node-addon-api')}`,
  ])
  await compile(folder, 'httpsys_addon')
  return path.join(folder, 'httpsys.node')
}

/** @param {Sanitizer} sanitizer @returns {string} what has to be loaded before Node */
function librariesOf (sanitizer) {
  return kLibraries[sanitizer].map((name) => {
    const file = ask('g++', [`-print-file-name=${name}`])?.trim() ?? name
    if (!path.isAbsolute(file)) throw new Error(`${name} of g++ is missing. Run:  apt-get install g++`)
    return fs.realpathSync(file)
  }).join(':')
}

/** @param {Sanitizer} sanitizer @param {string} addon @param {string} reports a folder @returns {NodeJS.ProcessEnv} */
function environment (sanitizer, addon, reports) {
  // A check of our own that fails is a finding, too: it aborts.
  const common = `log_path=${path.join(reports, 'report')}:log_exe_name=1:exitcode=66:handle_abort=1`
  return {
    HTTPSYS_BACKEND: '',
    HTTPSYS_ADDON: addon,
    HTTPSYS_SANITIZER: sanitizer,
    LD_PRELOAD: librariesOf(sanitizer),
    NODE_OPTIONS: `--require ${JSON.stringify(path.join(__dirname, 'lib', 'sanitized-children.js'))}`,
    // Node frees nothing when it ends, so that leaks cannot be told from what is in use: memory.test.js looks for those.
    ASAN_OPTIONS: `${common}:detect_leaks=0:alloc_dealloc_mismatch=0`,
    UBSAN_OPTIONS: `${common}:print_stacktrace=1`,
    // Node and V8 are not instrumented: only what the addon does itself can be judged.
    TSAN_OPTIONS: `${common}:ignore_noninstrumented_modules=1:second_deadlock_stack=1:suppressions=${path.join(kCoreNative, 'test-native', 'tsan.supp')}`
  }
}

/** @param {string} folder @returns {string} what sanitizers have written there, which is removed */
function takeReports (folder) {
  const files = fs.readdirSync(folder).map((name) => path.join(folder, name))
  const texts = files.map((file) => fs.readFileSync(file, 'utf8'))
  for (const file of files) fs.rmSync(file)
  return texts.join('\n')
}

/** @param {Options} options */
async function sanitized ({ sanitizer, minutes, pattern, seed }) {
  const addon = await buildAddon(sanitizer)
  const files = plan(testFiles(pattern), 'engine').flatMap((part) => part.files)
  if (files.length === 0) throw new Error(`No test matches ${pattern}`)
  console.log(`${files.length} files for ${minutes} min with the ${sanitizer} sanitizer; the order's seed is ${seed}`)
  const tally = { passed: 0, failed: 0 }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-sanitized-'))
  /** @type {Set<string>} files with a test that failed, without a report */
  const slow = new Set()
  const items = files.map((file, index) => {
    const reports = path.join(folder, String(index))
    fs.mkdirSync(reports)
    return {
      name: file,
      run: async () => {
        const result = await runTestFile(file, { env: environment(sanitizer, addon, reports), timeoutMs: kFileTimeoutMs })
        const { passed, failed } = result
        tally.passed += passed
        tally.failed += failed
        if (failed > 0) slow.add(file)
        const report = takeReports(reports)
        // Whoever cannot even start has proved nothing.
        if (passed === 0) return { isGood: false, text: `No test passed\n${describe(result)}\n${report}` }
        return { isGood: report === '', text: `${file}\n${report}` }
      }
    }
  })
  try {
    const until = Date.now() + minutes * 60_000
    const { runs, failures } = await soakItems(items, { seed, mayBegin: () => Date.now() < until, left: () => `, ${span(Math.max(0, until - Date.now()))} left` })
    for (const { name, round } of failures) console.log(`FAILED ${name} in round ${round}`)
    if (slow.size > 0) console.log(`Tests that failed at this speed, without a report, are in: ${[...slow].sort().join(', ')}`)
    console.log(`${runs} runs of ${files.length} files with seed ${seed}, ${tally.passed} tests passed and ${tally.failed} did not: ${failures.length} runs with a report`)
    if (failures.length > 0) throw new Error(`The ${sanitizer} sanitizer has found something`)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** @returns {number} the exit status of this program where the sanitizer can map its memory */
function again () {
  const [program, ...args] = withoutRandomisation()
  return spawnSync(program, [...args, process.execPath, ...process.argv.slice(1)], { stdio: 'inherit', env: { ...process.env, HTTPSYS_SANITIZED: '1' } }).status ?? 1
}

if (require.main === module) {
  const options = parseArgs(process.argv.slice(2))
  if (options === null) {
    console.error('Usage: npm run test:sanitized -- <address | thread> <minutes> [pattern] [--seed <number>]')
    process.exitCode = 2
  } else if (options.sanitizer === 'thread' && process.env.HTTPSYS_SANITIZED === undefined && withoutRandomisation().length > 0) {
    process.exitCode = again()
  } else {
    main(sanitized(options))
  }
}
