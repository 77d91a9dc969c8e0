'use strict'

// Runs the programs of which a suite consists, and reads what they leave behind.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { kCoreNative, listFiles } = require('../lib/project')

/** @typedef {'pass' | 'fail' | 'skip'} Result */

/**
 * @typedef {object} Execution
 * @property {Map<string, { result: Result, error?: string }>} tests
 * @property {number} requests that the engine served
 * @property {boolean} timedOut
 * @property {number} seconds
 * @property {Set<string>} reaching node-core on stock: files in which an http server accepted a connection
 * @property {string} output the end of what was printed
 * @property {{ required: Set<string>, optimal: Set<string> }} [wanted] tests that ours is to pass whatever stock Node does
 */

const kRegister = path.join(kCoreNative, 'register.js')

/** Settings with which whole suites are run, beside the defaults. */
const kKept = ['HTTPSYS_ALIGN_AFTER']

/** @param {NodeJS.ProcessEnv} extra @returns {NodeJS.ProcessEnv} this one without what npm and node:test put into it */
function cleanEnvironment (extra) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => kKept.includes(name) || !/^(npm_|NODE_|HTTPSYS_)/i.test(name)))
  return { ...env, ...extra }
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, limitMs: number }} options
 * @returns {Promise<{ status: number | null, timedOut: boolean, output: string }>}
 */
function start (program, args, { cwd, env, limitMs }) {
  return new Promise((resolve, reject) => {
    // A group of its own: what tests leave running ends with it.
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let output = ''
    let timedOut = false
    const endGroup = () => {
      try {
        process.kill(-(/** @type {number} */ (child.pid)), 'SIGKILL')
      } catch {}
    }
    const timer = setTimeout(() => {
      timedOut = true
      endGroup()
    }, limitMs)
    const take = (/** @type {Buffer} */ piece) => {
      output = (output + piece).slice(-4000)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.on('error', reject)
    child.on('exit', () => setTimeout(endGroup, 100))
    child.on('close', (status) => {
      clearTimeout(timer)
      resolve({ status, timedOut, output })
    })
  })
}

/** @param {string} file of lines of JSON @returns {any[]} */
function readLines (file) {
  if (!fs.existsSync(file)) return []
  // The last line of a run that was ended may be half a line.
  return fs.readFileSync(file, 'utf8').split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)]
    } catch {
      return []
    }
  })
}

/** @param {string} report @returns {number} */
const requestsIn = (report) => readLines(report).reduce((sum, { requests }) => sum + requests, 0)

/** @param {string[]} globs such as test/*.js and test/** /*.test.js @param {string} folder @returns {string[]} */
function expand (globs, folder) {
  const pattern = (/** @type {string} */ glob) => glob.replace(/[.+]/g, '\\$&').replace(/\*\*\/|\*/g, (stars) => stars === '*' ? '[^/]*' : '(?:.*/)?')
  const wanted = new RegExp(`^(?:${globs.map(pattern).join('|')})$`)
  return listFiles(folder, (file) => wanted.test(path.relative(folder, file))).map((file) => path.relative(folder, file))
}

/** @param {string} folder where a run leaves its results @returns {string} the folder, empty */
function emptyFolder (folder) {
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder, { recursive: true })
  return folder
}

module.exports = { cleanEnvironment, emptyFolder, expand, kRegister, readLines, requestsIn, start }
