export default async function handler (req, res) {
  res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-transform' })
  res.write('data: 1\n\n')
  await new Promise((resolve) => setImmediate(resolve))
  res.end('data: 2\n\n')
}
