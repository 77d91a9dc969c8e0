'use strict'

// Measures servers of HTTP/2 against each other, with h2load.

const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { findProgram } = require('../../tools/lib/project')
const { costOf, runH2load } = require('../lib/load')
const { isListening } = require('../lib/nginx')
const { Server, kBuild, pinned } = require('../lib/processes')
const { freePort } = require('../../test/helpers/free-port')
const { busyText, sideOf } = require('../lib/report')
const { inRounds } = require('../lib/rounds')

/** @typedef {import('./parts').Part} Part */
/** @typedef {import('../lib/types').SuitePlan} SuitePlan */

/** How long nghttpd may take to listen. */
const kStartMs = 5000
const kLookMs = 20

/** @param {number} cpu @returns {Promise<Server>} */
async function startNghttpd (cpu) {
  const folder = path.join(kBuild, 'http2-files')
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, 'index.html'), 'Hello, World!')
  const port = await freePort()
  const server = new Server(pinned(cpu, [findProgram('nghttpd') ?? '/usr/sbin/nghttpd', '--no-tls', '--address=127.0.0.1', '-d', folder, String(port)], 'ignore'), 'nghttpd', port)
  const deadline = Date.now() + kStartMs
  while (!await isListening(port)) {
    if (Date.now() > deadline) {
      await server.stop()
      throw new Error('nghttpd did not start')
    }
    await sleep(kLookMs)
  }
  return server
}

/** @param {Server} server @param {string} side @param {Part} part @param {SuitePlan['cpus']} cpus @param {number} seconds */
async function measure (server, side, { streams, connections }, cpus, seconds) {
  // HTTP/1.1 has one request at a time on each connection: as many of them then.
  const shape = side === 'express-http1' ? ['--h1', '-c', String(connections * streams), '-m', '1'] : ['-c', String(connections), '-m', String(streams)]
  const { summary: { requests }, whole, thread, serverBusy, clientBusy, disturbed } = await costOf(server.pid, { cpus, seconds },
    () => runH2load([...shape, `http://127.0.0.1:${server.port}/`], { cpu: cpus.client, seconds }))
  if (requests === 0) throw new Error(`http2, ${side}: no request was answered`)
  return {
    process: whole * 1e6 / requests,
    thread: thread * 1e6 / requests,
    requestsPerSecond: requests / seconds,
    serverBusy,
    clientBusy,
    disturbed,
  }
}

/** @param {Part} part @param {SuitePlan} plan */
async function compare (part, plan) {
  const rounds = await inRounds(part.sides, plan, {
    start: (name) => name === 'nghttpd' ? startNghttpd(plan.cpus.server) : Server.node(name, plan.cpus.server, [path.join(__dirname, 'server.js'), name]),
    measure: (server, name, seconds) => measure(server, name, part, plan.cpus, seconds),
    describe: (name, result) => `${name.padEnd(13)} ${result.process.toFixed(1)} µs (JavaScript ${result.thread.toFixed(1)}), ` +
      `${Math.round(result.requestsPerSecond)} req/s, ${busyText(result.serverBusy, result.clientBusy)}`,
  })
  return part.sides.map((name, index) => sideOf(name, rounds[index]))
}

module.exports = { compare }
