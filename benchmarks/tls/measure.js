'use strict'

// Measures https servers against each other, with the load of load.cc.

const { execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { run } = require('../../tools/lib/project')
const { mainThreadSeconds, processSeconds } = require('../lib/cpu')
const { watchCpus } = require('../lib/load')
const { saturation } = require('../lib/report')
const { spread } = require('../lib/statistics')

/** @typedef {import('./parts').Part} Part */
/** @typedef {import('../lib/types').SuitePlan} SuitePlan */

const kBuild = path.join(__dirname, '..', 'build')
const kSource = path.join(__dirname, 'load.cc')
const kProgram = path.join(kBuild, 'tls-load')
const kSides = ['node', 'httpsys']
/** What the run before left undone is not the next one's. */
const kPauseMs = 250
/** How busy the CPUs are is looked at inside the run, away from its start and end. */
const kEdgeMs = 200

/** @param {number} ms @returns {Promise<void>} */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function loadProgram () {
  const isNew = fs.existsSync(kProgram) && fs.statSync(kProgram).mtimeMs > fs.statSync(kSource).mtimeMs
  if (!isNew) {
    fs.mkdirSync(kBuild, { recursive: true })
    await run(process.env.CXX ?? 'c++', ['-O2', '-std=c++20', '-o', kProgram, kSource, '-lssl', '-lcrypto'])
  }
  return kProgram
}

/** @param {'rsa' | 'ec'} kind @returns {{ key: string, cert: string }} files */
function keyPair (kind) {
  const files = { key: path.join(kBuild, `${kind}.key`), cert: path.join(kBuild, `${kind}.crt`) }
  const how = kind === 'ec' ? ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'] : ['-newkey', 'rsa:2048']
  fs.mkdirSync(kBuild, { recursive: true })
  execFileSync('openssl', ['req', '-x509', ...how, '-nodes', '-keyout', files.key, '-out', files.cert, '-days', '7', '-subj', '/CN=localhost'],
    { stdio: ['ignore', 'ignore', 'ignore'] })
  return files
}

/** @param {string} side @param {{ key: string, cert: string }} files @param {number} cpu */
async function startServer (side, { key, cert }, cpu) {
  const child = spawn('taskset', ['-c', String(cpu), process.execPath, path.join(__dirname, 'server.js'), side, key, cert], {
    env: { ...process.env, NODE_ENV: 'production' }, stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [{ port }] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => { throw new Error('A server under measurement ended by itself') }),
  ])
  return { child, port, pid: /** @type {number} */ (child.pid) }
}

/** @param {{ port: number, pid: number }} server @param {Part} part @param {SuitePlan['cpus']} cpus @param {number} seconds */
async function measure ({ port, pid }, { mode, connections }, cpus, seconds) {
  await sleep(kPauseMs)
  const processBefore = processSeconds(pid)
  const threadBefore = mainThreadSeconds(pid)
  const load = spawn('taskset', ['-c', String(cpus.client), await loadProgram(), mode, String(port), String(connections), String(seconds)],
    { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  load.stdout.on('data', (piece) => { text += piece })
  const ended = once(load, 'close')
  await sleep(kEdgeMs)
  const { busy: [serverBusy, clientBusy], disturbed } = await watchCpus(
    [{ cpu: cpus.server, pid }, { cpu: cpus.client, pid: /** @type {number} */ (load.pid) }], seconds * 1000 - 2 * kEdgeMs)
  await ended
  const thread = mainThreadSeconds(pid) - threadBefore
  const whole = processSeconds(pid) - processBefore
  const result = JSON.parse(text)
  if (result.errors > 0 || result.requests === 0) throw new Error(`tls, ${mode}: ${result.errors} of ${result.requests} requests failed`)
  // The first connection of each client has nothing to go on with.
  if (mode === 'resumed' && result.resumed < result.requests - 2 * connections) throw new Error(`tls: only ${result.resumed} of ${result.requests} sessions went on`)
  return {
    process: whole * 1e6 / result.requests,
    thread: thread * 1e6 / result.requests,
    requestsPerSecond: result.requests / result.seconds,
    p95: result.p95,
    serverBusy,
    clientBusy,
    disturbed,
  }
}

/**
 * Alternating rounds of both servers, which live meanwhile.
 *
 * @param {Part} part
 * @param {SuitePlan} plan
 */
async function compare (part, plan) {
  const files = keyPair(part.key)
  const live = []
  try {
    for (const name of kSides) {
      const server = await startServer(name, files, plan.cpus.server)
      /** @type {{ name: string, server: typeof server, rounds: Awaited<ReturnType<typeof measure>>[] }} */
      const side = { name, server, rounds: [] }
      live.push(side)
      if (plan.warmUp > 0) await measure(server, part, plan.cpus, plan.warmUp)
    }
    for (let round = 0; round < plan.rounds; round++) {
      for (const { name, server, rounds } of live) {
        const result = await measure(server, part, plan.cpus, plan.seconds)
        rounds.push(result)
        console.log(`  round ${round + 1}/${plan.rounds} ${name.padEnd(8)} ${result.process.toFixed(1)} µs (JavaScript ${result.thread.toFixed(1)}), ` +
          `${Math.round(result.requestsPerSecond)} req/s, p95 ${result.p95} µs, ` +
          `CPUs busy ${(result.serverBusy * 100).toFixed(0)} % (server) ${(result.clientBusy * 100).toFixed(0)} % (load)`)
      }
    }
  } finally {
    for (const { server: { child } } of live) {
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    }
  }
  return live.map(({ name, rounds }) => {
    const of = (/** @type {(round: typeof rounds[0]) => number} */ value) => spread(rounds.map(value))
    const serverBusy = of((round) => round.serverBusy)
    const clientBusy = of((round) => round.clientBusy)
    return {
      name,
      process: of((round) => round.process),
      thread: of((round) => round.thread),
      requestsPerSecond: of((round) => round.requestsPerSecond),
      p95: of((round) => round.p95),
      serverBusy,
      clientBusy,
      disturbed: of((round) => round.disturbed),
      saturated: saturation(serverBusy, clientBusy),
    }
  })
}

module.exports = { compare }
