'use strict'

// Answers from the output cache beside the bare kernel, nginx, node:http, and our own server without a cache.

const { compareBursts } = require('../cache/burst')
const { compareInstructions } = require('../cache/instructions')
const { compare, ratiosOf } = require('../cache/measure')
const { compareMembers } = require('../cache/members')
const { kParts } = require('../cache/parts')
const { against, drawTable, percent, range, saturatedText } = require('../lib/report')
const { keyPair } = require('../tls/measure')

/** @typedef {import('../cache/measure').Context} Context */
/** @typedef {import('../cache/measure').Measured} Measured */
/** @typedef {{ part: import('../cache/parts').Part, measured: Measured, ratios: ReturnType<typeof ratiosOf> }} Result */

/** Parts that report by themselves. */
const kOthers = [{ name: 'members', measure: compareMembers }, { name: 'burst', measure: compareBursts }, { name: 'instructions', measure: compareInstructions }]
const kNames = [...kParts, ...kOthers].map(({ name }) => name)

/** @param {ReturnType<typeof ratiosOf>[number]} ratio */
const ratioText = ({ to, value, target, wanted }) =>
  `${to} ${against(value, target)}${wanted === undefined ? '' : `, ${wanted.toFixed(2)} wanted`}`

/** @param {Result} result @returns {string[][]} */
function lines ({ part, measured, ratios }) {
  return measured.map((item) => {
    const to = (/** @type {'process' | 'thread'} */ what) =>
      ratios.filter((ratio) => ratio.of === item.name && ratio.what === what).map(ratioText).join('; ')
    const isNodes = item.name === 'node' || item.name.startsWith('httpsys')
    return [
      part.title,
      item.name,
      range(item.process),
      to('process'),
      isNodes ? range(item.thread) : '',
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
  return `CPU of the server process per request; connections are kept; the load on the other core.

${drawTable(columns, results.flatMap(lines))}

* floor: answers each read with constant bytes; nginx: one worker; httpsys: hits, without a call of the handler`
}

/** @type {import('../lib/types').Suite} */
module.exports = {
  name: 'cache',
  title: 'hits of the output cache, beside the bare kernel, nginx and node:http',
  async run (plan, notes) {
    const unknown = plan.only?.filter((name) => !kNames.includes(name)) ?? []
    if (unknown.length > 0) notes.push(`cache has no part ${unknown.join(', ')}: there are ${kNames.join(', ')}`)
    const isWanted = (/** @type {{ name: string }} */ { name }) => plan.only === undefined || plan.only.includes(name)
    const context = { plan, tls: keyPair('ec') }
    /** @type {Result[]} */
    const results = []
    for (const part of kParts.filter(isWanted)) {
      console.log(`\n ${part.name}: ${part.title}`)
      const measured = await compare(part, context)
      results.push({ part, measured, ratios: ratiosOf(part, measured) })
    }
    const reports = []
    for (const { name, measure } of kOthers.filter(isWanted)) {
      console.log(`\n ${name}`)
      reports.push(await measure(context))
    }
    return {
      figures: [
        ...results.map(({ part: { name, title }, measured, ratios }) => ({ part: name, title, measured, ratios })),
        ...reports.flatMap(({ figures }) => figures),
      ],
      text: ['## Output cache', ...results.length > 0 ? [loadText(results)] : [], ...reports.map(({ text }) => text)].join('\n\n'),
    }
  },
}
