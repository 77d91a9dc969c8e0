'use strict'
// Dashboards observe performance entries of type "http": one per answered request, with method, URL, status and headers.
// covers: 37
// breaks: entries-without-end

const http = require('node:http')
const { PerformanceObserver } = require('node:perf_hooks')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const observer = new PerformanceObserver((list) => {
    for (const { name, entryType, detail, duration } of list.getEntries()) {
      log(name, entryType, detail.req.method, detail.req.url.replace(/:\d+/, ''), { ...detail.req.headers }, detail.res.statusCode, detail.res.statusMessage, { ...detail.res.headers }, duration > 0)
    }
  })
  observer.observe({ type: 'http' })
  const server = http.createServer((req, res) => {
    res.sendDate = false
    res.setHeader('X-A', '1')
    if (req.url === '/write') res.write('a')
    if (req.url === '/missing') res.writeHead(404, 'Gone fishing', { 'X-B': '2' })
    res.end('b')
  })
  const port = await listen(server)
  for (const path of ['/end', '/write', '/missing']) {
    await talk(port, message(`GET ${path}`))
    await logged(`HttpRequest http GET ${path}`)
  }
})
