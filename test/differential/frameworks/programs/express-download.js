'use strict'
// res.download() and res.attachment() put names with accents into Content-Disposition: bytes above 0x7f in a head.
// covers: 10, 29
// breaks: raw-latin1-as-utf8

const express = require('express')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const file = path.join(process.cwd(), 'a.txt')
  fs.writeFileSync(file, 'content')
  fs.utimesSync(file, 1_600_000_000, 1_600_000_000)
  const app = express()
  const names = ['plain.txt', '\u00a3 rates.txt', '\u20ac rates.txt', 'a "b".txt']
  app.get('/download/:n', (req, res) => {
    res.download(file, names[Number(req.params.n)], { headers: { 'X-Extra': 'caf\u00e9' } }, (error) => log(req.url, error ?? 'done'))
  })
  app.get('/attachment', (req, res) => res.attachment('\u00fc.csv').send('a;b'))
  app.get('/missing', (req, res) => res.download(path.join(process.cwd(), 'none'), (error) => res.status(error.status).end()))
  const port = await listen(http.createServer(app))
  for (const n of names.keys()) await talk(port, message(`GET /download/${n}`))
  await talk(port, message('GET /attachment'))
  await talk(port, message('GET /missing'))
})
