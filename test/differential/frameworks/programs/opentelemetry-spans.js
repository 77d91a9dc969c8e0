'use strict'
// OpenTelemetry wraps Server.prototype.emit: a span for each request, child of who called, parent of the calls it makes.
// covers: 4, 36, 17
// breaks: request-past-emit

const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http')
const { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-node')
const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
provider.register()
const instrumentation = new HttpInstrumentation()
instrumentation.setTracerProvider(provider)
instrumentation.enable()

const http = require('node:http')
const { answer, listen, message, program, talk } = require('../../kit')

program(async () => {
  const backend = await listen(http.createServer((req, res) => res.end(req.headers.traceparent?.slice(0, 35) ?? 'no parent')))
  const port = await listen(http.createServer((req, res) => {
    if (req.url !== '/calls') return res.writeHead(req.url === '/bad' ? 503 : 200).end()
    http.get({ host: '127.0.0.1', port: backend, agent: false }, (answer) => answer.pipe(res))
  }))
  await talk(port, message('GET /calls', ['traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'User-Agent: test', 'X-Forwarded-For: 1.2.3.4', 'Connection: close']))
  await talk(port, message('POST /bad', ['Content-Length: 2', 'Connection: close'], 'ab'))
  await new Promise((resolve) => setImmediate(resolve))
  const spans = exporter.getFinishedSpans()
  const nameOf = (id) => spans.find((span) => span.spanContext().spanId === id)?.name ?? id
  for (const { name, kind, status, attributes, parentSpanContext, events } of spans.toSorted((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1])) {
    answer(name, kind, status, nameOf(parentSpanContext?.spanId), { ...attributes, 'network.peer.port': typeof attributes['network.peer.port'] }, events.length)
  }
})
