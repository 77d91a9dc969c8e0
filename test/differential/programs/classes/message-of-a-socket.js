'use strict'
// Whose answer a connection is sending can be seen at its socket, also with a second request waiting
// its turn.
// covers: 13, 35
// breaks: message-kept

const http = require('node:http')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const answers = []
  const server = http.createServer((req, res) => {
    answers.push(res)
    const { socket } = req
    const who = () => answers.indexOf(socket._httpMessage)
    log('request', req.url, who(), res.socket === socket)
    res.on('finish', () => log('finish', req.url, who()))
    res.on('close', () => log('close', req.url, who()))
    if (answers.length === 2) {
      answers[1].end('second')
      log('second ended', who(), answers[1].socket)
      answers[0].end('first')
      log('first ended', who())
    }
  })
  await talk(await listen(server), [message('GET /1', []), { event: 'request /1' }, message('GET /2')])
  await logged('close /2')
})
