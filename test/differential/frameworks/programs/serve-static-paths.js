'use strict'
// serve-static and send map the path of a URL to a file: encoded and doubled separators, dots, folders, fall through.
// covers: 30, 33
// breaks: url-cooked

const finalhandler = require('finalhandler')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const serveStatic = require('serve-static')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  process.env.NODE_ENV = 'production'
  const root = path.join(process.cwd(), 'public')
  fs.mkdirSync(path.join(root, 'folder'), { recursive: true })
  for (const name of ['a b.txt', '.hidden', 'folder/index.html', '../secret.txt']) {
    fs.writeFileSync(path.join(root, name), `content of ${name}`)
    fs.utimesSync(path.join(root, name), 1_600_000_000, 1_600_000_000)
  }
  const serve = serveStatic(root, { maxAge: '1h', setHeaders: (res, file) => res.setHeader('X-File', path.basename(file)) })
  const port = await listen(http.createServer((req, res) => serve(req, res, finalhandler(req, res))))
  for (const url of ['/a%20b.txt', '/.hidden', '/folder', '/folder/', '//folder//', '/../secret.txt', '/%2e%2e/secret.txt', '/folder/%2e%2e%2f%2e%2e%2fsecret.txt', '/folder/../a%20b.txt', '/a%00', '/%', '/none']) {
    await talk(port, message(`GET ${url}`))
  }
  await talk(port, message('POST /folder/'))
})
