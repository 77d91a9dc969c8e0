'use strict'

// A chat that is spread over processes: a room lives in the memory of one process, and its address says which.
// Every process registers http://*:8080/<number>/ on the one port; WebSockets and other requests for its rooms reach
// it without a proxy, a message queue or a store between the processes.
//
//   node examples/301-megachat.js 1 [port]
//   node examples/301-megachat.js 2 [port]            in a second terminal, and so on
//
// In two windows of a browser: http://localhost:8080/1/lobby. Another process: http://localhost:8080/2/kitchen. Kill a
// process and start it again: its windows find it, and the others notice nothing. Or:
//
//   npx wscat -c 'ws://localhost:8080/1/lobby?name=Ada'
//   curl -N http://localhost:8080/1/lobby/events
//   curl -d from=Ada -d text=Hello http://localhost:8080/1/lobby/messages
//   curl http://localhost:8080/1/lobby/messages

const path = require('node:path')
const express = require('express')
const { WebSocketServer } = require('ws')
const { createAdapter } = require('@httpsys/express-adapter')
const { attach } = require('@httpsys/websocket')
const { heartbeat } = require('./lib/heartbeat')
const { Rooms } = require('./lib/megachat/rooms')

// What was written goes out before the process ends, whoever is still listening.
const kGraceMs = 2000
const kFromMax = 40
const kTextMax = 2000
// Bytes of a message with room for its JSON, and what a client may leave unread before it is cut off.
const kPayloadMax = 16 * 1024
const kUnreadMax = 1024 * 1024

const [number = '1', port = '8080'] = process.argv.slice(2)
if (!/^\d+$/.test(number) || !/^\d+$/.test(port)) {
  console.log('node examples/301-megachat.js [number of this process] [port]')
  process.exit(number === '--help' ? 0 : 1)
}
const prefix = `http://*:${port}/${number}/`
const rooms = new Rooms()

/** @param {any} from @param {any} text */
function isMessage (from, text) {
  return typeof text === 'string' && text !== '' && text.length <= kTextMax && typeof from === 'string' && from.length <= kFromMax
}

// -- The application: pages and what curl can do ---------------------------------------------------

const app = express()
app.disable('x-powered-by')

app.get('/', (req, res) => {
  res.json({ process: process.pid, rooms: rooms.names.map((name) => `${req.baseUrl}/${name}`) })
})

// chat.css, chat.js, room.js: no name of a room has a dot.
for (const folder of ['chat', 'megachat']) app.use(express.static(path.join(__dirname, 'lib', folder), { index: false, redirect: false }))

app.param('room', (req, res, next, name) => {
  const room = rooms.get(name)
  if (room === undefined) return res.status(404).json({ error: `There is no room "${name}", and there cannot be` })
  res.locals.room = room
  next()
})

app.get('/:room', (req, res) => {
  if (req.path.endsWith('/')) return res.redirect(`${req.baseUrl}/${req.params.room}`)
  res.sendFile(path.join(__dirname, 'lib', 'megachat', 'room.html'))
})

app.get('/:room/messages', (req, res) => res.json(res.locals.room.messages))

app.post('/:room/messages', express.json(), express.urlencoded({ extended: false }), (req, res) => {
  const { from = 'somebody', text } = req.body ?? {}
  if (!isMessage(from, text)) {
    return res.status(400).json({ error: `A message is a "text" of 1 to ${kTextMax} characters and a "from" of at most ${kFromMax}` })
  }
  res.status(201).json(res.locals.room.say(from, text))
})

// Server-sent events: what is said from now on; a client that was away names the last one that it has seen.
app.get('/:room/events', (req, res) => {
  res.set({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  res.write(': welcome\n\n')
  const leave = res.locals.room.join({
    tell: (event, json) => { if (event.type === 'message') res.write(`id: ${event.id}\ndata: ${json}\n\n`) },
    end: () => res.end()
  }, Number(req.get('last-event-id') ?? Infinity))
  res.on('close', leave)
})

// -- The chat: a WebSocket at the address of the room ----------------------------------------------

/** @param {import('node:http').IncomingMessage} req what comes below the prefix: /<room>?name=…&born=…&seen=… */
function addressOf (req) {
  const { pathname, searchParams } = new URL(req.url ?? '', 'ws://any')
  return { room: rooms.get(pathname.slice(1)), params: searchParams }
}

const chat = new WebSocketServer({
  noServer: true,
  maxPayload: kPayloadMax,
  verifyClient: ({ req }, done) => done(addressOf(req).room !== undefined, 404, 'There is no such room')
})
heartbeat(chat)

chat.on('connection', (socket, req) => {
  const { room, params } = addressOf(req)
  const name = (params.get('name') ?? '').slice(0, kFromMax) || 'somebody'
  // A client that knows the room's last life starts from the beginning of this one.
  const seen = params.get('born') === room.born ? Number(params.get('seen')) : 0
  socket.send(JSON.stringify({ type: 'hello', process: process.pid, born: room.born }))
  const leave = room.join({
    name,
    tell: (event, json) => {
      if (socket.bufferedAmount > kUnreadMax) socket.terminate()
      else socket.send(json)
    },
    end: () => socket.close(1001)
  }, seen)
  socket.on('message', (data) => {
    const text = textOf(data)
    if (isMessage(name, text)) room.say(name, text)
    else socket.close(1007, 'not a message')
  })
  // What is wrong closes the socket; the close is all that matters here.
  socket.on('error', () => {})
  socket.on('close', leave)
})

/** @param {import('ws').RawData} data @returns {unknown} */
function textOf (data) {
  try {
    return JSON.parse(data.toString()).text
  } catch {
    return undefined
  }
}

// The app does not know where it is mounted: req.url begins below the prefix.
const adapter = createAdapter(app, { stripPrefix: true })
attach(chat, adapter, prefix)
adapter.server.on('error', (error) => {
  console.error(error.message)
  process.exitCode = 1
})
adapter.listen(prefix, () => console.log(`Listening on ${prefix}, rooms such as http://localhost:${port}/${number}/lobby`))

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    rooms.close()
    adapter.server.close()
    setTimeout(() => {
      for (const socket of chat.clients) socket.terminate()
      adapter.server.closeAllConnections()
    }, kGraceMs).unref()
  })
}
