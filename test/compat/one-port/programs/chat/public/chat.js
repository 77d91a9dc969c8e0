'use strict'

/* global io */
const socket = io()
const input = document.getElementById('input')
document.getElementById('form').addEventListener('submit', (event) => {
  event.preventDefault()
  socket.emit('chat message', input.value)
  input.value = ''
})
socket.on('chat message', (text) => {
  const item = document.createElement('li')
  item.textContent = text
  document.getElementById('messages').append(item)
})
