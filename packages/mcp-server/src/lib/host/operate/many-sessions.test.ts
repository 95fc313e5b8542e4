import { queryObjects } from 'node:v8'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { Pool } from 'undici'
import { expect, it, onTestFinished } from 'vitest'
import { createTestHost, INITIALIZE, serve } from '../../fixtures/testbed.fixture.ts'

const SESSIONS = 400
const IN_FLIGHT = 32

it('keeps no object of an MCP SDK for a session, after hundreds of them have played over HTTP (invariant 6)', async () => {
  const { host } = createTestHost({ bounds: { sessions: SESSIONS } })
  const server = await serve(host, { limits: { rate: { calls: SESSIONS, seconds: 600 } } })
  const pool = new Pool(new URL(server.agentUrl).origin, { connections: IN_FLIGHT })
  onTestFinished(() => pool.destroy())
  const post = async (headers: object, method: string, params: object) => {
    const answer = await pool.request({
      path: '/mcp',
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return { id: answer.headers['mcp-session-id'], status: answer.statusCode, text: await answer.body.text() }
  }
  expect(countWithWitness()).toBe(1)

  let left = SESSIONS
  let played = 0
  const play = async () => {
    while (left-- > 0) {
      const { id } = await post({}, 'initialize', INITIALIZE)
      const params = { name: 'guess', arguments: { value: 1 } }
      const { status, text } = await post({ 'mcp-session-id': id }, 'tools/call', params)
      if (status === 200 && text.includes('"hint"')) played++
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, play))
  expect(played).toBe(SESSIONS)
  expect((await host.list({ limit: 1 })).total).toBe(SESSIONS)

  await expect.poll(count, { timeout: 60_000 }).toBe(0)
}, 300_000)

/** How many servers of the SDK can still be reached. Collects garbage first. */
function count(): number {
  return queryObjects(Server, { format: 'count' })
}

/** The same with one that is there, to show that the count sees it. */
function countWithWitness(): number {
  const witness = new Server({ name: 'witness', version: '1.0.0' })
  return count() + (witness instanceof Server ? 0 : 1)
}
