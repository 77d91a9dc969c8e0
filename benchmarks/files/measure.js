'use strict'

// Measures the servers of a part against each other, with wrk.

const { measure } = require('../lib/load')
const { busyText, sideOf } = require('../lib/report')
const { inRounds } = require('../lib/rounds')
const { ratioOf } = require('../lib/statistics')
const { kConnections } = require('./parts')
const { startChecked } = require('./servers')

/** @typedef {import('./parts').Part} Part */
/** @typedef {import('./folder').Files} Files */
/** @typedef {import('../lib/types').SuitePlan} SuitePlan */

/** @typedef {{ plan: SuitePlan, files: Files, tls: { key: string, cert: string } }} Context of all parts */

/** @param {import('./servers').Live} server @param {string} name @param {Part} part @param {SuitePlan['cpus']} cpus @param {number} seconds */
async function measureSide (server, name, part, cpus, seconds) {
  const { requests, bytes, requestsPerSecond, processCost, threadCost, serverBusy, clientBusy, disturbed } =
    await measure({ ...part, connections: kConnections }, server, { cpus, seconds })
  if (requests === 0) throw new Error(`files, ${part.title}, ${name}: no request was answered`)
  if (part.bytes !== undefined && bytes < requests * part.bytes) throw new Error(`files, ${part.title}, ${name}: bodies are too short`)
  return { process: processCost, thread: threadCost, requestsPerSecond, serverBusy, clientBusy, disturbed }
}

/** @param {Part} part @param {Context} context */
async function compare (part, { plan, files, tls }) {
  const { server, client } = plan.cpus
  const cpu = part.onTwoCores ? `${server},${client}` : server
  const rounds = await inRounds(part.sides, plan, {
    start: (side) => startChecked(side, { cpu }, { folder: files.folder, ...part.isSecure && { tls } }, ({ port }) => part.check(side.name, port, files)),
    measure: (live, { name }, seconds) => measureSide(live, name, part, plan.cpus, seconds),
    describe: ({ name }, result) => {
      const [factor, unit] = part.unit === 'request' ? [1, 'µs'] : [2 ** 20, 'µs/MiB']
      return `${name.padEnd(18)} ${(result.process * factor).toFixed(1)} ${unit} (JavaScript ${(result.thread * factor).toFixed(1)}), ` +
        `${Math.round(result.requestsPerSecond)} req/s, ${busyText(result.serverBusy, result.clientBusy)}`
    },
  })
  return part.sides.map(({ name }, index) => sideOf(name, rounds[index]))
}

/** @typedef {Awaited<ReturnType<typeof compare>>} Measured */

/** @param {Part} part @param {Measured} measured */
function ratiosOf (part, measured) {
  const side = (/** @type {string} */ wanted) => /** @type {Measured[number]} */ (measured.find(({ name }) => name === wanted))
  return part.ratios.map((ratio) => ({ ...ratio, value: ratioOf(side(ratio.of)[ratio.what], side(ratio.to)[ratio.what]) }))
}

module.exports = { compare, ratiosOf }
