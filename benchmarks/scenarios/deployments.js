'use strict'

// One Express application in the three ways that Node programs are put behind a port: workers of node:cluster, nginx in front, httpsys.

const { drawTable, percent, range } = require('../lib/report')
const { ratioOf } = require('../lib/statistics')
const { Group } = require('../sharing/group')
const { compare } = require('../sharing/load')

const kConnections = 64
const kWorkers = 2

/** @type {import('../lib/types').Suite} */
module.exports = {
  name: 'deployments',
  title: `Express 5 on stock Node with ${kWorkers} workers of node:cluster, behind nginx, and on httpsys with a URL prefix; CPU of all server processes together`,
  async run (plan) {
    const { server: cpu } = plan.cpus
    const loads = [{ connections: kConnections, load: ['prefixes', '1', '1', 'keep', '1'] }]
    const cases = [
      { name: 'cluster', start: () => Group.expressCluster({ cpu, workers: kWorkers }), loads, prefixes: 1 },
      { name: 'nginx', start: () => Group.expressBehindNginx({ cpu }), loads, prefixes: 1 },
      { name: 'httpsys', start: () => Group.expressOnPrefix({ cpu }), loads, prefixes: 1 },
    ]
    const measured = await compare(cases, plan)
    const [base] = measured
    const figures = measured.map((item) => ({ ...item, ratio: { process: ratioOf(item.cost, base.cost), throughput: ratioOf(item.requestsPerSecond, base.requestsPerSecond) } }))
    const lines = figures.map(({ name, cost, requestsPerSecond, serverBusy, clientBusy, ratio }) => [
      name, range(cost), `${ratio.process.toFixed(2)}×`, range(requestsPerSecond), `${percent(serverBusy)}, ${percent(clientBusy)}`,
    ])
    const table = drawTable(['servers', 'CPU µs', 'to cluster', 'req/s', 'CPUs busy: server, load'], lines)
    return { figures, text: `## Deployments\n\n${this.title}.\n\n${table}` }
  },
}
