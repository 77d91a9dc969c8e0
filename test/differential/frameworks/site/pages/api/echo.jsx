export default function handler (req, res) {
  res.setHeader('X-Case', 'Kept')
  res.status(201).json({ method: req.method, query: req.query, cookies: req.cookies, body: req.body ?? null, ip: req.socket.remoteAddress })
}
