'use strict'

// Runs a differential program as a process of its own, on stock Node or on ours.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const kCoreNative = path.resolve(__dirname, '..', '..', 'packages', 'core-native')
const kRegister = path.join(kCoreNative, 'register.js')
/** Makes the application's clock stand still. */
const kFrozenClock = path.join(__dirname, 'frozen-clock.js')
const kPrograms = path.join(__dirname, 'programs')
/** Programs on frameworks: their dependencies are brought by `npm run compat -- frameworks`. */
const kFrameworkPrograms = path.join(__dirname, 'frameworks', 'programs')
/** Ends a program that hangs; none takes a tenth of it on a busy machine. */
const kProgramMs = 30_000

/**
 * @typedef {object} Program
 * @property {string} name area/file, without .js
 * @property {string} file
 * @property {string[]} covers rows of table A (`7`) and rules of A.2 (`r7`), as in docs/compatibility.md
 * @property {string[]} breaks the mutations under which it has to fail
 * @property {boolean} needsClock a dependency of it waits for the application's clock
 */

/**
 * @typedef {object} Outcome
 * @property {string} output standard output, standard error without stacks, and how the process ended
 * @property {{ servers: number, connections: number, requests: number }} served by the engine
 */

/** @param {string} text @param {string} name @returns {string[]} */
const listed = (text, name) => (new RegExp(`^// ${name}: (.*)$`, 'm').exec(text)?.[1] ?? '').split(/,\s*/).filter(Boolean)

/** @param {string} [folder] @returns {Program[]} */
function programs (folder = kPrograms) {
  return fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js') && !name.includes('node_modules')).sort()
    .map((name) => {
      const file = path.join(folder, name)
      const text = fs.readFileSync(file, 'utf8')
      return { name: name.slice(0, -3).replaceAll(path.sep, '/'), file, covers: listed(text, 'covers'), breaks: listed(text, 'breaks'), needsClock: listed(text, 'clock').length !== 0 }
    })
}

/** @param {string} text standard error @returns {string} without what differs from run to run */
function withoutStacks (text) {
  return text.split('\n').filter((line) => !/^\s+at /.test(line) && !/^\(Use `node --trace/.test(line))
    .join('\n').replace(/\(node:\d+\)/g, '(node)').replace(/^(?:node:|\/).*:\d+$/gm, '(place)')
}

/**
 * @param {Program} program
 * @param {string | null} register what to preload: null is stock Node
 * @param {NodeJS.ProcessEnv} [extra]
 * @param {number} [limitMs] after which it is ended
 * @param {string[]} [preloads] what is loaded after that
 * @returns {Promise<Outcome>}
 */
function runProgram (program, register, extra = {}, limitMs = kProgramMs, preloads = []) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-differential-'))
  const report = path.join(scratch, 'served')
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|HTTPSYS_(?!ADDON$))/i.test(name))),
    NO_COLOR: '1',
    ...register === null ? {} : { HTTPSYS_REGISTER_REPORT: report },
    ...extra,
  }
  return new Promise((resolve, reject) => {
    const required = [...register === null ? [] : [register], ...preloads].flatMap((file) => ['--require', file])
    const child = spawn(process.execPath, [...required, program.file], {
      cwd: scratch, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true,
    })
    // With what it started, which may hold on to its output.
    const timer = setTimeout(() => process.kill(-(/** @type {number} */ (child.pid)), 'SIGKILL'), limitMs)
    let output = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (piece) => { output += piece })
    child.stderr.setEncoding('utf8').on('data', (piece) => { errors += piece })
    child.on('error', reject)
    child.on('close', (status, signal) => {
      clearTimeout(timer)
      const lines = fs.existsSync(report) ? fs.readFileSync(report, 'utf8').trim().split('\n') : []
      const served = { servers: 0, connections: 0, requests: 0 }
      for (const line of lines) {
        const counts = JSON.parse(line)
        for (const key of /** @type {(keyof typeof served)[]} */ (Object.keys(served))) served[key] += counts[key]
      }
      fs.rmSync(scratch, { recursive: true, force: true })
      const end = signal === null ? `exit ${status}` : `no end within ${limitMs / 1000} s`
      resolve({ output: `${output}${withoutStacks(errors)}${end}\n`, served })
    })
  })
}

module.exports = { kCoreNative, kFrozenClock, kFrameworkPrograms, kPrograms, kRegister, programs, runProgram }
