import { createInterface } from 'node:readline'
import { MODERN_VERSION } from '@episodic/protocol'

// A server on its pipes that asks before it answers a call, as often as the call says: `{ times }`, and without an end where
// that is left out. `--legacy` makes it one of the era before 2026, which asks by requests of its own.

const legacy = process.argv.includes('--legacy')
const say = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const question = {
  method: 'elicitation/create',
  params: { message: 'Once more?', requestedSchema: { type: 'object', properties: {} } },
}
/** Of the one call that waits: its id, and how often it is to be asked. */
let waiting: { id: unknown; times: number } = { id: null, times: 0 }
let asked = 0

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {}, error } = JSON.parse(line)
  const answer = (result: object) => say({ id, result: { resultType: 'complete', ...result } })
  const times = params.arguments?.times ?? Number.POSITIVE_INFINITY
  // A client that refuses a question still gets an answer, so that a client without a bound can be told from one with, and no test hangs.
  if (error) waiting.times = asked
  if (method === undefined) askOrAnswer()
  else if (method === 'server/discover')
    if (legacy) say({ id, error: { code: -32601, message: 'Method not found' } })
    else answer({ supportedVersions: [MODERN_VERSION], capabilities: {} })
  else if (method === 'initialize')
    answer({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'asking', version: '1' } })
  else if (method === 'tools/call' && legacy) {
    waiting = { id, times }
    asked = 0
    askOrAnswer()
  } else if (method === 'tools/call') {
    const round = Number(params.requestState ?? 0)
    const inputRequests = Object.fromEntries(
      Array.from({ length: params.arguments?.abreast ?? 1 }, (_, n) => [n, question]),
    )
    if (round >= times) answer({ content: [{ type: 'text', text: `Asked ${round} times.` }] })
    else say({ id, result: { resultType: 'input_required', inputRequests, requestState: String(round + 1) } })
  }
}

function askOrAnswer(): void {
  if (asked >= waiting.times)
    say({ id: waiting.id, result: { content: [{ type: 'text', text: `Asked ${asked} times.` }] } })
  else say({ id: `question ${asked++}`, ...question })
}
