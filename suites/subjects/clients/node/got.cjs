// got: got.post() with its own retries, or those of its options.
'use strict'
const { load, baseUrl, ca, options, response, read, serve } = require('./lines.cjs')
const got = load('got').got

const client = got.extend({
  timeout: { connect: options.connect_ms, secureConnect: options.connect_ms, socket: options.read_ms },
  https: baseUrl.startsWith('https') ? { certificateAuthority: ca() } : {},
  agent: {
    http: new (require('node:http').Agent)({ keepAlive: true }),
    https: new (require('node:https').Agent)({ keepAlive: true }),
  },
  ...(options.retry ? { retry: options.retry } : {}),
})

serve(async (operation) => {
  const asked = { body: operation.body, headers: operation.headers }
  if (operation.stream) return streamed(client.stream.post(baseUrl + operation.path, asked))
  try {
    const answer = await client.post(baseUrl + operation.path, { ...asked, responseType: 'buffer' })
    return response(answer.statusCode, answer.headers, answer.rawBody)
  } catch (error) {
    // An HTTPError carries its response: its caller has it in its hand.
    if (error.name !== 'HTTPError') throw error
    return response(error.response.statusCode, error.response.headers, error.response.rawBody)
  }
})

async function streamed(stream) {
  const answer = await new Promise((resolve, reject) => stream.once('response', resolve).once('error', reject))
  return read(answer.statusCode, answer.headers, stream)
}
