'use strict'
// cookie-session sets its cookies when the head is about to be written (on-headers), also of an answer that is a bare end().
// covers: 8, 7
// breaks: saved-implicit-header

const connect = require('connect')
const cookieSession = require('cookie-session')
const http = require('node:http')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const app = connect()
  app.use(cookieSession({ name: 's', keys: ['a', 'b'], httpOnly: false }))
  app.use((req, res) => {
    if (req.url === '/out') req.session = null
    else if (req.url !== '/peek') req.session.views = (req.session.views ?? 0) + 1
    res.end(String(req.session?.views ?? 'none'))
  })
  const port = await listen(http.createServer(app))
  const first = await talk(port, message('GET /'))
  const cookies = [...first.matchAll(/Set-Cookie: ([^;]+)/g)].map(([, cookie]) => cookie).join('; ')
  for (const path of ['', 'peek', 'out']) await talk(port, message(`GET /${path}`, [`Cookie: ${cookies}`, 'Connection: close']))
  await talk(port, message('GET /', [`Cookie: ${cookies.replace(/sig=.*/, 'sig=forged')}`, 'Connection: close']))
})
