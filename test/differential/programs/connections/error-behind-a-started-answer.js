'use strict'
// When a head is already on its way no 400 is written into it: the answer is cut short.
// covers: 24, r12
// breaks: reply-into-an-answer

const http = require('node:http')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    watch('response', res, ['finish', 'close'])
    req.socket.on('close', (hadError) => log('socket close', hadError))
    req.on('error', (error) => log('request', error.code))
    res.writeHead(200, { 'Content-Length': 10 })
    res.write('begun')
  })
  await talk(await listen(server), [message('GET /', []), /begun/, 'garbage\r\n\r\n'])
  await logged('socket close')
})
