'use strict'
// hapi's request.info: addresses of the client, host, referrer; and the server's own uri.
// covers: 17, 25
// breaks: no-peer-name

const Hapi = require('@hapi/hapi')
const { answer, listening, message, program, talk } = require('../../kit')

program(async () => {
  const server = Hapi.server({ port: 0, host: '127.0.0.1' })
  server.route({
    method: 'GET',
    path: '/',
    handler: ({ info, url, server: { info: own } }) => ({
      address: info.remoteAddress, port: typeof info.remotePort, host: info.host, name: info.hostname, referrer: info.referrer, url, own: own.address, uri: own.uri, protocol: own.protocol
    })
  })
  await server.start()
  const port = listening(server.listener)
  await talk(port, message('GET /?q=1', ['Referer: http://b/', 'Connection: close']))
  answer(server.info.port === port, server.info.started > 0)
})
