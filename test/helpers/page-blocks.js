'use strict'

// Runs the blocks of the pages as a reader would paste them: each in a folder of its own, with free ports in place of those of the page.
//
// Comments right above a block, which readers do not see, say what it must do:
//
//   <!-- test: GET http://localhost:8080/shop/cart → cart -->   while it serves, this is answered with that text
//   <!-- test: prints cart -->                                  its output has that text
//   <!-- test: serves -->                                       a block of the shell that ends in a program that serves on
//
// A program (js) must end without an error or listen, and its first prefix is then asked. A block of the shell must end with 0, and leave no
// program behind. A program whose first line is `// name.js` is a file that the page's blocks of the shell find.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const os = require('node:os')
const path = require('node:path')
const { blocksOf, onFreePorts } = require('../../tools/lib/page-blocks')
const { kRoot } = require('../../tools/lib/project')

/** @typedef {import('../../tools/lib/page-blocks').Block} Block */
/** @typedef {{ child: import('node:child_process').ChildProcess, output: string, places: string[], answers: boolean, ended: Promise<unknown>, onPlaces: () => void }} Running */

const kFixtures = path.join(kRoot, 'test', 'fixtures')
/** What stands for npm and npx: the tests run where everything is installed and built. */
const kPrograms = {
  npm: `exec "${process.execPath}" "${path.join(kFixtures, 'page-npm.js')}" "$@"`,
  npx: `[ "$1" = @httpsys/cli ] || { echo "npx $1 runs somebody else's package" >&2; exit 1; }
shift; exec "${process.execPath}" "${path.join(kRoot, 'packages', 'cli', 'bin', 'httpsys.js')}" "$@"`,
}
/** Ends what hangs; a block takes a second. */
const kMs = 20_000
const kLookMs = 20

/** @param {string} folder what a block finds: packages, files of a site, a certificate @param {Record<string, string>} files */
function fill (folder, files) {
  const { key, cert } = require('./tls').localhost()
  fs.symlinkSync(path.join(kRoot, 'node_modules'), path.join(folder, 'node_modules'))
  fs.mkdirSync(path.join(folder, 'public'))
  fs.mkdirSync(path.join(folder, 'bin'))
  // "show servicestate" finds the programs of this block alone, and no others of the machine that are just ending.
  fs.mkdirSync(path.join(folder, 'run'), { mode: 0o700 })
  for (const [name, text] of Object.entries(kPrograms)) fs.writeFileSync(path.join(folder, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  const all = { 'public/index.html': '<h1>public</h1>', 'public/logo.png': 'png', 'key.pem': key, 'cert.pem': cert, ...files }
  for (const [name, text] of Object.entries(all)) fs.writeFileSync(path.join(folder, name), text)
}

/** @param {string[]} command @param {string} folder @param {Record<string, string>} env @returns {Running} */
function start (command, folder, env) {
  const [program, ...args] = command
  const child = spawn(program, args, {
    cwd: folder,
    detached: true, // Its programs are a group, which ends together.
    env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: '', HTTPSYS_RUNTIME_DIRECTORY: path.join(folder, 'run'), NODE_ENV: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  /** @type {Running} */
  const running = { child, output: '', places: [], answers: false, ended: once(child, 'close'), onPlaces: () => {} }
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (piece) => { running.output += piece })
  child.on('message', (/** @type {{ places: string[], answers: boolean }} */ { places, answers }) => {
    running.places.push(...places)
    running.answers ||= answers
    running.onPlaces()
  })
  return running
}

/** @param {string} url @returns {Promise<{ status: number, text: string }>} */
function get (url) {
  const { get: ask } = url.startsWith('https:') ? https : http
  return new Promise((resolve, reject) => {
    ask(url, { agent: false, rejectUnauthorized: false, headers: { connection: 'close' } }, (res) => {
      let text = ''
      res.setEncoding('utf8').on('data', (piece) => { text += piece }).on('end', () => resolve({ status: /** @type {number} */ (res.statusCode), text })).on('error', reject)
    }).on('error', reject)
  })
}

/** @param {string} place a prefix @returns {string} a URL of it */
const urlOf = (place) => place.replace(/:\/\/(?:[*+]|\*\.[^:/]+)(?=[:/])/, '://localhost')

/** @param {Block} block @param {Running} running once it listens */
async function checkServing ({ checks }, running) {
  const requests = checks.filter((check) => check.startsWith('GET ')).map((check) => check.slice(4).split(' → '))
  for (const [url, wanted] of requests) {
    const { text } = await get(url)
    assert.ok(text.includes(wanted), `GET ${url} is answered "${text.slice(0, 300)}", not "${wanted}"`)
  }
  if (requests.length > 0 || !running.answers) return
  const { status } = await get(urlOf(running.places[0]))
  assert.ok(status < 500, `${running.places[0]} is answered with ${status}`)
}

/** @param {Block} block @param {string} folder @returns {Running} */
function startBlock (block, folder) {
  if (block.language === 'sh') {
    return start(['bash', '-euo', 'pipefail', '-c', block.text], folder, { PATH: `${path.join(folder, 'bin')}${path.delimiter}${process.env.PATH}` })
  }
  const file = path.join(folder, /^import /m.test(block.text) ? 'block.mjs' : 'block.js')
  fs.writeFileSync(file, block.text)
  return start([process.execPath, '--require', path.join(kFixtures, 'page-block.js'), file], folder, {})
}

/** @param {Block} block @param {Running} running */
async function checkProgram (block, running) {
  const listens = new Promise((resolve) => { running.onPlaces = () => resolve(true) })
  if (await Promise.race([listens, running.ended.then(() => false)])) {
    await checkServing(block, running)
    endGroup(running)
  }
  await running.ended
  const { exitCode, signalCode } = running.child
  assert.ok(exitCode === 0 || (signalCode === 'SIGKILL' && running.places.length > 0), running.output)
}

/** @param {Block} block @param {Running} running whose last program serves on */
async function waitUntilServing ({ checks }, running) {
  const [url] = (checks.find((check) => check.startsWith('GET ')) ?? '').slice(4).split(' → ')
  while (running.child.exitCode === null && running.child.signalCode === null) {
    if (await get(url).then(() => true, () => false)) return
    await new Promise((resolve) => setTimeout(resolve, kLookMs))
  }
  assert.fail(`ended before it served: ${running.output}`)
}

/** @param {Block} block @param {Running} running */
async function checkShell (block, running) {
  if (block.checks.includes('serves')) {
    await waitUntilServing(block, running)
    await checkServing(block, running)
    return
  }
  await once(running.child, 'exit')
  assert.equal(running.child.exitCode, 0, running.output)
  assert.ok(!isGroupAlive(running) || /\bkill /.test(block.text), 'a program of the block serves on')
}

/** @param {Running} running @param {NodeJS.Signals | 0} signal @returns {boolean} whether there was anybody */
function signalGroup ({ child }, signal) {
  const group = /** @type {number} */ (child.pid)
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}

const isGroupAlive = (/** @type {Running} */ running) => signalGroup(running, 0)
const endGroup = (/** @type {Running} */ running) => signalGroup(running, 'SIGKILL')

/** Programs of blocks must not outlive the tests. @type {Set<Running>} */
const living = new Set()
process.on('exit', () => {
  for (const running of living) endGroup(running)
})

/** @param {Block} given @param {Record<string, string>} [programs] of its page, by the names of their files */
async function runBlock (given, programs = {}) {
  const { block, files } = await onFreePorts(given, programs)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-page-'))
  fill(folder, files)
  const running = startBlock(block, folder)
  living.add(running)
  const timer = setTimeout(() => {
    running.output += `\nended after ${kMs} ms`
    endGroup(running)
  }, kMs)
  try {
    await (block.language === 'sh' ? checkShell(block, running) : checkProgram(block, running))
  } finally {
    endGroup(running)
    await running.ended
    clearTimeout(timer)
    living.delete(running)
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  for (const check of block.checks.filter((one) => one.startsWith('prints '))) assert.ok(running.output.includes(check.slice(7)), `"${check}", but printed: ${running.output}`)
}

/** @param {Block} block @returns {boolean} a program that only has to listen: it needs no process of its own */
const onlyListens = ({ language, text, checks }) => language === 'js' && checks.length === 0 && text.includes('listen(') && !/^import /m.test(text)

/** Runs programs one after the other in one process, which is quicker than a process for each. */
class SharedProcess {
  #folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-page-'))
  /** @type {Running | null} */
  #running = null
  #last = Promise.resolve()
  #count = 0

  constructor () {
    fill(this.#folder, {})
  }

  /** @param {Block} block that `onlyListens` @returns {Promise<void>} */
  run (block) {
    const done = this.#last.then(() => this.#runNext(block))
    this.#last = done.catch(() => {})
    return done
  }

  /** @param {Block} given */
  async #runNext (given) {
    const { block } = await onFreePorts(given, {})
    const file = path.join(this.#folder, `block-${++this.#count}.js`)
    fs.writeFileSync(file, block.text)
    const running = this.#running ??= start([process.execPath, path.join(kFixtures, 'page-block.js')], this.#folder, {})
    living.add(running)
    running.places = []
    running.answers = false
    const timer = setTimeout(() => endGroup(running), kMs)
    const listens = new Promise((resolve) => { running.onPlaces = () => resolve(true) })
    running.child.send(file)
    const isGood = await Promise.race([listens, running.ended.then(() => false)])
    if (isGood) await checkServing(block, running)
    clearTimeout(timer)
    if (isGood && running.child.exitCode === null) return
    this.#running = null
    assert.fail(running.output)
  }

  async end () {
    await this.#last
    if (this.#running !== null) {
      endGroup(this.#running)
      await this.#running.ended
    }
    fs.rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

module.exports = { SharedProcess, blocksOf, onFreePorts, onlyListens, runBlock }
