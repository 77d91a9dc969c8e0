'use strict'

// Sends the requests of index.html. All addresses are relative, so the page works behind any URL prefix.

/* global document, fetch, FormData, location, performance, TextDecoderStream, URLSearchParams */

const status = document.getElementById('status')
const body = document.getElementById('body')
document.getElementById('base').textContent = new URL('.', location.href).href

async function ask (button, url, options) {
  button.disabled = true
  body.textContent = ''
  status.textContent = '…'
  const began = performance.now()
  try {
    const response = await fetch(url, options)
    status.textContent = `${response.status} ${response.statusText}`
    for await (const text of chunks(response)) {
      body.textContent += text
      body.scrollTop = body.scrollHeight
    }
    if (response.headers.get('content-type')?.startsWith('application/json')) {
      body.textContent = JSON.stringify(JSON.parse(body.textContent), null, 2)
    }
    status.textContent += ` · ${Math.round(performance.now() - began)} ms`
  } catch (error) {
    status.textContent = String(error)
  } finally {
    button.disabled = false
  }
}

async function * chunks (response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
}

for (const button of document.querySelectorAll('[data-get], [data-stream]')) {
  button.addEventListener('click', () => ask(button, button.dataset.get ?? button.dataset.stream))
}

document.getElementById('form').addEventListener('submit', (event) => {
  event.preventDefault()
  const fields = new URLSearchParams(new FormData(event.target))
  const asJson = event.submitter?.value === 'json'
  ask(event.submitter, event.target.action, asJson
    ? { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(Object.fromEntries(fields)) }
    : { method: 'POST', body: fields })
})

document.getElementById('upload').addEventListener('submit', (event) => {
  event.preventDefault()
  ask(event.submitter, event.target.action, { method: 'POST', body: new FormData(event.target) })
})
