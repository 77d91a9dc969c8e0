'use strict'

// An application for a container: README.md. The environment variable PORT chooses another port than 8080.

const app = require('express')()
const { createAdapter } = require('@httpsys/express-adapter')

const { PORT = '8080' } = process.env

app.get('/', (req, res) => { res.send('Hello, world!') })

const adapter = createAdapter(app)
adapter.listen(`http://*:${PORT}/`, () => console.log(`Listening on port ${PORT}`))

// The first process of a container gets no signal that it has no listener for. Without this one, "docker stop" waits ten
// seconds and kills Node.
process.once('SIGTERM', () => adapter.close())
