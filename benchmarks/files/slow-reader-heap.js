'use strict'

// Prints what each slow reader of a file costs on the heap of JavaScript, by the package whose code has allocated it:
//
//   node benchmarks/files/slow-reader-heap.js [node | httpsys] [an application of applications.js] [connections]

const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { LineProgram, built, pinned } = require('../lib/processes')
const { drawTable } = require('../lib/report')
const { allocationsOf } = require('./allocations')
const { Files, kSparse } = require('./folder')
const { nodeSide } = require('./servers')

const kTracking = ['--require', require.resolve('./allocation-tracking')]
/** Until a server has done what it does for clients that do not read. */
const kStandMs = 3000
/** Owners of less are left out. */
const kBytesMin = 32
const kCpus = '0,1'

/** @param {'node' | 'httpsys'} side @param {string} application @param {number} connections @param {Files} files */
async function measure (side, application, connections, files) {
  const snapshot = path.join(files.folder, 'heap.json')
  process.env.HEAP_SNAPSHOT = snapshot
  const program = await built(path.join(__dirname, 'load', 'main.go'), 'files-load')
  const server = await nodeSide(side, application, { before: kTracking }).start({ cpu: kCpus }, { folder: files.folder })
  const load = new LineProgram(pinned(kCpus, [program, 'stand', String(server.port), String(connections), 'plain', '/13.txt'], ['pipe', 'pipe', 'inherit']))
  try {
    await load.answer()
    await server.ask?.('track')
    const { answers } = await load.ask(`begin /${kSparse}`)
    await sleep(kStandMs)
    await server.ask?.('write')
    return { answers, allocations: allocationsOf(JSON.parse(fs.readFileSync(snapshot, 'utf8'))) }
  } finally {
    await load.stop()
    await server.stop()
  }
}

async function main () {
  const [, , side = 'httpsys', application = 'express.static', connections = '500'] = process.argv
  const files = new Files()
  try {
    const { answers, allocations } = await measure(/** @type {'node' | 'httpsys'} */ (side), application, Number(connections), files)
    const each = (/** @type {number} */ value) => value / answers
    const lines = allocations.filter(([, { bytes }]) => each(bytes) >= kBytesMin)
      .map(([owner, { bytes, objects }]) => [owner, each(bytes).toFixed(0), each(objects).toFixed(1)])
    const sum = allocations.reduce((total, [, { bytes }]) => total + bytes, 0)
    console.log(`${drawTable([`${side}, ${application}: allocated by`, 'bytes', 'objects'], [...lines, ['all', each(sum).toFixed(0), '']])}\n\nfor each of ${answers} connections`)
  } finally {
    files.remove()
  }
}

main()
