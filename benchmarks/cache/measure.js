'use strict'

// Measures the servers of a part against each other, with wrk or h2load.

const { checkBody } = require('../files/check')
const { hashOf } = require('../files/content')
const { costOf, measure, runH2load } = require('../lib/load')
const { busyText, sideOf } = require('../lib/report')
const { inRounds } = require('../lib/rounds')
const { ratioOf } = require('../lib/statistics')
const { bodyOf } = require('./content')

/** @typedef {import('./parts').Part} Part */
/** @typedef {import('./servers').Live} Live */
/** @typedef {import('./servers').Side} Side */
/** @typedef {import('../lib/types').SuitePlan} SuitePlan */
/** @typedef {{ plan: SuitePlan, tls: { key: string, cert: string } }} Context of all parts */

/** @param {Live} server @param {Part} part @param {{ cpus: SuitePlan['cpus'], seconds: number }} options */
async function measureHttp2 (server, { connections, streams }, options) {
  const { summary: { requests }, whole, thread, ...shares } = await costOf(server.pid, options,
    () => runH2load(['-c', String(connections), '-m', String(streams), `http://127.0.0.1:${server.port}/`], { cpu: options.cpus.client, seconds: options.seconds }))
  return {
    requests,
    bytes: Infinity,
    requestsPerSecond: requests / options.seconds,
    processCost: whole * 1e6 / requests,
    threadCost: thread * 1e6 / requests,
    ...shares,
  }
}

/** @param {Live} server @param {Side} side @returns {Promise<number>} how often the handler was called, of a server with our cache */
const callsOf = async (server, { isCached }) => isCached === true ? (await server.ask?.('count')).calls : 0

/** @param {Live} server @param {Side} side @param {Part} part @param {{ cpus: SuitePlan['cpus'], seconds: number }} options */
async function measureSide (server, side, part, options) {
  const callsBefore = await callsOf(server, side)
  const { load } = part
  const { requests, bytes, requestsPerSecond, processCost, threadCost, serverBusy, clientBusy, disturbed } = load === undefined
    ? await measureHttp2(server, part, options)
    : await measure({ ...part, load, unit: 'request' }, server, options)
  const where = `cache, ${part.name}, ${side.name}`
  if (requests === 0) throw new Error(`${where}: no request was answered`)
  if (side.isBare !== true && bytes < requests * part.bytes) throw new Error(`${where}: bodies are too short`)
  const calls = await callsOf(server, side) - callsBefore
  if (calls > 0) throw new Error(`${where}: the handler ran ${calls} times for ${requests} requests, which were to be hits`)
  return { process: processCost, thread: threadCost, requestsPerSecond, serverBusy, clientBusy, disturbed }
}

/** @param {Side} side @param {Part} part @param {Context} context @returns {Promise<Live>} once its answer was compared, and is stored */
async function startChecked (side, { bytes, isSecure, streams }, { plan, tls }) {
  const server = await side.start(plan.cpus.server, { bytes, ...isSecure && { tls }, ...streams !== undefined && { http2: true } })
  try {
    // HTTP/1.1 fills the cache of HTTP/2, too: h2load's request then differs in nothing that the key has.
    if (side.isBare !== true) await checkBody(side.name, { port: server.port, path: '/', isSecure }, { bytes, hash: hashOf(bodyOf(bytes)) })
  } catch (error) {
    await server.stop()
    throw error
  }
  return server
}

/** @param {Part} part @param {Context} context */
async function compare (part, context) {
  const { plan } = context
  const rounds = await inRounds(part.sides, plan, {
    start: (side) => startChecked(side, part, context),
    measure: (live, side, seconds) => measureSide(live, side, part, { cpus: plan.cpus, seconds }),
    // The first hit may come after a miss, which this takes.
    warmUp: (live, side, seconds) => measureSide(live, { ...side, isCached: false }, part, { cpus: plan.cpus, seconds }),
    describe: ({ name }, { process, thread, requestsPerSecond, serverBusy, clientBusy }) =>
      `${name.padEnd(18)} ${process.toFixed(2)} µs (JavaScript ${thread.toFixed(3)}), ${Math.round(requestsPerSecond)} req/s, ${busyText(serverBusy, clientBusy)}`,
  })
  return part.sides.map(({ name }, index) => sideOf(name, rounds[index]))
}

/** @typedef {Awaited<ReturnType<typeof compare>>} Measured */

/** @param {Part} part @param {Measured} measured */
function ratiosOf ({ ratios }, measured) {
  const side = (/** @type {string} */ wanted) => /** @type {Measured[number]} */ (measured.find(({ name }) => name === wanted))
  return ratios.map((ratio) => ({ ...ratio, of: 'httpsys', value: ratioOf(side('httpsys')[ratio.what], side(ratio.to)[ratio.what]) }))
}

module.exports = { compare, ratiosOf }
