'use strict'

// A chat that is spread over processes: a room lives in the memory of one process, and its address says which.
// Every process registers http://*:8080/<number>/ on the one port; requests for its rooms reach it without a
// proxy, a message queue or a store between the processes.
//
//   node examples/301-megachat.js 1 [port]
//   node examples/301-megachat.js 2 [port]            in a second terminal, and so on
//
// In browsers: http://localhost:8080/1/lobby and http://localhost:8080/2/kitchen. Or:
//
//   curl -N http://localhost:8080/1/lobby/events
//   curl -d from=Ada -d text=Hello http://localhost:8080/1/lobby/messages
//   curl http://localhost:8080/1/lobby/messages

const path = require('node:path')
const express = require('express')
const { createAdapter } = require('@httpsys/express-adapter')
const { Rooms } = require('./lib/megachat/rooms')

// What was written goes out before the process ends, whoever is still listening.
const kGraceMs = 2000
const kFromMax = 40
const kTextMax = 2000

const [number = '1', port = '8080'] = process.argv.slice(2)
const prefix = `http://*:${port}/${number}/`
const rooms = new Rooms()

const app = express()
app.disable('x-powered-by')

app.get('/', (req, res) => {
  res.json({ process: process.pid, rooms: rooms.names.map((name) => `${req.baseUrl}/${name}`) })
})

app.param('room', (req, res, next, name) => {
  const room = rooms.get(name)
  if (room === undefined) return res.status(404).json({ error: `There is no room "${name}", and there cannot be` })
  res.locals.room = room
  next()
})

app.get('/:room', (req, res) => res.sendFile(path.join(__dirname, 'lib', 'megachat', 'room.html')))

app.get('/:room/messages', (req, res) => res.json(res.locals.room.messages))

app.post('/:room/messages', express.json(), express.urlencoded({ extended: false }), (req, res) => {
  const { from = 'somebody', text } = req.body ?? {}
  if (typeof text !== 'string' || text === '' || text.length > kTextMax || typeof from !== 'string' || from.length > kFromMax) {
    return res.status(400).json({ error: `A message is a "text" of 1 to ${kTextMax} characters and a "from" of at most ${kFromMax}` })
  }
  res.status(201).json(res.locals.room.say(from, text))
})

// Server-sent events: what is said from now on; a browser that was away names the last one that it has seen.
app.get('/:room/events', (req, res) => {
  res.set({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  res.write(': welcome\n\n')
  const leave = res.locals.room.listen(Number(req.get('last-event-id') ?? Infinity), (message) => {
    res.write(`id: ${message.id}\ndata: ${JSON.stringify(message)}\n\n`)
  }, () => res.end())
  res.on('close', leave)
})

// The app does not know where it is mounted: req.url begins below the prefix.
const adapter = createAdapter(app, { stripPrefix: true })
adapter.server.on('error', (error) => {
  console.error(error.message)
  process.exitCode = 1
})
adapter.listen(prefix, () => console.log(`Listening on ${prefix}, rooms such as http://localhost:${port}/${number}/lobby`))

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    rooms.close()
    adapter.server.close()
    setTimeout(() => adapter.server.closeAllConnections(), kGraceMs).unref()
  })
}
