'use strict'
// Since Node 22.21 shouldUpgradeCallback decides for each request whether it is upgraded; before, the option means nothing.
// covers: 28, 35
// breaks: upgrade-not-asked

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

const kUpgrade = ['Connection: Upgrade', 'Upgrade: websocket']

program(async () => {
  for (const hasListener of [true, false]) {
    const server = http.createServer({
      shouldUpgradeCallback (req) {
        log('asked', this === server, req.url, req.upgrade, req.headers.upgrade, req.complete)
        return req.url === '/yes' ? 'yes' : 0
      }
    }, (req, res) => {
      log('request', req.url, req.upgrade)
      res.writeHead(200, { connection: 'close' }).end('plain')
    })
    if (hasListener) {
      server.on('upgrade', (req, socket, head) => {
        log('upgrade', req.url, req.upgrade, String(head))
        socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n')
      })
    }
    const port = await listen(server)
    await talk(port, message('GET /no', kUpgrade))
    await talk(port, message('POST /no', [...kUpgrade, 'Content-Length: 4'], 'body'))
    await talk(port, message('GET /none'))
    // Without a listener there is nobody who could take it.
    if (hasListener) await talk(port, message('GET /yes', kUpgrade, 'head'))
    else if (typeof server.shouldUpgradeCallback === 'function') await talk(port, message('GET /yes', kUpgrade))
  }
  const server = http.createServer((req, res) => res.end())
  try {
    http.createServer({ shouldUpgradeCallback: 'no' })
    log('no error')
  } catch (error) {
    log(error.code)
  }
  log(typeof server.shouldUpgradeCallback)
})
