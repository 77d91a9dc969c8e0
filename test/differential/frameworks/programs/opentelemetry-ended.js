'use strict'
// OpenTelemetry ends a request's span at 'close' of the response: after an answer, and when the client leaves without one.
// covers: 4, 31, 32
// breaks: response-close-untold-after-finish, response-close-untold-when-cut

const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http')
const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')
const { log, logged, dial, listen, message, play, program, within } = require('../../kit')
const provider = new NodeTracerProvider({
  spanProcessors: [{
    onStart: () => {},
    onEnd: ({ name, status, attributes }) => log('span', attributes['url.path'], name, status, attributes['http.response.status_code']),
    forceFlush: async () => {},
    shutdown: async () => {}
  }]
})
provider.register()
const instrumentation = new HttpInstrumentation({ responseHook: (span, response) => log('response hook', response.statusCode) })
instrumentation.setTracerProvider(provider)
instrumentation.enable()
const http = require('node:http')

program(async () => {
  const port = await listen(http.createServer((req, res) => {
    log('request', req.url)
    if (req.url === '/answered') res.end('answer')
    if (req.url === '/begun') res.write('begun')
  }))
  for (const [path, step] of [['/answered', /answer$/], ['/begun', /begun/], ['/cut', { event: 'request /cut' }]]) {
    const wire = await dial(port)
    await play(wire, [message(`GET ${path}`, []), step])
    wire.destroy()
    await within(logged(`span ${path}`))
  }
})
