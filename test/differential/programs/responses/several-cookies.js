'use strict'
// Applications set several cookies, and other lines of one name; each is a line of its own, as it was
// written.
// covers: 10
// breaks: cookie-lines-merged, names-lowered

const http = require('node:http')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    res.setHeader('Set-Cookie', ['a=1; Path=/', 'b=2'])
    res.appendHeader('SET-COOKIE', 'c=3')
    res.setHeader('Link', ['<a>', '<b>'])
    res.setHeader('WWW-Authenticate', ['Basic', 'Digest'])
    res.setHeader('x-EMPTY', '')
    if (req.url === '/head') res.writeHead(200, { 'set-cookie': ['d=4', 'e=5'] })
    res.end()
  })
  const port = await listen(server)
  for (const path of ['/set', '/head']) await talk(port, message(`GET ${path}`))
})
