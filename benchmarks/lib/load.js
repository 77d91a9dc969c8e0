'use strict'

// Puts load on a server and measures what it cost.

const http = require('node:http')
const path = require('node:path')
const { busyShare, coreTimes, mainThreadSeconds, processSeconds } = require('./cpu')
const { pinned } = require('./processes')

/** @typedef {import('./types').Scenario} Scenario */
/** @typedef {import('./types').Round} Round */
/** @typedef {import('./processes').Server} Server */

const kScript = path.join(__dirname, '..', 'load.lua')

/** What the run before left undone is not the next one's; then how busy the CPUs are is looked at inside a run, away from its start and end. */
const kEdgeMs = 250

/**
 * @param {number} ms
 * @returns {Promise<void>}
 */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Sends one request and compares the answer, so that no error page is measured.
 *
 * @param {Scenario} scenario
 * @param {number} port
 */
async function probe ({ name, probe: { method, headers, body, status, response } }, port) {
  const text = await new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, method, headers, agent: false }, (res) => {
      let received = ''
      res.setEncoding('latin1')
      res.on('data', (piece) => { received += piece })
      res.on('end', () => resolve(`${res.statusCode} ${typeof response === 'number' ? received.length : received}`))
    })
    request.on('error', reject)
    request.end(body)
  })
  if (text !== `${status} ${response}`) {
    throw new Error(`${name}: expected "${status} ${response}", was answered "${String(text).slice(0, 200)}"`)
  }
}

/**
 * @param {{ connections: number, threads?: number, load: string[], path?: string, isSecure?: boolean }} what path: of modes that name none
 * @param {number} port
 * @param {{ cpu: number, seconds: number }} options
 * @returns {{ pid: number, summary: Promise<any> }} summary: what load.lua prints; rejected if any request has failed, also by its status
 */
function runWrk ({ connections, threads = 1, load, path: target = '/', isSecure = false }, port, { cpu, seconds }) {
  const { pid, summary } = runLoad(['wrk', '--threads', String(threads),
    '--connections', String(connections), '--duration', `${seconds}s`, '--timeout', '10s',
    '--script', kScript, `http${isSecure ? 's' : ''}://127.0.0.1:${port}${target}`, '--', ...load], cpu)
  return {
    pid,
    summary: summary.then((output) => {
      const json = /^JSON (.*)$/m.exec(output)
      if (json === null) throw new Error(`wrk failed:\n${output}`)
      const result = JSON.parse(json[1])
      // A refusal costs less than an answer: a figure with refusals in it says nothing.
      if (Object.values(result.errors).some((count) => count > 0)) {
        throw new Error(`Of ${result.requests} requests some have failed: ${JSON.stringify(result.errors)}`)
      }
      return result
    }),
  }
}

/** @param {string} text what h2load says @param {RegExp} expression */
function numberIn (text, expression) {
  const found = expression.exec(text)
  if (found === null) throw new Error(`h2load says something else:\n${text}`)
  return Number(found[1])
}

/**
 * @param {string[]} args
 * @param {{ cpu: number, seconds: number }} options
 * @returns {{ pid: number, summary: Promise<{ requests: number, text: string }> }} rejected if any request has failed, or was answered with another
 *   status than 2xx
 */
function runH2load (args, { cpu, seconds }) {
  const { pid, summary } = runLoad(['h2load', '-D', `${Math.round(seconds * 1000)}ms`, '--warm-up-time=0', ...args], cpu)
  return {
    pid,
    summary: summary.then((text) => {
      const failed = [/(\d+) failed/, /(\d+) errored/, /(\d+) timeout/, /(\d+) 3xx/, /(\d+) 4xx/, /(\d+) 5xx/].map((expression) => numberIn(text, expression))
      if (failed.some((count) => count > 0)) throw new Error(`Requests have failed:\n${text}`)
      return { requests: numberIn(text, /(\d+) 2xx/), text }
    }),
  }
}

/**
 * Watches two CPUs, and the process that each of them is there for, inside a run.
 *
 * @param {{ cpu: number, pid: number }[]} pairs
 * @param {number} ms
 * @returns {Promise<{ busy: number[], disturbed: number }>} `disturbed`: the largest share other programs had
 */
async function watchCpus (pairs, ms) {
  const look = () => pairs.map(({ cpu, pid }) => ({ core: coreTimes(cpu), own: processSeconds(pid) }))
  const start = performance.now()
  const before = look()
  await sleep(ms)
  const after = look()
  const seconds = (performance.now() - start) / 1000
  const busy = pairs.map((_, index) => busyShare(before[index].core, after[index].core))
  const own = pairs.map((_, index) => (after[index].own - before[index].own) / seconds)
  return { busy, disturbed: Math.max(0, ...busy.map((share, index) => share - own[index])) }
}

/**
 * What a load costs a server.
 *
 * @template T
 * @param {number} pid of the server
 * @param {{ cpus: { server: number, client: number }, seconds: number }} options
 * @param {() => { pid: number, summary: Promise<T> }} startLoad of so many seconds
 * @returns {Promise<{ summary: T, whole: number, thread: number, serverBusy: number, clientBusy: number, disturbed: number }>} whole, thread: seconds of
 *   CPU, of the process and of its JavaScript thread
 */
async function costOf (pid, { cpus, seconds }, startLoad) {
  await sleep(kEdgeMs)
  const processBefore = processSeconds(pid)
  const threadBefore = mainThreadSeconds(pid)
  const load = startLoad()
  load.summary.catch(() => {}) // Reported where it is awaited.
  await sleep(kEdgeMs)
  const { busy: [serverBusy, clientBusy], disturbed } = await watchCpus(
    [{ cpu: cpus.server, pid }, { cpu: cpus.client, pid: load.pid }], seconds * 1000 - 2 * kEdgeMs)
  const summary = await load.summary
  return { summary, whole: processSeconds(pid) - processBefore, thread: mainThreadSeconds(pid) - threadBefore, serverBusy, clientBusy, disturbed }
}

/**
 * A program that says in the end what it has done.
 *
 * @param {string[]} command
 * @param {number | string} cpu or a list such as 0,1
 * @returns {{ pid: number, summary: Promise<string> }} summary: what it prints
 */
function runLoad (command, cpu) {
  const child = pinned(cpu, command, ['ignore', 'pipe', 'inherit'])
  let output = ''
  child.stdout?.on('data', (piece) => { output += piece })
  /** @type {Promise<string>} */
  const summary = new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => status === 0 ? resolve(output) : reject(new Error(`${path.basename(command[0])} failed:\n${output}`)))
  })
  summary.catch(() => {}) // Reported where it is awaited.
  return { pid: child.pid ?? 0, summary }
}

/**
 * @param {Pick<Scenario, 'unit' | 'connections' | 'load'> & { path?: string, isSecure?: boolean }} scenario
 * @param {Pick<Server, 'pid' | 'port'> & { ask?: Server['ask'] }} server asked for what it has received
 * @param {{ cpus: { server: number, client: number }, seconds: number }} options
 * @returns {Promise<Round>}
 */
async function measure (scenario, server, options) {
  const received = async () => scenario.unit === 'byte received' ? (await server.ask?.('count')).bytes : 0
  const bytesBefore = await received()
  const { summary: result, whole, thread, serverBusy, clientBusy, disturbed } = await costOf(server.pid, options,
    () => runWrk(scenario, server.port, { cpu: options.cpus.client, seconds: options.seconds }))
  const units = {
    request: result.requests,
    'byte sent': result.bytes,
    'byte received': await received() - bytesBefore,
    connection: NaN,
  }[scenario.unit]
  return {
    requests: result.requests,
    bytes: result.bytes,
    requestsPerSecond: result.requests / result.seconds,
    units,
    processCost: whole * 1e6 / units,
    threadCost: thread * 1e6 / units,
    serverBusy,
    clientBusy,
    disturbed,
    latency: result.latency,
  }
}

module.exports = { costOf, measure, numberIn, probe, runH2load, runLoad, runWrk }
