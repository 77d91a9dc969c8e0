'use strict'

// Turns measurements into a table.

const { ratioOf, spread, spreads } = require('./statistics')

/** @typedef {import('./types').Scenario} Scenario */
/** @typedef {import('./types').Round} Round */
/** @typedef {import('./statistics').Spread} Spread */

/** A throughput is a server's own only when its CPU is used up and the load's is not. */
const kServerBusyMin = 0.95
const kClientBusyMax = 0.90

/** Beyond this share of a CPU for other programs a row says that it was disturbed, and claims no throughput. */
const kDisturbedMax = 0.05

/**
 * @typedef {object} Row
 * @property {string} scenario
 * @property {string} title
 * @property {string} implementation
 * @property {string} unit
 * @property {number} rounds
 * @property {Spread} [processCost] µs of CPU per unit
 * @property {Spread} [threadCost]
 * @property {Spread} [requestsPerSecond]
 * @property {Spread} [memory] bytes per connection
 * @property {Spread} [serverBusy]
 * @property {Spread} [clientBusy]
 * @property {'server' | 'client' | 'both' | 'neither'} [saturated]
 * @property {Spread} [disturbed] share of a CPU that other programs had
 * @property {boolean} [throughputCounts]
 * @property {{ process?: number, thread?: number, throughput?: number, memory?: number }} [ratio] to node
 * @property {Scenario['target']} [target]
 */

/** @param {Spread} serverBusy @param {Spread} clientBusy @returns {'server' | 'client' | 'both' | 'neither'} whose CPU is used up */
function saturation (serverBusy, clientBusy) {
  const server = serverBusy.median >= kServerBusyMin
  const client = clientBusy.median >= kClientBusyMax
  return server ? (client ? 'both' : 'server') : (client ? 'client' : 'neither')
}

/** @param {number} server @param {number} client shares of 1 @returns {string} */
function busyText (server, client) {
  return `CPUs busy ${(server * 100).toFixed(0)} % (server) ${(client * 100).toFixed(0)} % (load)`
}

/**
 * @template {{ serverBusy: number, clientBusy: number }} R
 * @param {string} name of a side of a suite
 * @param {R[]} rounds
 */
function sideOf (name, rounds) {
  const figures = /** @type {Record<keyof R, Spread>} */ (spreads(/** @type {any} */ (rounds)))
  return { name, ...figures, saturated: saturation(figures.serverBusy, figures.clientBusy) }
}

/** @param {Scenario} scenario @param {string} implementation @param {Round[]} rounds @returns {Row} */
function loadRow (scenario, implementation, rounds) {
  const of = (/** @type {(round: Round) => number} */ value) => spread(rounds.map(value))
  const serverBusy = of((round) => round.serverBusy)
  const clientBusy = of((round) => round.clientBusy)
  const saturated = saturation(serverBusy, clientBusy)
  const disturbed = of((round) => round.disturbed)
  return {
    scenario: scenario.name,
    title: scenario.title,
    implementation,
    unit: scenario.unit,
    rounds: rounds.length,
    processCost: of((round) => round.processCost),
    threadCost: of((round) => round.threadCost),
    requestsPerSecond: of((round) => round.requestsPerSecond),
    serverBusy,
    clientBusy,
    saturated,
    disturbed,
    throughputCounts: saturated === 'server' && disturbed.median <= kDisturbedMax,
    target: implementation === 'httpsys' ? scenario.target : undefined,
  }
}

/** @param {Scenario} scenario @param {string} implementation @param {number[]} bytes @returns {Row} */
function memoryRow (scenario, implementation, bytes) {
  return {
    scenario: scenario.name,
    title: scenario.title,
    implementation,
    unit: scenario.unit,
    rounds: bytes.length,
    memory: spread(bytes),
    target: implementation === 'httpsys' ? scenario.target : undefined,
  }
}

/** Adds to each row its ratios to the row of `node` in the same scenario. @param {Row[]} rows */
function addRatios (rows) {
  for (const row of rows) {
    const base = rows.find((other) => other.scenario === row.scenario && other.implementation === 'node')
    if (base === undefined || base === row) continue
    const divide = (/** @type {Spread | undefined} */ a, /** @type {Spread | undefined} */ b) =>
      a === undefined || b === undefined ? undefined : ratioOf(a, b)
    row.ratio = {
      process: divide(row.processCost, base.processCost),
      thread: divide(row.threadCost, base.threadCost),
      throughput: divide(row.requestsPerSecond, base.requestsPerSecond),
      memory: divide(row.memory, base.memory),
    }
  }
}

/** @param {number} value */
function short (value) {
  return value >= 1000 ? value.toFixed(0) : value >= 100 ? value.toFixed(1) : value.toFixed(2)
}

/** @param {Spread | undefined} value @param {number} [factor] */
function range (value, factor = 1) {
  if (value === undefined) return ''
  return `${short(value.median * factor)} (${short(value.low * factor)}–${short(value.high * factor)})`
}

/** @param {number | undefined} ratio @param {number | undefined} target */
function against (ratio, target) {
  if (ratio === undefined || Number.isNaN(ratio)) return ''
  if (target === undefined) return `${ratio.toFixed(2)}×`
  return `${ratio.toFixed(2)}× ${ratio <= target ? '≤' : '> !'} ${target.toFixed(2)}`
}

/** Of what is to be large. @param {number} ratio @param {number} target */
const atLeast = (ratio, target) => `${ratio.toFixed(2)}× ${ratio >= target ? '≥' : '< !'} ${target.toFixed(2)}`

/**
 * Throughput of a server that has one CPU must grow at least as its CPU time per request is to fall.
 *
 * @param {Row} row
 */
function throughputAgainst ({ ratio, target, throughputCounts }) {
  if (ratio?.throughput === undefined) return ''
  const text = `${ratio.throughput.toFixed(2)}×`
  if (target?.process === undefined || !throughputCounts) return text
  const least = 1 / target.process
  return `${text} ${ratio.throughput >= least ? '≥' : '< !'} ${least.toFixed(2)}`
}

/** @param {Spread | undefined} share */
const percent = (share) => share === undefined ? '' : `${(share.median * 100).toFixed(0)} %`

/** @param {{ disturbed?: Spread }} item @returns {string} what other programs had, when it was much */
const disturbance = ({ disturbed }) => (disturbed?.median ?? 0) > kDisturbedMax ? ` disturbed ${percent(disturbed)}` : ''

/** @param {{ saturated?: string, disturbed?: Spread }} item of a suite @returns {string} */
const saturatedText = (item) => `${item.saturated}${disturbance(item)}`

/** Costs are shown per request or per MiB. @param {Row} row */
const costFactor = (row) => row.unit.startsWith('byte') ? 2 ** 20 : 1

const kColumns = [
  'scenario', 'server', 'CPU µs', 'to node, target', 'JS thread µs', 'to node, target',
  'req/s', 'to node, target', 'CPUs busy: server, load', 'saturated',
]

/** @param {Row} row @returns {string[]} */
function cells (row) {
  if (row.memory !== undefined) {
    return [row.scenario, row.implementation, `${range(row.memory)} bytes`,
      against(row.ratio?.memory, row.target?.memory), '', '', '', '', '', '']
  }
  const per = row.unit.startsWith('byte') ? ' /MiB' : ''
  return [
    row.scenario,
    row.implementation,
    range(row.processCost, costFactor(row)) + per,
    against(row.ratio?.process, row.target?.process),
    range(row.threadCost, costFactor(row)) + per,
    against(row.ratio?.thread, row.target?.thread),
    range(row.requestsPerSecond),
    throughputAgainst(row),
    `${percent(row.serverBusy)}, ${percent(row.clientBusy)}`,
    row.saturated + (row.throughputCounts ? '' : ' *') + disturbance(row),
  ]
}

/** @param {string[]} columns @param {string[][]} lines @returns {string} a Markdown table that also reads well in a terminal */
function drawTable (columns, lines) {
  const widths = columns.map((title, column) => Math.max(title.length, ...lines.map((line) => line[column].length)))
  const draw = (/** @type {string[]} */ line) =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`
  return [draw(columns), draw(widths.map((width) => '-'.repeat(width))), ...lines.map(draw)].join('\n')
}

/** @param {Row[]} rows */
const table = (rows) => drawTable(kColumns, rows.map(cells))

/** @param {Row[]} rows */
const tableWithTitles = (rows) => rows.length === 0
  ? ''
  : `\n${table(rows)}\n\n${[...new Map(rows.map((row) => [row.scenario, row.title]))].map(([name, title]) => `* ${name}: ${title}`).join('\n')}\n`

/**
 * @param {Record<string, unknown>} machine
 * @param {Row[]} rows
 * @param {string} command
 * @param {string[]} notes
 * @param {string[]} sections of scenarios that report by themselves
 */
function markdown (machine, rows, command, notes, sections = []) {
  return `# ${command}

${Object.entries(machine).map(([name, value]) => `* ${name}: ${value}`).join('\n')}
${notes.map((note) => `* NOTE: ${note}`).join('\n')}

Medians over alternating rounds, lowest and highest in brackets; ratios are medians of the rounds' ratios. CPU is user and system time of the server
process per request, or per MiB where it says so; memory is resident bytes per connection. NODE_ENV=production.
\`*\`: no claim about throughput, because the server's CPU was below ${kServerBusyMin * 100} % or the load's at ${kClientBusyMax * 100} % and more,
or because other programs had more than ${kDisturbedMax * 100} % of a CPU ("disturbed").
${tableWithTitles(rows)}${sections.map((text) => `\n${text}\n`).join('')}`
}

module.exports = { addRatios, against, atLeast, busyText, drawTable, loadRow, markdown, memoryRow, percent, range, saturatedText, sideOf, table }
