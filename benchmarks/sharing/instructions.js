'use strict'

// Instructions in user mode per request, counted by callgrind: unlike CPU time they do not depend on what else the
// machine does.

const { execFile } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { promisify } = require('node:util')
const { runWrk } = require('../lib/load')
const { Server, pinned, unlessEnded } = require('../lib/processes')
const { freePort } = require('../../test/helpers/free-port')
const { inRounds } = require('../lib/rounds')
const { spread } = require('../lib/statistics')

/** @typedef {import('../lib/types').SuitePlan} SuitePlan */
/** @typedef {{ process: Server, neighbour: Server | null, port: number, file: string, dumps: number, stop (): Promise<void> }} Live */

const run = promisify(execFile)
const kProgram = path.join(__dirname, 'server.js')
const kSides = ['shared', 'alone']
const kConnections = 32
/** V8 must have optimized everything: the load is several times slower under valgrind. */
const kWarmFactor = 8
const kFactor = 4

/** @param {string} side @param {number} cpu @returns {Promise<Live>} */
async function start (side, cpu) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-callgrind-'))
  const file = path.join(folder, 'counts')
  const port = await freePort()
  const neighbour = side === 'shared' ? await Server.node('the neighbour', cpu, [kProgram, 'httpsys', `http://*:${port}/p2/`]) : null
  const child = pinned(cpu, ['valgrind', '--tool=callgrind', '--instr-atstart=no', '--smc-check=all-non-file', `--callgrind-out-file=${file}`,
    `--log-file=${file}.log`, process.execPath, kProgram, 'httpsys', `http://*:${port}/p1/`], ['ignore', 'inherit', 'inherit', 'ipc'])
  const server = new Server(child, side, port)
  const stop = async () => {
    await server.stop()
    await neighbour?.stop()
    fs.rmSync(folder, { recursive: true, force: true })
  }
  try {
    await unlessEnded(child, side, once(child, 'message'))
  } catch (error) {
    await stop()
    throw error
  }
  return { process: server, neighbour, port, file, dumps: 0, stop }
}

/** @param {number} port @param {number} cpu @param {number} seconds @returns {Promise<number>} requests */
async function load (port, cpu, seconds) {
  const { summary } = runWrk({ connections: kConnections, load: ['prefixes', '1', '1', 'keep', '1'] }, port, { cpu, seconds })
  const { requests, errors } = await summary
  if (Object.values(errors).some((count) => count > 0)) throw new Error(`instructions: requests failed, ${JSON.stringify(errors)}`)
  return requests
}

/** @param {Live} live @param {number} cpu of the load @param {number} seconds @returns {Promise<number>} instructions per request */
async function measure (live, cpu, seconds) {
  const control = (/** @type {string[]} */ ...args) => run('callgrind_control', [...args, String(live.process.pid)])
  await control('-i', 'on')
  const requests = await load(live.port, cpu, seconds)
  await control('-i', 'off')
  await control('-d')
  const found = /^totals: (\d+)/m.exec(fs.readFileSync(`${live.file}.${++live.dumps}`, 'utf8'))
  if (found === null) throw new Error('callgrind told no total')
  return Number(found[1]) / requests
}

/** @param {SuitePlan} plan @returns {Promise<{ name: string, instructions: import('../lib/statistics').Spread }[]>} */
async function compareInstructions ({ cpus, rounds, seconds, warmUp }) {
  const all = await inRounds(kSides, { rounds, seconds: Math.ceil(seconds * kFactor), warmUp: Math.ceil(warmUp * kWarmFactor) }, {
    start: (side) => start(side, cpus.server),
    warmUp: ({ port }, _side, duration) => load(port, cpus.client, duration),
    measure: (live, _side, duration) => measure(live, cpus.client, duration),
    describe: (side, instructions) => `${side.padEnd(8)} ${Math.round(instructions)} instructions`,
  })
  return kSides.map((name, index) => ({ name, instructions: spread(all[index]) }))
}

module.exports = { compareInstructions }
