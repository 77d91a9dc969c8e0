'use strict'

// An unmodified Express application for a container, which the Dockerfiles start below @httpsys/core-native/register. The environment
// variable PORT chooses another port than 8080.

const app = require('express')()

const { PORT = '8080' } = process.env

app.get('/', (req, res) => { res.send('Hello, world!') })

const server = app.listen(PORT, () => console.log(`Listening on port ${PORT}`))

// The first process of a container gets no signal that it has no listener for. Without this one, "docker stop" waits ten
// seconds and kills Node.
process.once('SIGTERM', () => server.close())
