// The adapters' side of the protocol in docs/add-a-subject.md, for clients in Node: operations in, outcomes out.
//
// Each adapter is told MODULES BASE_URL CA_FILE OPTIONS: the folder in which npm has installed, and OPTIONS as JSON.
'use strict'
const fs = require('node:fs')
const path = require('node:path')
const readline = require('node:readline')
const { createRequire } = require('node:module')

const [, , modules, baseUrl, caFile, given] = process.argv
const load = createRequire(path.join(modules, 'package.json'))
const options = JSON.parse(given ?? '{}')

function response(status, headers, body) {
  const kept = {}
  for (const name of ['content-type', 'content-encoding']) if (headers[name]) kept[name] = String(headers[name])
  return { status, headers: kept, body_base64: Buffer.from(body).toString('base64') }
}

function raised(error) {
  return { error: [error?.name, error?.code].filter(Boolean).join(' ') || typeof error, message: String(error?.message) }
}

// What had come of a body, and the error that ended it.
async function read(status, headers, pieces) {
  const came = []
  try {
    for await (const piece of pieces) came.push(piece)
    return response(status, headers, Buffer.concat(came))
  } catch (error) {
    return { ...response(status, headers, Buffer.concat(came)), ...raised(error) }
  }
}

function say(outcome) {
  fs.writeSync(1, JSON.stringify(outcome) + '\n')
}

function serve(call) {
  say({ ready: true })
  const lines = readline.createInterface({ input: process.stdin, crlfDelay: Infinity })
  lines.on('line', async (line) => {
    const operation = JSON.parse(line)
    let outcome
    try {
      outcome = await call(operation)
    } catch (error) {
      outcome = raised(error)
    }
    say({ id: operation.id, ...outcome })
  })
  lines.on('close', () => process.exit(0))
}

module.exports = { load, baseUrl, ca: () => fs.readFileSync(caFile), options, response, raised, read, serve }
