'use strict'

// The browser's side of the socket.io chat.

/* global chat, document, io */

const socket = io({ auth: (use) => use({ name: chat.name }) })
const transport = document.getElementById('transport')

socket.on('connect', () => {
  chat.state('connected', true)
  transport.textContent = `by ${socket.io.engine.transport.name}`
  socket.io.engine.on('upgrade', ({ name }) => { transport.textContent = `by ${name}, after polling` })
})
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
