'use strict'

// How long one large body takes over one connection, with all CPUs for the server and its client.

const os = require('node:os')
const path = require('node:path')
const { runLoad } = require('../lib/load')
const { built } = require('../lib/processes')
const { against, drawTable, range } = require('../lib/report')
const { inRounds } = require('../lib/rounds')
const { ratioOf, spreads } = require('../lib/statistics')
const { checkBody, checkUpload } = require('./check')
const { piecesHash } = require('./content')
const { nodeSide, startChecked } = require('./servers')

/** @typedef {import('./measure').Context} Context */
/** @typedef {import('./servers').Side} Side */

const kBytes = 2 ** 30
const kCheckedBytes = 10 * 2 ** 20
/** Rounds for each of the plan's: one transfer takes a quarter of a second, and up to three times as long as another. */
const kRounds = 7

/** @type {{ name: 'down' | 'up', application: string, path: string, title: string, target: number }[]} */
const kDirections = [
  { name: 'down', application: 'pieces', path: `/${kBytes}`, title: 'res.write() of 64 KB pieces', target: 1.1 },
  { name: 'up', application: 'upload', path: '/', title: 'upload', target: 1.2 },
]

/** @param {typeof kDirections[number]} direction @param {Context} context */
async function compareDirection ({ name: mode, application, path: target }, { plan }) {
  const program = await built(path.join(__dirname, 'load', 'main.go'), 'files-load')
  const cpus = `0-${os.cpus().length - 1}`
  const sides = [nodeSide('node', application), nodeSide('httpsys', application)]
  const transfer = async (/** @type {import('./servers').Live} */ { port }) => Number(await runLoad([program, mode, String(port), String(kBytes), target], cpus).summary)
  const rounds = await inRounds(sides, { ...plan, rounds: plan.rounds * kRounds }, {
    start: (side) => startChecked(side, { cpu: cpus }, {}, ({ port }) => mode === 'up'
      ? checkUpload(side.name, port)
      : checkBody(side.name, { port, path: `/${kCheckedBytes}` }, { bytes: kCheckedBytes, hash: piecesHash(kCheckedBytes) })),
    warmUp: transfer,
    measure: async (server) => ({ seconds: await transfer(server) }),
    describe: ({ name }, { seconds }) => `${mode}, ${name.padEnd(8)} ${seconds.toFixed(2)} s`,
  })
  return sides.map(({ name }, index) => ({ name, ...spreads(rounds[index]) }))
}

/** @param {Context} context */
async function measureTransfers (context) {
  const figures = []
  for (const direction of kDirections) {
    const [node, ours] = await compareDirection(direction, context)
    figures.push({ part: 'bodies', ...direction, node, ours, ratio: ratioOf(ours.seconds, node.seconds) })
  }
  const lines = figures.map(({ name, title, node, ours, ratio, target }) => [`${name}: ${title}`, range(node.seconds), range(ours.seconds), against(ratio, target)])
  return {
    figures,
    text: `${drawTable(['1 GiB over one connection', 'node, s', 'httpsys, s', 'ratio, target'], lines)}\n\n` +
      '* 1 GiB over one connection: wall time, server and client on all CPUs',
  }
}

module.exports = { measureTransfers }
