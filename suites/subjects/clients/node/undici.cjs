// undici: request() through a RetryAgent around an Agent.
'use strict'
const { load, baseUrl, ca, options, read, serve } = require('./lines.cjs')
const { Agent, RetryAgent, request } = load('undici')

const agent = new Agent({
  connect: { timeout: options.connect_ms, ...(baseUrl.startsWith('https') ? { ca: ca() } : {}) },
  headersTimeout: options.read_ms,
  bodyTimeout: options.read_ms,
})
const dispatcher = new RetryAgent(agent, options.retry ?? {})

serve(async (operation) => {
  const asked = { method: 'POST', headers: operation.headers, body: operation.body, dispatcher }
  const answer = await request(baseUrl + operation.path, asked)
  return read(answer.statusCode, answer.headers, answer.body)
})
