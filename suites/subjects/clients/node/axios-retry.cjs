// axios with axios-retry: axiosRetry(client) with its own condition, or with one that takes every error.
'use strict'
const { load, baseUrl, ca, options, response, read, serve } = require('./lines.cjs')
const axios = load('axios')
const axiosRetry = load('axios-retry').default

const client = axios.create({
  timeout: options.timeout_ms,
  responseType: 'arraybuffer',
  proxy: false,
  httpAgent: new (require('node:http').Agent)({ keepAlive: true }),
  httpsAgent: new (require('node:https').Agent)({
    keepAlive: true,
    ...(baseUrl.startsWith('https') ? { ca: ca() } : {}),
  }),
})
const conditions = { every: () => true }
axiosRetry(client, {
  ...(options.retries === undefined ? {} : { retries: options.retries }),
  ...(options.reset_timeout ? { shouldResetTimeout: true } : {}),
  ...(options.condition ? { retryCondition: conditions[options.condition] } : {}),
})

serve(async (operation) => {
  const asked = { headers: operation.headers, ...(operation.stream ? { responseType: 'stream' } : {}) }
  try {
    const answer = await client.post(baseUrl + operation.path, operation.body, asked)
    return await held(answer, operation.stream)
  } catch (error) {
    // Of an answer that is no success axios makes an error, which carries it.
    if (!error.response) throw error
    return await held(error.response, operation.stream)
  }
})

async function held(answer, stream) {
  if (stream) return read(answer.status, answer.headers, answer.data)
  return response(answer.status, answer.headers, answer.data)
}
