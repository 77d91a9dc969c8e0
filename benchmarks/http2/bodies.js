'use strict'

// Measures what a large body over TLS costs, over HTTP/1.1 and HTTP/2, with h2load.

const path = require('node:path')
const { costOf, numberIn, runH2load } = require('../lib/load')
const { Server } = require('../lib/processes')
const { busyText, sideOf } = require('../lib/report')
const { inRounds } = require('../lib/rounds')
const { keyPair } = require('../tls/measure')
const { kBodies } = require('./parts')

/** @typedef {import('./parts').BodySide} BodySide */
/** @typedef {import('../lib/types').SuitePlan} SuitePlan */

const kMiB = 2 ** 20

/** @param {Server} server @param {BodySide} side @param {SuitePlan['cpus']} cpus @param {number} seconds */
async function measure (server, { name, isHttp1 }, cpus, seconds) {
  const { summary: { text }, whole, thread, serverBusy, clientBusy, disturbed } = await costOf(server.pid, { cpus, seconds },
    () => runH2load([...isHttp1 ? ['--h1'] : [], '-c', String(kBodies.connections), '-m', '1', `https://127.0.0.1:${server.port}/`], { cpu: cpus.client, seconds }))
  // Bodies on their way count: the server has made them.
  const mib = numberIn(text, /\((\d+)\) data/) / kMiB
  const isProtocol = text.includes(`Application protocol: ${isHttp1 ? 'http/1.1' : 'h2'}`)
  if (mib === 0 || !isProtocol) throw new Error(`http2, ${name}: h2load says\n${text}`)
  return { mibPerCpuSecond: mib / whole, thread: thread * 1e6 / mib, mibPerSecond: mib / seconds, serverBusy, clientBusy, disturbed }
}

/** @param {SuitePlan} plan */
async function compareBodies (plan) {
  const { key, cert } = keyPair('ec')
  const rounds = await inRounds(kBodies.sides, plan, {
    start: ({ name }) => Server.node(name, plan.cpus.server, [path.join(__dirname, 'server.js'), name, key, cert, String(kBodies.bytes)]),
    measure: (server, side, seconds) => measure(server, side, plan.cpus, seconds),
    describe: ({ name }, result) => `${name.padEnd(10)} ${result.mibPerCpuSecond.toFixed(0)} MiB per CPU second (JavaScript ${result.thread.toFixed(1)} µs/MiB), ` +
      `${result.mibPerSecond.toFixed(0)} MiB/s, ${busyText(result.serverBusy, result.clientBusy)}`,
  })
  return kBodies.sides.map((side, index) => ({ ...side, ...sideOf(side.name, rounds[index]) }))
}

module.exports = { compareBodies }
