'use strict'

// Measures https servers against each other, with the load of load/main.go.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { costOf, runLoad } = require('../lib/load')
const { Server, built, kBuild } = require('../lib/processes')
const { busyText, sideOf } = require('../lib/report')
const { inRounds } = require('../lib/rounds')

/** @typedef {import('./parts').Part} Part */
/** @typedef {import('../lib/types').SuitePlan} SuitePlan */

const kSides = ['node', 'httpsys']

/** @param {'rsa' | 'ec'} kind @returns {{ key: string, cert: string }} files */
function keyPair (kind) {
  const files = { key: path.join(kBuild, `${kind}.key`), cert: path.join(kBuild, `${kind}.crt`) }
  const how = kind === 'ec' ? ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'] : ['-newkey', 'rsa:2048']
  fs.mkdirSync(kBuild, { recursive: true })
  execFileSync('openssl', ['req', '-x509', ...how, '-nodes', '-keyout', files.key, '-out', files.cert, '-days', '7', '-subj', '/CN=localhost'],
    { stdio: ['ignore', 'ignore', 'ignore'] })
  return files
}

/** @param {Server} server @param {Part} part @param {SuitePlan['cpus']} cpus @param {number} seconds */
async function measure (server, { mode, connections }, cpus, seconds) {
  const program = await built(path.join(__dirname, 'load', 'main.go'), 'tls-clients')
  const { summary, whole, thread, serverBusy, clientBusy, disturbed } = await costOf(server.pid, { cpus, seconds },
    () => runLoad([program, mode, String(server.port), String(connections), String(seconds)], cpus.client))
  const result = JSON.parse(summary)
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

/** @param {Part} part @param {SuitePlan} plan */
async function compare (part, plan) {
  const { key, cert } = keyPair(part.key)
  const rounds = await inRounds(kSides, plan, {
    start: (name) => Server.node(name, plan.cpus.server, [path.join(__dirname, 'server.js'), name, key, cert]),
    measure: (server, _name, seconds) => measure(server, part, plan.cpus, seconds),
    describe: (name, result) => `${name.padEnd(8)} ${result.process.toFixed(1)} µs (JavaScript ${result.thread.toFixed(1)}), ` +
      `${Math.round(result.requestsPerSecond)} req/s, p95 ${result.p95} µs, ${busyText(result.serverBusy, result.clientBusy)}`,
  })
  return kSides.map((name, index) => sideOf(name, rounds[index]))
}

module.exports = { compare, keyPair }
