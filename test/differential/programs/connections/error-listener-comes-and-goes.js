'use strict'
// A plugin listens for 'clientError' only while it is loaded: before and after that the answer is Node's.
// covers: 24
// breaks: listeners-asked-once

const http = require('node:http')
const { listen, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer()
  const port = await listen(server)
  const mine = (error, socket) => socket.end(`mine: ${error.code}`)
  await talk(port, 'bad 1\r\n\r\n')
  server.on('clientError', mine)
  await talk(port, 'bad 2\r\n\r\n')
  server.off('clientError', mine)
  await talk(port, 'bad 3\r\n\r\n')
  server.once('clientError', mine)
  await talk(port, 'bad 4\r\n\r\n')
  await talk(port, 'bad 5\r\n\r\n')
})
