'use strict'

// Where things are in this repository, and how its scripts start other programs.
// Runs before node_modules exists: Node's own modules only.

const { spawn, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { nodePrefix } = require('../../packages/core-native/native/build')

const kRoot = path.resolve(__dirname, '..', '..')
const kCoreNative = path.join(kRoot, 'packages', 'core-native')

/** Compilers and test processes at a time. Two by default: more helps little, and memory is finite. */
const kJobs = Math.max(1, Number(process.env.HTTPSYS_JOBS) || Math.min(os.cpus().length, 2))

/**
 * All files below a folder, sorted, build results and dependencies left out.
 *
 * @param {string} folder
 * @param {(file: string) => boolean} [wanted]
 * @returns {string[]} absolute paths
 */
function listFiles (folder, wanted = () => true) {
  /** @type {string[]} */
  const found = []
  if (!fs.existsSync(folder)) return found
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name)
    if (entry.isDirectory()) {
      if (/^(node_modules|build|build-.*|\.git)$/.test(entry.name)) continue
      found.push(...listFiles(full, wanted))
    } else if (wanted(full)) {
      found.push(full)
    }
  }
  return found.sort()
}

/**
 * @param {string[]} names programs, the best first
 * @returns {string | null} the first one that is on the PATH
 */
function findProgram (...names) {
  const folders = (process.env.PATH ?? '').split(path.delimiter)
  for (const name of names) {
    if (path.isAbsolute(name) && fs.existsSync(name)) return name
    for (const folder of folders) {
      const full = path.join(folder, name)
      try {
        fs.accessSync(full, fs.constants.X_OK)
        return full
      } catch {}
    }
  }
  return null
}

/** @returns {string | null} where node.h and node_api.h are: beside Node, or where node-gyp keeps them */
function nodeHeaders () {
  const cached = path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'node-gyp', process.versions.node)
  const folder = path.join(nodePrefix() ?? cached, 'include', 'node')
  return fs.existsSync(folder) ? folder : null
}

/** A program ended badly. The message names the program; its output was shown as it ran. */
class CommandError extends Error {
  /**
   * @param {string} command
   * @param {number | null} status
   * @param {NodeJS.Signals | null} signal
   * @param {string} output as far as it was kept
   */
  constructor (command, status, signal, output) {
    super(`${command} ${signal === null ? `exited with ${status}` : `was ended by ${signal}`}`)
    this.output = output
  }
}

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env] added to this process's own
 * @property {boolean} [quiet] keep the output; show it only when the program fails
 * @property {boolean} [silent] keep the output, which the caller shows
 * @property {boolean} [keep] show the output and keep it too
 * @property {(line: string) => void} [onLine] is told each line of the output, which is kept or shown as the others say
 * @property {number} [timeout] ms, after which the program is ended
 */

/**
 * Runs a program and shows its output.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<string>} the output when quiet, silent or kept, otherwise ''
 * @throws {CommandError} when it fails
 */
function run (program, args, { cwd = kRoot, env, quiet = false, silent = false, keep = false, onLine, timeout } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      timeout,
      stdio: quiet || silent || keep || onLine !== undefined ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
    })
    let output = ''
    let lineStart = 0
    const take = (/** @type {Buffer} */ piece) => {
      output += piece
      const lines = onLine === undefined ? [] : output.slice(lineStart).split('\n').slice(0, -1)
      for (const line of lines) {
        onLine?.(line)
        lineStart += line.length + 1
      }
      if (!quiet && !silent) process.stdout.write(piece)
    }
    child.stdout?.on('data', take)
    child.stderr?.on('data', take)
    child.on('error', reject)
    child.on('close', (status, signal) => {
      if (status === 0) return resolve(output)
      if (quiet) process.stdout.write(output)
      reject(new CommandError(path.basename(program), status, signal, output))
    })
  })
}

/**
 * @param {string} program
 * @param {string[]} args
 * @returns {string | null} what it printed, or null when it failed
 */
function ask (program, args) {
  const result = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return result.status === 0 ? result.stdout.trim() : null
}

/**
 * Runs tasks, a few at a time; one that fails does not stop the others.
 *
 * @template T
 * @param {T[]} items
 * @param {(item: T) => Promise<unknown>} task
 * @param {number} [jobs]
 * @throws {Error} naming how many failed
 */
async function forEachParallel (items, task, jobs = kJobs) {
  const queue = [...items]
  /** @type {Error[]} */
  const failures = []
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      try {
        await task(item)
      } catch (error) {
        failures.push(/** @type {Error} */ (error))
      }
    }
  }
  await Promise.all(Array.from({ length: jobs }, worker))
  if (failures.length > 0) {
    throw new Error(`${failures.length} of ${items.length} failed: ` +
      failures.map((failure) => failure.message).join('; '))
  }
}

/**
 * Ends the process with a message and no stack: for scripts whose failures are the user's to read.
 *
 * @param {Promise<unknown>} work
 */
function main (work) {
  work.catch((error) => {
    console.error(`\n${error instanceof Error ? error.message : error}`)
    process.exitCode = 1
  })
}

module.exports = {
  kRoot,
  kCoreNative,
  kJobs,
  CommandError,
  ask,
  findProgram,
  forEachParallel,
  listFiles,
  main,
  nodeHeaders,
  nodePrefix,
  run,
}
