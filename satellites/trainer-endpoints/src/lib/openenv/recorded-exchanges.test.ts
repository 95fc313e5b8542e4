import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ask, connect, serveOpenEnv } from '../fixtures/serve-openenv.fixture.ts'

/** What a client of OpenEnv has sent to this server, and received. Recorded on 2026-11-22. */
interface Message {
  readonly client: string
  /** The number of the connection. */
  readonly connection: number
  readonly over: '/mcp' | '/ws' | '/ws?session_id'
  readonly sent: object
  /** `null` for the frame that closes the connection. */
  readonly received: object | null
}

const file = new URL('../fixtures/openenv-exchanges.jsonl', import.meta.url)
const recorded = readFileSync(file, 'utf8').trim().split('\n')
const byClient = Map.groupBy(
  recorded.map((line) => JSON.parse(line) as Message),
  ({ client }) => client,
)

describe('what clients of OpenEnv send', () => {
  it.each([...byClient])('is answered as it was when it was recorded: %s', async (_, messages) => {
    const { url } = await serveOpenEnv()
    const sockets = new Map<number, Awaited<ReturnType<typeof connect>>>()
    let sessionId = ''
    for (const { connection, over, sent, received } of messages) {
      const message = withSession(sent, sessionId)
      if (over === '/mcp') {
        const { json } = await ask(`${url}/mcp`, { body: message })
        sessionId = json.result.session_id ?? sessionId
        expect(withSession(json, '')).toEqual(withSession(received, ''))
        continue
      }
      const path = over === '/ws' ? over : `/ws?session_id=${sessionId}`
      const socket = sockets.get(connection) ?? (await connect(url, { path }))
      sockets.set(connection, socket)
      socket.send(message)
      if (received === null) expect(await socket.closed).toBe(1000)
      else expect(await socket.next()).toEqual(received)
    }
    expect(sessionId !== '').toBe(messages.some(({ over }) => over === '/mcp'))
  })
})

/** The same message with another session id, where it has one. */
function withSession(message: unknown, id: string): unknown {
  return JSON.parse(JSON.stringify(message).replace(/"session_id":"[^"]*"/g, `"session_id":"${id}"`))
}
