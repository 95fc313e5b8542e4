/**
 * The least that a client of ours can play against: a bare `node:http` server that answers the handshake, opens
 * anything and counts steps. What is measured against it is the client. `/floor` answers with as many bytes and keeps
 * nothing.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EXTENSION, META, METHODS, type OpenResult } from '@episodic/protocol'

const tool = { name: 'add', description: 'Add a number.', inputSchema: { type: 'object' }, outputSchema: null }
const limits = { steps: 1_000_000_000, seconds: null, bytes: 1_048_576 }
const environment = { name: 'counter', version: '1.0.0' }
const info = {
  ...environment,
  description: 'Counts.',
  paramsSchema: { type: 'object' },
  tools: [tool],
  terms: ['cost'],
  potential: false,
  limits,
  forkable: false,
}
const seqs = new Map<string, number>()

function open(): OpenResult {
  const id = `${seqs.size}`.padStart(22, '0')
  seqs.set(id, 0)
  const observation = { text: 'The total is 0.', structured: { total: 0 } }
  const seats = { agent: { capability: `cap_${id}`, observation, seq: 0 } }
  return { id, session: id, epoch: 1, environment, params: {}, seed: 'seed', limits, seats, potential: null }
}

/** The answer of a step: what the counter world says, with its report. */
function step(session: string) {
  const seq = (seqs.get(session) ?? 0) + 1
  seqs.set(session, seq)
  const stateHash = 'd41d8cd98f00b204e9800998ecf8427e'
  const report = { seq, revision: seq, terms: { cost: -0.01 }, potential: null, end: null, refused: null, stateHash }
  return {
    content: [{ type: 'text', text: `Added ${seq % 7}.\nThe total is ${seq}.` }],
    structuredContent: { note: 'a short note', total: seq },
    _meta: { [META.step]: report },
  }
}

function answer(method: string, params: { _meta?: Record<string, string>; protocolVersion?: string }): unknown {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {}, extensions: { [EXTENSION]: {} } },
        serverInfo: { name: 'reply', version: '1.0.0' },
      }
    case 'tools/list':
      return { tools: [{ ...tool, outputSchema: undefined }] }
    case METHODS.list:
      return { environments: [info] }
    case METHODS.open:
      return open()
    case METHODS.close:
      return { end: { kind: 'truncated', reason: 'closed' } }
    default:
      return step(params._meta?.[META.session] ?? 'floor')
  }
}

const server = createServer((request, response) => {
  if (request.method !== 'POST') return void response.writeHead(405).end()
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    if (id === undefined) return void response.writeHead(202).end()
    const text = JSON.stringify({ jsonrpc: '2.0', id, result: answer(method, params ?? {}) })
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text)
  })
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit())
