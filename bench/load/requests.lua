-- Asks what a file lists, in turn, and counts what came back. Arguments: the file, and the milliseconds before each request.
-- A line of the file is `key METHOD path`, or `key METHOD path body`.
requests = {}
statuses = {}
unadvised = 0
unlabelled = 0
oddity = ""
threads = {}
local at = 0
local pause = 0

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  pause = tonumber(args[2])
  for line in io.lines(args[1]) do
    local key, method, path, body = line:match("^(%S+) (%S+) (%S+) ?(.*)$")
    local headers = { ["X-API-Key"] = key }
    if body ~= "" then headers["Content-Type"] = "application/json" end
    table.insert(requests, wrk.format(method, path, headers, body ~= "" and body or nil))
  end
end

-- Half to one and a half times the pause, so that connections that began together do not stay together.
function delay()
  return pause == 0 and 0 or math.floor(pause * (0.5 + math.random()))
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function response(status, headers, body)
  statuses[status] = (statuses[status] or 0) + 1
  if status == 200 then return end
  if oddity == "" and status ~= 429 and status ~= 503 then oddity = body:sub(1, 500) end
  if (status == 429 or status == 503) and headers["retry-after"] == nil then unadvised = unadvised + 1 end
  if headers["content-type"] ~= "application/problem+json; charset=utf-8" and headers["content-type"] ~= "application/problem+json" then
    unlabelled = unlabelled + 1
  end
end

function done(summary, latency)
  local counted = {}
  local withoutAdvice, withoutLabel = 0, 0
  local odd = ""
  for _, thread in ipairs(threads) do
    for status, count in pairs(thread:get("statuses")) do counted[status] = (counted[status] or 0) + count end
    withoutAdvice = withoutAdvice + thread:get("unadvised")
    withoutLabel = withoutLabel + thread:get("unlabelled")
    odd = thread:get("oddity")
  end
  local parts = {}
  for status, count in pairs(counted) do table.insert(parts, string.format('"%d":%d', status, count)) end
  local errors = summary.errors
  if odd ~= "" then print("odd: " .. odd) end
  print(string.format(
    '{"statuses":{%s},"withoutRetryAfter":%d,"withoutProblem":%d,"ms":%d,"broken":%d,"timeouts":%d,"p50Ms":%.3f,"p99Ms":%.3f,"maxMs":%.3f}',
    table.concat(parts, ","), withoutAdvice, withoutLabel, summary.duration / 1000,
    errors.connect + errors.read + errors.write, errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end
