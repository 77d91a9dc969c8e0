'use strict'
// Faulty handlers end a response twice or write behind the end; the client gets one answer and the
// application an error.
// covers: 9, 32
// breaks: end-taken-twice

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    res.on('error', (error) => log('error', req.url, error.code))
    res.on('finish', () => log('finish', req.url))
    res.on('close', () => log('close', req.url, res.errored?.code))
    const returned = res.end('first')
    log(returned === res, res.finished)
    if (req.url === '/end') log(res.end() === res)
    if (req.url === '/text') log(res.end('second') === res)
    if (req.url === '/callback') res.end((error) => log('callback', error?.code))
    if (req.url === '/write') log(res.write('second', (error) => log('written', error?.code)))
  })
  const port = await listen(server)
  for (const path of ['/end', '/text', '/callback', '/write']) {
    await talk(port, [message(`GET ${path}`, []), /first$/, { event: `close ${path}` }, message('GET /last')])
  }
})
