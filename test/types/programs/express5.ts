import express from 'express'
import type { NextFunction, Request, Response } from 'express'
import { createServer } from '@httpsys/core-native'
import { createAdapter } from '@httpsys/express-adapter'
import type { Adapter } from '@httpsys/express-adapter'

const app = express()
app.use(express.json(), express.urlencoded({ extended: false }))
app.get('/', async (req, res) => { res.json({ prefix: req.urlPrefix, path: req.urlPrefixPath, query: req.query }) })
app.get('/user/:id', (req: Request<{ id: string }>, res: Response<string>) => { res.send(req.params.id) })
app.use((error: Error, req: Request, res: Response, next: NextFunction) => { res.status(500).send(error.message); next() })

const adapter = createAdapter(app)
// The application is still Express' own.
adapter.app.get('/later', (req, res) => { res.sendStatus(204) })
const whole: Adapter<express.Express> = adapter
adapter.listen('http://*:8080/shop/', { queueName: 'shop' }, () => { adapter.close() })
createAdapter(express.Router()).listen(8080)
createServer(app).listen(8080)
createServer({ stripPrefix: true }, app).listen('http://*:8080/')

// @ts-expect-error parameters of a path are text
app.get('/wrong/:id', (req: Request<{ id: string }>) => { req.params.id.toFixed() })
// @ts-expect-error an application of Express has no such method
adapter.app.serve(8080)
app.post('/', (req, _res, next) => { req.maxRequestBodySize = 1000; next() })
// @ts-expect-error urlPrefix is text
app.get('/wrong', (req) => { req.urlPrefix.port() })
export { whole }
