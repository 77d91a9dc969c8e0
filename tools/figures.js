'use strict'

// Puts the figures of one run of the benchmark into the pages: the chart and the tables of README.md and docs/benchmarks.md.
//
//   npm run bench -- readme --name readme --rounds 5     measures; about ten minutes
//   npm run figures                                      writes the chart and the tables
//
// test/docs/figures.test.js compares the pages with the run.

const fs = require('node:fs')
const path = require('node:path')
const { kRoot, main } = require('./lib/project')

const kRun = path.join(kRoot, 'benchmarks', 'results', 'readme.json')
const kChart = path.join('docs', 'images', 'benchmark.svg')
const kPages = ['README.md', path.join('docs', 'benchmarks.md')]

/** @typedef {{ median: number }} Figure */
/** @typedef {{ process?: number, thread?: number, throughput?: number, memory?: number }} Ratio */
/** @typedef {{ scenario: string, implementation: string, processCost?: Figure, requestsPerSecond?: Figure, memory?: Figure, throughputCounts?: boolean, ratio?: Ratio }} Row */
/** @typedef {{ name: string, milliseconds: Figure, mebibytes: Figure, ratio?: { milliseconds: number, mebibytes: number } }} Start */
/** @typedef {{ name: string, cost: Figure, requestsPerSecond: Figure, ratio: { process: number, throughput: number } }} Deployment */
/** @typedef {{ machine: Record<string, string | number>, notes: string[], rows: Row[], start: Start[], deployments: Deployment[] }} Run */
/** @typedef {{ title: string, process?: number, thread?: number, throughput?: number, other?: number }} Line of the table; costs where stock Node is 1 */

/** Scenarios under load, and how the pages call them. */
const kTitles = new Map([
  ['express5', "Express 5, `res.send('Hello, world!')`"],
  ['express5-json-echo', 'Express 5, 1 KB of JSON through `express.json()`'],
  ['hello', 'a `(req, res)` handler, 13 bytes'],
  ['one-connection', 'the same, one connection, one request at a time'],
  ['stream-1mb', '1 MB in pieces of 64 KB'],
  ['upload-10mb', 'an upload of 10 MB'],
])

/** @param {Run} run @param {string} scenario @param {string} [implementation] @returns {Row} */
function rowOf (run, scenario, implementation = 'httpsys') {
  const row = run.rows.find((one) => one.scenario === scenario && one.implementation === implementation)
  if (row?.ratio === undefined) throw new Error(`The run has no ratio of ${scenario} on ${implementation}`)
  return row
}

/** @param {Run} run @returns {Required<Start>} */
const startOf = (run) => /** @type {Required<Start>} */ (run.start.find(({ name }) => name === 'httpsys'))

/** @param {Run} run @returns {Line[]} */
function linesOf (run) {
  const loads = [...kTitles].map(([scenario, title]) => {
    const { ratio, throughputCounts } = rowOf(run, scenario)
    // One connection uses up no CPU, and its throughput is its latency.
    const isKnown = throughputCounts || scenario === 'one-connection'
    return { title, process: ratio?.process, thread: ratio?.thread, throughput: isKnown ? ratio?.throughput : undefined }
  })
  const { milliseconds, mebibytes } = startOf(run).ratio
  return [
    ...loads,
    { title: 'memory of an idle keep-alive connection', other: rowOf(run, 'idle-memory').ratio?.memory },
    { title: 'memory of an Express process after its first answer', other: mebibytes },
    { title: 'time from the start of that process to its first answer', other: milliseconds },
  ]
}

/** @param {number | undefined} value @param {boolean} [isCost] more of it is worse @returns {string} what stock Node does better is bold */
function cell (value, isCost = true) {
  if (value === undefined) return ''
  const text = value.toFixed(value < 2 ? 2 : 1)
  return (isCost ? Number(text) > 1 : Number(text) < 1) ? `**${text}**` : text
}

/** @param {Run} run @returns {string} */
function tableOf (run) {
  const lines = linesOf(run).map(({ title, process: whole, thread, throughput, other }) =>
    `| ${title} | ${cell(whole)} | ${cell(thread)} | ${cell(throughput, false)} | ${cell(other)} |`)
  return ['| stock Node = 1 | CPU of the process | CPU of the JavaScript thread | requests/s | memory, time |', '|---|---|---|---|---|', ...lines].join('\n')
}

/** @param {Run} run @returns {string} */
function headlineOf (run) {
  const { ratio } = rowOf(run, 'express5')
  const of = (/** @type {number | undefined} */ value) => Math.round(100 * Number(value))
  const memory = rowOf(run, 'idle-memory').ratio?.memory
  return `Compared with stock Node: **${of(ratio?.process)} %** of the CPU of an Express 5 request · **${of(ratio?.thread)} %** of the JavaScript thread's time for it · **${of(memory)} %** of the memory of an idle connection`
}

/** @param {Run} run @returns {string} where the figures are from */
function originOf ({ machine, notes }) {
  const doubts = notes.map((note) => ` **Provisional: ${note}.**`).join('')
  return `One run: ${String(machine.date).slice(0, 10)}, commit ${machine.commit}, Node ${String(machine.node).slice(1)}, ${machine.cpu}, one core for the server with all its threads and one for the load.${doubts}`
}

/** @param {Run} run @returns {string} */
function alignedOf (run) {
  return `Most of the gain of Express is one change, not the engine: \`req\` and \`res\` are made with the application's prototypes. Stock Node with that change alone costs ${cell(rowOf(run, 'express5', 'node-aligned').ratio?.process)} in the first row.`
}

/** @param {Run} run @returns {string} a row of a table whose columns are the three ways to deploy */
function deploymentsOf (run) {
  const cells = ['cluster', 'nginx', 'httpsys'].map((name) => {
    const { cost } = /** @type {Deployment} */ (run.deployments.find((one) => one.name === name))
    return `${cost.median.toFixed(0)} µs`
  })
  return `| CPU of an Express request, all processes | ${cells.join(' | ')} |`
}

/** @param {string} text */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('`', '')

const kBarHeight = 34
const kChartTop = 64
const kLabelWidth = 430
/** Of one unit, in which stock Node is 1. */
const kUnit = 230
const kWidth = 820

/** @param {Run} run @returns {string} an SVG: a bar for each line of the table */
function chartOf (run) {
  const lines = linesOf(run)
  const height = kChartTop + lines.length * kBarHeight + 28
  const bars = lines.map(({ title, process: whole, other }, index) => {
    const value = Number(whole ?? other)
    const y = kChartTop + index * kBarHeight
    const width = Math.max(2, Math.min(value, (kWidth - kLabelWidth - 60) / kUnit) * kUnit).toFixed(0)
    return `  <text class="label" x="${kLabelWidth - 12}" y="${y + 17}" text-anchor="end">${escaped(title)}</text>
  <rect class="${value > 1 ? 'more' : 'less'}" x="${kLabelWidth}" y="${y}" width="${width}" height="24" rx="3"/>
  <text class="value" x="${kLabelWidth + Number(width) + 8}" y="${y + 17}">${value.toFixed(2)}</text>`
  })
  const one = kLabelWidth + kUnit
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${kWidth} ${height}" role="img" aria-labelledby="title desc" font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="15">
  <title id="title">What httpsys costs, where stock Node costs 1</title>
  <desc id="desc">${escaped(lines.map(({ title, process: whole, other }) => `${title}: ${Number(whole ?? other).toFixed(2)}`).join('. '))}.</desc>
  <style>
    .page { fill: #fff } .label, .head { fill: #0f172a } .value, .note { fill: #475569 } .less { fill: #2563eb } .more { fill: #c2410c } .one { stroke: #64748b }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117 } .label, .head { fill: #e6edf3 } .value, .note { fill: #9da7b3 } .less { fill: #58a6ff } .more { fill: #f0883e } .one { stroke: #8b949e }
    }
  </style>
  <rect class="page" width="${kWidth}" height="${height}" rx="10"/>
  <text class="head" x="24" y="32" font-size="18" font-weight="600">What httpsys costs, where stock Node costs 1: shorter is better</text>
${bars.join('\n')}
  <line class="one" x1="${one}" x2="${one}" y1="${kChartTop - 10}" y2="${height - 28}" stroke-width="1.5" stroke-dasharray="5 4"/>
  <text class="note" x="${one}" y="${height - 10}" text-anchor="middle" font-size="13">stock Node</text>
  <text class="note" x="24" y="${height - 10}" font-size="13">CPU of the process; below it memory and time</text>
</svg>
`
}

/** @param {string} text of a page @param {Run} run @returns {string} with the figures of the run */
function pageWith (text, run) {
  const parts = new Map([['headline', headlineOf(run)], ['table', `${tableOf(run)}\n\n${alignedOf(run)} ${originOf(run)}`]])
  const marked = text.replaceAll(/^(<!-- figures: (?!end)(\w+) -->\n)[^]*?^(<!-- figures: end -->)$/gm, (_all, begin, name, end) => {
    const part = parts.get(name)
    if (part === undefined) throw new Error(`There are no figures "${name}"`)
    return `${begin}\n${part}\n\n${end}`
  })
  return marked.replaceAll(/^\| CPU of an Express request, all processes \|.*$/gm, () => deploymentsOf(run))
}

/** @returns {Map<string, string>} what the files are to be, by their path in the repository */
function figures () {
  const run = /** @type {Run} */ (JSON.parse(fs.readFileSync(kRun, 'utf8')))
  const pages = kPages.map((page) => /** @type {const} */ ([page, pageWith(fs.readFileSync(path.join(kRoot, page), 'utf8'), run)]))
  return new Map([[kChart, chartOf(run)], ...pages])
}

async function write () {
  for (const [file, text] of figures()) fs.writeFileSync(path.join(kRoot, file), text)
}

if (require.main === module) main(write())

module.exports = { figures }
