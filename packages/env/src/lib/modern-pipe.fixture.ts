import { createInterface } from 'node:readline'
import { MODERN_VERSION } from '@episodic/protocol'

// A server of the modern era on its pipes, which knows nothing of a handshake. It says what it was asked, asks before it
// answers `ask`, never answers `wait`, and says then what was called off.

const say = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const calledOff: unknown[] = []

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line)
  const done = (result: object) => say({ id, result: { resultType: 'complete', ...result } })
  const question = { method: 'elicitation/create', params: { message: 'Name?', requestedSchema: formSchema() } }
  if (method === 'server/discover') done({ supportedVersions: [MODERN_VERSION], capabilities: {} })
  else if (method === 'initialize') process.exit(1)
  else if (method === 'notifications/cancelled') calledOff.push(params.requestId)
  else if (params.name === 'calls-off') done({ calledOff })
  else if (params.name === 'die') process.exit(0)
  else if (params.name === 'ask' && !params.inputResponses)
    say({ id, result: { resultType: 'input_required', inputRequests: { name: question }, requestState: 'as it came' } })
  else if (params.name !== 'wait') {
    say({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } })
    done({ asked: params })
  }
}

function formSchema() {
  return {
    type: 'object',
    properties: { name: { type: 'string', default: 'nobody' }, age: { type: 'integer' } },
  }
}
