'use strict'
// Access logs write socket.bytesRead and bytesWritten, of a connection with several requests.
// covers: r4
// breaks: answer-not-counted

const http = require('node:http')
const { dial, listen, log, logged, message, play, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const count = (when) => log(req.url, when, req.socket.bytesRead, req.socket.bytesWritten)
    count('request')
    req.resume().on('end', () => {
      count('end')
      if (req.url === '/2') res.write('streamed')
      res.end('done')
      res.on('finish', () => count('finish'))
    })
    req.socket.once('close', () => count('close'))
  })
  const wire = await dial(await listen(server))
  await play(wire, [message('GET /1', []), /done/, { event: '/1 finish' }])
  await play(wire, [message('POST /2', ['Content-Length: 6']), { event: '/2 request' }, 'abcdef', /done[^]*done/, { event: '/2 finish' }])
  await talk(wire, message('GET /3'))
  await logged('/3 close')
})
