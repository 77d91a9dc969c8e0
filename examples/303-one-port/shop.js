'use strict'

// A shop on Express. It knows nothing of httpsys: PORT and BASE are its own settings, as many programs have them.

const express = require('express')

const { PORT = 3000, BASE = '/' } = process.env
const shop = express.Router()
shop.get('/', (req, res) => { res.send(`The shop, process ${process.pid}\n`) })
shop.get('/cart', (req, res) => { res.json({ items: 0 }) })

express().use(BASE, shop).listen(PORT, () => console.log(`shop: ${PORT}`))
