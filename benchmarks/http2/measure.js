'use strict'

// Measures servers of HTTP/2 against each other, with h2load.

const { execFile, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { promisify } = require('node:util')
const { findProgram } = require('../../tools/lib/project')
const { mainThreadSeconds, processSeconds } = require('../lib/cpu')
const { spread } = require('../lib/statistics')

/** @typedef {import('./parts').Part} Part */
/** @typedef {import('../lib/types').SuitePlan} SuitePlan */

const kBuild = path.join(__dirname, '..', 'build')
const kFilePort = 18_443
/** How long nghttpd may take to listen. */
const kStartMs = 300
const run = promisify(execFile)

/** @param {number} ms @returns {Promise<void>} */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** @param {number} cpu */
async function startNghttpd (cpu) {
  const folder = path.join(kBuild, 'http2-files')
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, 'index.html'), 'Hello, World!')
  const program = findProgram('nghttpd') ?? '/usr/sbin/nghttpd'
  const child = spawn('taskset', ['-c', String(cpu), program, '--no-tls', '--address=127.0.0.1', '-d', folder, String(kFilePort)], { stdio: 'ignore' })
  await sleep(kStartMs)
  return { child, port: kFilePort, pid: /** @type {number} */ (child.pid) }
}

/** @param {string} side @param {number} cpu */
async function startServer (side, cpu) {
  if (side === 'nghttpd') return startNghttpd(cpu)
  const child = spawn('taskset', ['-c', String(cpu), process.execPath, path.join(__dirname, 'server.js'), side], {
    env: { ...process.env, NODE_ENV: 'production' }, stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [{ port }] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => { throw new Error('A server under measurement ended by itself') }),
  ])
  return { child, port, pid: /** @type {number} */ (child.pid) }
}

/** @param {string} text what h2load says @param {RegExp} expression */
function number (text, expression) {
  const found = expression.exec(text)
  if (found === null) throw new Error(`h2load says something else:\n${text}`)
  return Number(found[1])
}

/** @param {{ port: number, pid: number }} server @param {string} side @param {Part} part @param {SuitePlan['cpus']} cpus @param {number} seconds */
async function measure ({ port, pid }, side, { streams, connections }, cpus, seconds) {
  const processBefore = processSeconds(pid)
  const threadBefore = mainThreadSeconds(pid)
  // HTTP/1.1 has one request at a time on each connection: as many of them then.
  const shape = side === 'express-http1' ? ['--h1', '-c', String(connections * streams), '-m', '1'] : ['-c', String(connections), '-m', String(streams)]
  const { stdout } = await run('taskset', ['-c', String(cpus.client), 'h2load', '-D', String(seconds), '--warm-up-time=0', ...shape, `http://127.0.0.1:${port}/`],
    { maxBuffer: 16 * 1024 * 1024 })
  const requests = number(stdout, /(\d+) succeeded/)
  const failed = number(stdout, /(\d+) failed/) + number(stdout, /(\d+) errored/)
  if (failed > 0 || requests === 0) throw new Error(`http2, ${side}: ${failed} of ${requests} requests failed`)
  return {
    process: (processSeconds(pid) - processBefore) * 1e6 / requests,
    thread: (mainThreadSeconds(pid) - threadBefore) * 1e6 / requests,
    requestsPerSecond: requests / seconds,
  }
}

/**
 * Alternating rounds of both servers, which live meanwhile.
 *
 * @param {Part} part
 * @param {SuitePlan} plan
 */
async function compare (part, plan) {
  const seconds = Math.max(1, Math.round(plan.seconds))
  const live = []
  try {
    for (const name of part.sides) {
      const server = await startServer(name, plan.cpus.server)
      /** @type {{ name: string, server: typeof server, rounds: Awaited<ReturnType<typeof measure>>[] }} */
      const side = { name, server, rounds: [] }
      live.push(side)
      await measure(server, name, part, plan.cpus, Math.max(1, Math.round(plan.warmUp)))
    }
    for (let round = 0; round < plan.rounds; round++) {
      for (const { name, server, rounds } of live) {
        const result = await measure(server, name, part, plan.cpus, seconds)
        rounds.push(result)
        console.log(`  round ${round + 1}/${plan.rounds} ${name.padEnd(13)} ${result.process.toFixed(1)} µs (JavaScript ${result.thread.toFixed(1)}), ${Math.round(result.requestsPerSecond)} req/s`)
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
    return { name, process: of((round) => round.process), thread: of((round) => round.thread), requestsPerSecond: of((round) => round.requestsPerSecond) }
  })
}

module.exports = { compare }
