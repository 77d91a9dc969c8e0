'use strict'
// Proxies that speak HTTP/2 to browsers send several Cookie lines: cookie-parser sees them joined by semicolons.
// covers: 30
// breaks: cookie-lines-joined-by-comma

const cookieParser = require('cookie-parser')
const connect = require('connect')
const http = require('node:http')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const app = connect()
  app.use(cookieParser('secret'))
  app.use((req, res) => res.end(JSON.stringify({ plain: req.cookies, signed: req.signedCookies })))
  const port = await listen(http.createServer(app))
  await talk(port, message('GET /', ['Cookie: a=1; b=j%3A%7B%22c%22%3A2%7D', 'cookie: d=4', 'COOKIE: e=s%3Aforged.signature', 'Connection: close']))
  await talk(port, message('GET /'))
})
