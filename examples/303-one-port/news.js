'use strict'

// A news site on koa. It knows nothing of httpsys either.

const Koa = require('koa')

const { PORT = 3001, BASE = '/' } = process.env
const app = new Koa()
app.use((ctx) => {
  if (ctx.path !== BASE) return
  ctx.set('Cache-Control', 'public, max-age=10')
  ctx.body = `The news, process ${process.pid}\n`
})

app.listen(PORT, () => console.log(`news: ${PORT}`))
