'use strict'

// Files and bodies in pieces: unmodified applications and sendFile() beside node:http and nginx.

const { against, drawTable, percent, range, saturatedText } = require('../lib/report')
const { Files } = require('../files/folder')
const { compare, ratiosOf } = require('../files/measure')
const { kConnections, kParts } = require('../files/parts')
const { measureSlowFile } = require('../files/slow-file')
const { measureSlowReaders } = require('../files/slow-readers')
const { measureStalledStreams } = require('../files/stalled-streams')
const { measureTransfers } = require('../files/transfers')
const { keyPair } = require('../tls/measure')

/** @typedef {import('../files/measure').Context} Context */
/** @typedef {import('../files/parts').Part} Part */
/** @typedef {{ part: Part, measured: import('../files/measure').Measured, ratios: ReturnType<typeof ratiosOf> }} Result of a part with load */
/** @typedef {{ figures: object[], text: string }} Report */

/** Parts that report by themselves. @type {{ name: string, measure: (context: Context, notes: string[]) => Promise<Report> }[]} */
const kOthers = [
  { name: 'slow readers', measure: measureSlowReaders },
  { name: 'stalled streams', measure: measureStalledStreams },
  { name: 'slow file', measure: measureSlowFile },
  { name: 'bodies', measure: measureTransfers },
]
const kNames = new Set([...kParts, ...kOthers].map(({ name }) => name))

/** @param {Result} result @returns {string[][]} */
function lines ({ part, measured, ratios }) {
  const [factor, per] = part.unit === 'request' ? [1, ''] : [2 ** 20, ' /MiB']
  return measured.map((item) => {
    const to = (/** @type {'process' | 'thread'} */ what) => ratios.filter((ratio) => ratio.of === item.name && ratio.what === what)
      .map(({ to, value, target }) => `${to} ${against(value, target)}`).join(', ')
    return [
      part.title,
      item.name,
      range(item.process, factor) + per,
      to('process'),
      item.name === 'nginx' ? '' : range(item.thread, factor) + per,
      to('thread'),
      range(item.requestsPerSecond),
      `${percent(item.serverBusy)}, ${percent(item.clientBusy)}`,
      saturatedText(item),
    ]
  })
}

/** @param {Result[]} results */
function loadText (results) {
  const columns = ['part', 'server', 'CPU µs', 'to others, target', 'JS thread µs', 'to others, target', 'req/s', 'CPUs busy: server, load', 'saturated']
  return `CPU of the server process per request, or per MiB where it says so; ${kConnections} connections that are kept; the load on the other core.

${drawTable(columns, results.flatMap(lines))}

* node: node:http, or node:https; httpsys: the same program on ours, with Express the adapter; register: unmodified, below @httpsys/core-native/register
* nginx: one worker on the server's core, sendfile, tcp_nopush, open_file_cache`
}

/** @param {Context} context @param {(name: string) => boolean} isWanted @param {string[]} notes @returns {Promise<Report>} */
async function measureAll (context, isWanted, notes) {
  /** @type {Result[]} */
  const results = []
  for (const part of kParts.filter(({ name }) => isWanted(name))) {
    console.log(`\n ${part.name}: ${part.title}`)
    const measured = await compare(part, context)
    results.push({ part, measured, ratios: ratiosOf(part, measured) })
  }
  /** @type {Report[]} */
  const reports = []
  for (const { name, measure } of kOthers.filter(({ name }) => isWanted(name))) {
    console.log(`\n ${name}`)
    reports.push(await measure(context, notes))
  }
  return {
    figures: [
      ...results.map(({ part: { name, title, unit }, measured, ratios }) => ({ part: name, title, unit, measured, ratios })),
      ...reports.flatMap(({ figures }) => figures),
    ],
    text: ['## Files', ...results.length > 0 ? [loadText(results)] : [], ...reports.map(({ text }) => text)].join('\n\n'),
  }
}

/** @type {import('../lib/types').Suite} */
module.exports = {
  name: 'files',
  title: 'files and bodies in pieces, beside node:http and nginx',
  async run (plan, notes) {
    const unknown = plan.only?.filter((name) => !kNames.has(name)) ?? []
    if (unknown.length > 0) notes.push(`files has no part ${unknown.join(', ')}: there are ${[...kNames].join(', ')}`)
    const files = new Files()
    try {
      return await measureAll({ plan, files, tls: keyPair('ec') }, (name) => plan.only === undefined || plan.only.includes(name), notes)
    } finally {
      files.remove()
    }
  },
}
