'use strict'

// Runs the benchmark: ours beside stock Node in the same run, on CPUs of their own, taking turns.
//
//   npm run bench -- --help

const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { build } = require('../tools/build')
const { main } = require('../tools/lib/project')
const { setup } = require('../tools/setup')

/** @typedef {import('./lib/types').Scenario} Scenario */
/** @typedef {import('./lib/types').Suite} Suite */
/** @typedef {import('./lib/types').Round} Round */
/** @typedef {import('./lib/report').Row} Row */

/** In the order of the report. */
const kScenarios = [
  'hello', 'one-connection', 'browser-headers', 'pipelined', 'express5', 'express4', 'express5-json-echo',
  'stream-1mb', 'upload-10mb', 'express5-middleware', 'idle-memory', 'start', 'deployments', 'port-sharing', 'websocket', 'tls', 'http2', 'files', 'cache',
]

/** A run that README.md takes all of its figures from (tools/figures.js), in minutes. */
const kGroups = new Map([
  ['readme', ['express5', 'express5-json-echo', 'hello', 'one-connection', 'stream-1mb', 'upload-10mb', 'idle-memory', 'start', 'deployments']],
])

/** Fresh processes per implementation, however many rounds the others take. */
const kMemoryRounds = 3

const kUsage = `npm run bench -- [scenario ...] [options]

  --only <implementations>  a list with commas, such as node,httpsys (all); of port-sharing, files and cache their parts, such as 'blocked owner'
  --rounds <n>              measurements of each implementation (3)
  --seconds <n>             of one measurement (3)
  --warm-up <n>             seconds before the first one (2)
  --quick                   one round of 1 s after 1 s: shows that all works, not what it costs
  --name <name>             of the result in benchmarks/results (local/latest)

Scenarios: ${kScenarios.join(', ')}
${[...kGroups].map(([name, scenarios]) => `${name}: ${scenarios.join(', ')}`).join('\n')}`

function options () {
  const { values, positionals: named } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      'warm-up': { type: 'string' },
      quick: { type: 'boolean' },
      name: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) {
    console.log(kUsage)
    process.exit()
  }
  const positionals = named.flatMap((name) => kGroups.get(name) ?? [name])
  const unknown = positionals.filter((name) => !kScenarios.includes(name))
  if (unknown.length > 0) throw new Error(`No such scenario: ${unknown.join(', ')}. There are ${kScenarios.join(', ')}.`)
  const numberOf = (/** @type {'rounds' | 'seconds' | 'warm-up'} */ name, /** @type {number} */ usual) => {
    const text = values[name] ?? String(values.quick ? 1 : usual)
    if (!/^\d+$/.test(text) || (name !== 'warm-up' && Number(text) < 1)) throw new Error(`--${name} takes a whole number`)
    return Number(text)
  }
  return {
    scenarios: positionals.length > 0 ? positionals : kScenarios,
    only: values.only?.split(','),
    rounds: numberOf('rounds', 3),
    seconds: numberOf('seconds', 3),
    warmUp: numberOf('warm-up', 2),
    name: values.name,
  }
}

/** @typedef {{ cpus: { server: number, client: number, siblings: boolean } } & ReturnType<typeof options>} Plan */

/** @param {Scenario} scenario @param {Plan} plan @returns {string[]} */
function implementationsOf (scenario, plan) {
  return scenario.implementations.filter((name) => plan.only === undefined || plan.only.includes(name))
}

/** @param {Scenario} scenario @param {Plan} plan @returns {Promise<Row[]>} */
async function runLoad (scenario, plan) {
  const { measure, probe } = require('./lib/load')
  const { busyText, loadRow } = require('./lib/report')
  const { inRounds } = require('./lib/rounds')
  const { startServer } = require('./lib/server-process')
  const names = implementationsOf(scenario, plan)
  const rounds = await inRounds(names, plan, {
    start: async (name) => {
      const server = await startServer({ scenario: scenario.name, implementation: name, cpu: plan.cpus.server })
      await probe(scenario, server.port)
      return server
    },
    measure: (server, _name, seconds) => measure(scenario, server, { cpus: plan.cpus, seconds }),
    describe: (name, { requestsPerSecond, serverBusy, clientBusy }) =>
      `${name.padEnd(12)} ${Math.round(requestsPerSecond)} req/s, ${busyText(serverBusy, clientBusy)}`,
  })
  return names.map((name, index) => loadRow(scenario, name, rounds[index]))
}

/** @param {Scenario} scenario @param {Plan} plan @param {string[]} notes @returns {Promise<Row[]>} */
async function runMemory (scenario, plan, notes) {
  const { connectionsPossible, measureIdleMemory } = require('./lib/idle-memory')
  const { memoryRow } = require('./lib/report')
  const connections = connectionsPossible(scenario.connections)
  if (connections < scenario.connections) {
    notes.push(`${connections} connections instead of ${scenario.connections}: the limit on open files (ulimit -n) allows no more`)
  }
  /** @type {Map<string, number[]>} */
  const bytes = new Map(implementationsOf(scenario, plan).map((name) => [name, []]))
  for (let round = 0; round < kMemoryRounds; round++) {
    for (const [name, values] of bytes) {
      values.push(await measureIdleMemory(scenario, name, { cpus: plan.cpus, connections }))
      console.log(`  process ${round + 1}/${kMemoryRounds} ${name.padEnd(12)} ${values.at(-1)?.toFixed(0)} bytes per connection`)
    }
  }
  return [...bytes].map(([name, values]) => memoryRow(scenario, name, values))
}

/** @typedef {{ name: string, figures: object[], text: string }} Section what a suite reports */

/** @param {Plan} plan @param {object} machine @param {Row[]} rows @param {Section[]} sections @param {string[]} notes */
function save (plan, machine, rows, sections, notes) {
  const { markdown } = require('./lib/report')
  const local = path.join(__dirname, 'results', 'local')
  const folder = plan.name === undefined ? local : path.dirname(local)
  const name = plan.name ?? new Date().toISOString().replace(/[:.]/g, '-')
  fs.mkdirSync(folder, { recursive: true })
  const command = ['npm run bench', ...process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : []].join(' ')
  fs.writeFileSync(path.join(folder, `${name}.json`), `${JSON.stringify({
    command, machine, notes, rows, ...Object.fromEntries(sections.map(({ name, figures }) => [name, figures])),
  }, null, 2)}\n`)
  fs.writeFileSync(path.join(folder, `${name}.md`),
    markdown(/** @type {Record<string, unknown>} */ (machine), rows, command, notes, sections.map(({ text }) => text)))
  console.log(`\nbenchmarks/${path.relative(__dirname, path.join(folder, name))}.json and .md`)
}

async function bench () {
  const chosen = options()
  await setup('bench')
  await build()
  const { choosePair } = require('./lib/cpu')
  const { backgroundPercent, describeMachine, kBackgroundPercentMax } = require('./lib/machine')
  const { addRatios, table } = require('./lib/report')
  const plan = { ...chosen, cpus: choosePair() }
  const machine = describeMachine(plan.cpus)
  /** @type {string[]} */
  const notes = []
  if (process.env.HTTPSYS_BACKEND === 'node') notes.push('HTTPSYS_BACKEND=node: "httpsys" is stock Node in this run')
  if (plan.cpus.siblings) notes.push('server and load share a core (two hardware threads)')
  const background = await backgroundPercent([plan.cpus.server, plan.cpus.client])
  if (background > kBackgroundPercentMax) {
    notes.push(`other programs used ${background.toFixed(0)} % of a CPU before the start: not a quiet machine`)
  }
  console.log(Object.entries(machine).map(([name, value]) => `${name}: ${value}`).join(', '))
  for (const note of notes) console.log(`NOTE: ${note}`)

  /** @type {Row[]} */
  const rows = []
  /** @type {Section[]} */
  const sections = []
  for (const [index, name] of plan.scenarios.entries()) {
    /** @type {Scenario | Suite} */
    const scenario = require(`./scenarios/${name}`)
    console.log(`\n[${index + 1}/${plan.scenarios.length}] ${name}: ${scenario.title}`)
    if ('run' in scenario) {
      const section = { name, ...await scenario.run(plan, notes) }
      console.log(`\n${section.text}`)
      sections.push(section)
      continue
    }
    rows.push(...await (scenario.unit === 'connection' ? runMemory(scenario, plan, notes) : runLoad(scenario, plan)))
    addRatios(rows)
    console.log(`\n${table(rows.filter((row) => row.scenario === name))}`)
  }
  if (rows.length > 0) console.log(`\n${table(rows)}`)
  save(plan, machine, rows, sections, notes)
}

main(bench())
