'use strict'

const express = require('express')
const { createAdapter } = require('@httpsys/express-adapter')
const { expect, served } = require('./kit.cjs')

const app = express()
app.get('/shop/', (req, res) => { res.json({ url: req.url, prefix: req.urlPrefix }) })
const adapter = createAdapter(app)
served(adapter.listen('http://*:18080/shop/'), async () => {
  expect(await (await fetch('http://127.0.0.1:18080/shop/?a')).json(), { url: '/shop/?a', prefix: 'http://*:18080/shop/' })
  expect((await fetch('http://127.0.0.1:18080/other')).status, 404)
  adapter.close()
})
