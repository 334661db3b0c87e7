-- Asks what a file lists, in turn, and counts what came back. Arguments: the file, and the milliseconds before each request.
-- A line of the file is `key METHOD path`, or `key METHOD path body`.
requests, statuses, threads = {}, {}, {}
unadvised, unlabelled, oddity = 0, 0, ""
local at, pause = 0, 0
local PROBLEM = "^application/problem%+json"

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
  local isShed = status == 429 or status == 503
  if oddity == "" and not isShed then oddity = body:sub(1, 500) end
  if isShed and headers["retry-after"] == nil then unadvised = unadvised + 1 end
  if not (headers["content-type"] or ""):match(PROBLEM) then unlabelled = unlabelled + 1 end
end

-- wrk runs with one thread.
function done(summary, latency)
  local thread, errors = threads[1], summary.errors
  local parts = {}
  for status, count in pairs(thread:get("statuses")) do table.insert(parts, string.format('"%d":%d', status, count)) end
  if thread:get("oddity") ~= "" then print("odd: " .. thread:get("oddity")) end
  print(string.format(
    '{"statuses":{%s},"withoutRetryAfter":%d,"withoutProblem":%d,"ms":%d,"broken":%d,"timeouts":%d,"p50Ms":%.3f,"p99Ms":%.3f}',
    table.concat(parts, ","), thread:get("unadvised"), thread:get("unlabelled"), summary.duration / 1000,
    errors.connect + errors.read + errors.write, errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
