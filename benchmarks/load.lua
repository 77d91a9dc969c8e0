-- The load wrk makes. The mode comes after "--" on its command line; the last line printed is JSON.
--
--   get                  GET of the path in wrk's URL
--   browser              GET / with 14 header lines as a browser sends them, 2 of them new in each request
--   pipelined <depth>    GET /, <depth> at a time
--   json <bytes>         POST / with a JSON body of about that size
--   upload <bytes>       POST / with a body of that size
--   prefixes <first> <last> <keep | close> <depth>
--                        GET /p<first>/ to GET /p<last>/ in turn, <depth> at a time, the connection kept or not.
--                        With a thread per connection each connection takes its turns by itself.
--   behind <path>        GET of that path as the first request of each thread, then of the path in wrk's URL

local kBrowserLines = table.concat({
  "Connection: keep-alive",
  'sec-ch-ua: "Not/A)Brand";v="8", "Chromium";v="126", "Google Chrome";v="126"',
  "sec-ch-ua-mobile: ?0",
  'sec-ch-ua-platform: "Linux"',
  "Upgrade-Insecure-Requests: 1",
  "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
  "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
  "Sec-Fetch-Site: same-origin",
  "Sec-Fetch-Mode: navigate",
  "Accept-Encoding: gzip, deflate, br",
  "Accept-Language: en-GB,en;q=0.9",
}, "\r\n")

local function use_browser_requests()
  local start = "GET / HTTP/1.1\r\nHost: " .. wrk.headers["Host"] .. "\r\n" .. kBrowserLines .. "\r\n"
  local count = 0
  function request()
    count = count + 1
    return start .. "Cookie: theme=dark; session=8f14e45fceea167a5a36dedd4bea" .. count ..
      "\r\nX-Request-Id: 6b1f7a52-" .. count .. "\r\n\r\n"
  end
end

local function use_pipelined_requests(depth)
  local batch = string.rep(wrk.format("GET", "/"), depth)
  function request()
    return batch
  end
end

local function use_body(bytes, type, content)
  wrk.method = "POST"
  wrk.headers["Content-Type"] = type
  wrk.body = content
end

local function use_prefixes(first, last, connection, depth)
  if connection == "close" then
    wrk.headers["Connection"] = "close"
  end
  local count = last - first + 1
  local batches = {}
  for i = 0, count - 1 do
    local batch = {}
    for k = 0, depth - 1 do
      batch[k + 1] = wrk.format("GET", "/p" .. first + (i + k) % count .. "/")
    end
    batches[i] = table.concat(batch)
  end
  local turn = (number_of_thread or 0) % count
  function request()
    turn = (turn + 1) % count
    return batches[turn]
  end
end

local function use_path_behind(first)
  local is_first = true
  local path = wrk.path
  function request()
    local asked = is_first and first or path
    is_first = false
    return wrk.format("GET", asked)
  end
end

local threads = 0

function setup(thread)
  thread:set("number_of_thread", threads)
  threads = threads + 1
end

function init(args)
  local mode, number = args[1], tonumber(args[2])
  if mode == "browser" then
    use_browser_requests()
  elseif mode == "pipelined" then
    use_pipelined_requests(number)
  elseif mode == "json" then
    use_body(number, "application/json", '{"id":42,"name":"a name","tags":["one","two"],"text":"' ..
      string.rep("lorem ", math.floor((number - 60) / 6)) .. '"}')
  elseif mode == "upload" then
    use_body(number, "application/octet-stream", string.rep("0123456789abcdef", number / 16))
  elseif mode == "prefixes" then
    use_prefixes(number, tonumber(args[3]), args[4], tonumber(args[5]))
  elseif mode == "behind" then
    use_path_behind(args[2])
  elseif mode ~= "get" then
    error("unknown mode " .. tostring(mode))
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'JSON {"requests":%d,"seconds":%.6f,"bytes":%d,"latency":{"p50":%d,"p99":%d,"max":%d},' ..
      '"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50), latency:percentile(99), latency.max,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
