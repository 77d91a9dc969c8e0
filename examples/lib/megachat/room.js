'use strict'

// The browser's side of a room: a WebSocket at the address of the page itself.

/* global chat, document, location, WebSocket */

const kFirstWaitMs = 250
const kLongestWaitMs = 8000

const [, number, room] = location.pathname.split('/')
document.title = `#${room} · process ${number}`
document.querySelector('h1').textContent = `#${room}`

let socket
let waitMs = kFirstWaitMs
// Of which life of the room, and how much of it this page has shown: what it gets again after it was cut off.
let born = ''
let seen = 0

function open () {
  const query = new URLSearchParams({ name: chat.name, born, seen })
  socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}${location.pathname}?${query}`)
  socket.onmessage = ({ data }) => {
    const event = JSON.parse(data)
    events[event.type](event)
  }
  socket.onclose = ({ target }) => {
    if (target !== socket) return
    chat.state('not connected, trying again …', false)
    chat.people([])
    setTimeout(open, waitMs)
    waitMs = Math.min(waitMs * 2, kLongestWaitMs)
  }
}

const events = {
  hello (hello) {
    if (born !== '' && born !== hello.born) {
      chat.note('The process of this room was restarted; it has forgotten what was said.')
      seen = 0
    }
    born = hello.born
    waitMs = kFirstWaitMs
    document.getElementById('process').textContent = `process ${number}, with the id ${hello.process}`
    chat.state('connected', true)
  },
  message (message) {
    // While one WebSocket takes over from another, both may tell it.
    if (message.id <= seen) return
    seen = message.id
    chat.message(message)
  },
  people ({ names }) { chat.people(names) }
}

chat.onSay((text) => {
  if (socket.readyState !== WebSocket.OPEN) return false
  socket.send(JSON.stringify({ text }))
  return true
}, () => {
  // Another name is another person: in comes the new one, the old one goes.
  const old = socket
  open()
  old.close()
})
open()
