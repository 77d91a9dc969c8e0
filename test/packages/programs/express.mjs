import express from 'express'
import core, { backend } from '@httpsys/core-native'
import { createAdapter } from '@httpsys/express-adapter'
import kit from './kit.cjs'

kit.expect([backend, core.backend], ['engine', 'engine'])
const app = express()
app.get('/', (req, res) => { res.send('from a module') })
const adapter = createAdapter(app)
kit.served(adapter.listen(18080), async () => {
  kit.expect(await (await fetch('http://127.0.0.1:18080/')).text(), 'from a module')
  adapter.close()
})
