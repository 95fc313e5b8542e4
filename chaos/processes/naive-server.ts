import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { environment } from '@episodic/classics/frozen-lake'
import { connect, type Environment, withShaping } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'

// A server of the usual kind, to compare with: `node naive-server.ts <port>`. It plays the same rules, keeps its
// sessions in memory, and applies every request that it receives. So a step whose reply was lost is applied again by a
// retry, and a crash loses every session.

/** Γ of the shaping, which is the learner's. */
const DISCOUNT = 0.99

interface Asked {
  readonly method: 'reset' | 'step'
  readonly session: string
  readonly seed?: string
  readonly action?: Parameters<Environment['step']>[0]
}

const host = createHost({ environments: [environment], bounds: { sessions: 10_000 } })
const connection = await connect(inProcess(host))
const sessions = new Map<string, Environment>()

async function answer({ method, session, seed, action }: Asked): Promise<unknown> {
  if (method === 'reset') {
    const opened = withShaping(connection.environment(), { discount: DISCOUNT })
    sessions.set(session, opened)
    return opened.reset({ params: { map: '4x4', slippery: true }, ...(seed !== undefined && { seed }) })
  }
  const opened = sessions.get(session)
  if (!opened || !action) throw new Error(`There is no session ${session}.`)
  const step = await opened.step(action)
  if (step.end) sessions.delete(session)
  return step
}

const server = createServer(async (request, response) => {
  try {
    const result = await answer((await json(request)) as Asked)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result))
  } catch (error) {
    response.writeHead(500).end(String(error))
  }
})
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') console.log(address?.port)
})
