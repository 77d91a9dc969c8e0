'use strict'

// Runs the programs that put load and faults on servers against an addon that a sanitizer watches, round after round. What
// counts is what the sanitizer reports, in whichever process: under it everything is slower and takes more memory, so that a
// test that fails for this reason is only named. The same tests are judged by npm test.
//
//   node tools/sanitized.js <address | thread> <minutes> [pattern over the names of test files] [--seed <number>]

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { ask, kCoreNative, kRoot, main, nodeHeaders } = require('./lib/project')
const { runRounds } = require('./lib/test-runner')
const { compile, configure, withoutRandomisation } = require('./native')
const soak = require('./soak')
const { plan, testFiles } = require('./test')

const kLibraries = { address: ['libasan.so', 'libubsan.so'], thread: ['libtsan.so'] }

/** Those that put load and faults on servers, or many kinds of input. Without those that measure memory. */
const kDefaultPattern = '^test/(sharing|cache/(?!memory|model)|lifecycle/(?!memory|unread)|dispatch|wire|http2|tls|websocket/(?!conformance/idle-sockets)|prefixes|differential/differential|fuzz|conformance/(cluster|worker-threads|limits|bad-input|close|back-pressure|pipelining))'

/** Ends a file that hangs; the longest takes a third of it on a busy machine (ms). */
const kFileTimeoutMs = 900_000

/** @typedef {keyof typeof kLibraries} Sanitizer */

/** @typedef {{ sanitizer: Sanitizer, minutes: number, pattern: string, seed: number }} Options */

/** @param {string[]} args @returns {Options | null} null when they are wrong */
function parseArgs ([sanitizer = '', ...args]) {
  const options = soak.parseArgs(args)
  if (options === null || !Object.hasOwn(kLibraries, sanitizer)) return null
  return { ...options, pattern: options.pattern || kDefaultPattern, sanitizer: /** @type {Sanitizer} */ (sanitizer) }
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
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-sanitized-'))
  const reportsOf = (/** @type {string} */ file) => path.join(folder, file.replaceAll(path.sep, '-'))
  for (const file of files) fs.mkdirSync(reportsOf(file))
  const optionsOf = (/** @type {string} */ file) => ({ env: environment(sanitizer, addon, reportsOf(file)), timeoutMs: kFileTimeoutMs })
  try {
    await runRounds(files, { minutes, seed, optionsOf }, (results) => {
      const slow = results.filter(({ failed }) => failed > 0).map(({ file }) => file)
      if (slow.length > 0) console.log(`Tests failed at this speed in: ${slow.join(', ')}`)
      // A file that cannot even start has proved nothing.
      return results.map(({ file, passed }) => `${takeReports(reportsOf(file))}${passed === 0 ? 'No test passed' : ''}`.replace(/^(?=.)/s, `${file}\n`)).filter(Boolean)
    })
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
