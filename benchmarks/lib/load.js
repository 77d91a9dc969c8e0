'use strict'

// Puts load on a server and measures what it cost.

const { spawn } = require('node:child_process')
const http = require('node:http')
const path = require('node:path')
const { busyShare, coreTimes, mainThreadSeconds, processSeconds } = require('./cpu')

/** @typedef {import('./types').Scenario} Scenario */
/** @typedef {import('./types').Round} Round */
/** @typedef {import('./server-process').ServerProcess} ServerProcess */

const kScript = path.join(__dirname, '..', 'load.lua')

/** How busy the CPUs are is looked at inside the run, away from wrk's start and end. */
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
 * @param {{ connections: number, threads?: number, load: string[] }} what
 * @param {number} port
 * @param {{ cpu: number, seconds: number }} options
 * @returns {{ pid: number, summary: Promise<any> }} summary: what load.lua prints
 */
function runWrk ({ connections, threads = 1, load }, port, { cpu, seconds }) {
  const child = spawn('taskset', ['-c', String(cpu), 'wrk', '--threads', String(threads),
    '--connections', String(connections), '--duration', `${seconds}s`, '--timeout', '10s',
    '--script', kScript, `http://127.0.0.1:${port}/`, '--', ...load],
  { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (piece) => { output += piece })
  /** @type {Promise<any>} */
  const summary = new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => {
      const json = /^JSON (.*)$/m.exec(output)
      if (json === null) reject(new Error(`wrk failed:\n${output}`))
      else resolve(JSON.parse(json[1]))
    })
  })
  summary.catch(() => {}) // Reported where it is awaited.
  return { pid: child.pid ?? 0, summary }
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
 * @param {Scenario} scenario
 * @param {ServerProcess} server
 * @param {{ cpus: { server: number, client: number }, seconds: number }} options
 * @returns {Promise<Round>}
 */
async function measure (scenario, server, { cpus, seconds }) {
  await sleep(kEdgeMs) // What the run before left unread is not this one's.
  const { bytes: bytesBefore } = await server.count()
  const processBefore = processSeconds(server.pid)
  const threadBefore = mainThreadSeconds(server.pid)
  const wrk = runWrk(scenario, server.port, { cpu: cpus.client, seconds })

  await sleep(kEdgeMs)
  const { busy: [serverBusy, clientBusy], disturbed } = await watchCpus(
    [{ cpu: cpus.server, pid: server.pid }, { cpu: cpus.client, pid: wrk.pid }], seconds * 1000 - 2 * kEdgeMs)

  const result = await wrk.summary
  const threadSeconds = mainThreadSeconds(server.pid) - threadBefore
  const cpuSeconds = processSeconds(server.pid) - processBefore
  const { bytes: bytesAfter } = await server.count()
  const units = {
    request: result.requests,
    'byte sent': result.bytes,
    'byte received': bytesAfter - bytesBefore,
    connection: NaN,
  }[scenario.unit]
  const { connect, read, write, status, timeout } = result.errors
  return {
    requests: result.requests,
    requestsPerSecond: result.requests / result.seconds,
    units,
    processCost: cpuSeconds * 1e6 / units,
    threadCost: threadSeconds * 1e6 / units,
    serverBusy,
    clientBusy,
    disturbed,
    latency: result.latency,
    errors: connect + read + write + status + timeout,
  }
}

module.exports = { measure, probe, runWrk, watchCpus }
