'use strict'
// Serialisers and debuggers walk over the fields of a request and a response.
// covers: 1
// breaks: field-in-the-open

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log('req', Object.keys(req))
    log('res', Object.keys(res))
    const copy = { ...req }
    log(copy.url, copy.method, copy.rawHeaders, 'headers' in copy)
    const seen = []
    for (const name in res) if (name.startsWith('http')) seen.push(name)
    log(seen)
    res.end()
  })
  await talk(await listen(server), message('GET /'))
})
