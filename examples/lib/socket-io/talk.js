'use strict'

// The browser's side of the socket.io chat.

/* global chat, document, io */

const socket = io({ auth: (use) => use({ name: chat.name }) })
const transport = document.getElementById('transport')

// The upgrade may be quicker than 'connect'.
socket.io.on('open', () => {
  const { engine } = socket.io
  transport.textContent = `by ${engine.transport.name}`
  engine.on('upgrade', ({ name }) => { transport.textContent = `by ${name}, after polling` })
})
socket.on('connect', () => chat.state('connected', true))
socket.on('disconnect', () => {
  chat.state('not connected, trying again …', false)
  chat.people([])
})
socket.on('message', chat.message)
socket.on('note', chat.note)
socket.on('people', chat.people)

chat.onSay((text) => {
  if (!socket.connected) return false
  socket.emit('say', text, ({ error }) => { if (error !== undefined) chat.note(error) })
  return true
}, () => socket.emit('rename', chat.name))
