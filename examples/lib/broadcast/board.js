'use strict'

// Strokes from this window and from all others. Coordinates are parts of the board, whatever its size.

/* global document, location, WebSocket */

const kColours = ['#e11d48', '#ea580c', '#ca8a04', '#16a34a', '#0891b2', '#2563eb', '#9333ea']
const colour = kColours[Math.floor(Math.random() * kColours.length)]
const canvas = document.querySelector('canvas')
const state = document.getElementById('state')
const strokes = []
let socket

function connect () {
  socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/board`)
  socket.onopen = () => { state.textContent = 'connected' }
  socket.onclose = () => {
    state.textContent = 'not connected, trying again …'
    setTimeout(connect, 1000)
  }
  socket.onmessage = ({ data }) => draw(JSON.parse(data))
}

function draw (stroke, isNew = true) {
  if (isNew) strokes.push(stroke)
  const [colour, ...at] = stroke
  const [x, y, toX, toY] = at.map((part, i) => part * (i % 2 === 0 ? canvas.width : canvas.height))
  const context = canvas.getContext('2d')
  context.strokeStyle = colour
  context.lineWidth = 4 * globalThis.devicePixelRatio
  context.lineCap = 'round'
  context.beginPath()
  context.moveTo(x, y)
  context.lineTo(toX, toY)
  context.stroke()
}

function fit () {
  canvas.width = canvas.clientWidth * globalThis.devicePixelRatio
  canvas.height = canvas.clientHeight * globalThis.devicePixelRatio
  for (const stroke of strokes) draw(stroke, false)
}

let last = null
const place = (event) => [event.offsetX / canvas.clientWidth, event.offsetY / canvas.clientHeight].map((part) => Number(part.toFixed(4)))

canvas.addEventListener('pointerdown', (event) => {
  canvas.setPointerCapture(event.pointerId)
  last = place(event)
})
canvas.addEventListener('pointermove', (event) => {
  if (last === null) return
  const next = place(event)
  const stroke = [colour, ...last, ...next]
  last = next
  draw(stroke)
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(stroke))
})
canvas.addEventListener('pointerup', () => { last = null })
globalThis.addEventListener('resize', fit)
fit()
connect()
