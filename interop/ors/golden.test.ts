import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'undici'
import { describe, expect, it } from 'vitest'
import type { Exchange } from '../exchange-proxy.ts'
import { serveTasks, TOKEN } from './serve-tasks.ts'
import { idIn } from './session-id.ts'

const GOLDEN = new URL('./golden/', import.meta.url)

describe('the exchanges of the clients in Python', () => {
  it.each(readdirSync(GOLDEN))('are answered as they were recorded: %s', async (file) => {
    await using served = await serveTasks('steps')
    const exchanges = readFileSync(new URL(file, GOLDEN), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Exchange)
    expect(exchanges.length).toBeGreaterThan(10)
    const sessions = new Map<string, string>()
    for (const { method, path, sessionId, body, status, type, answer } of exchanges) {
      const {
        statusCode,
        headers,
        body: stream,
      } = await request(`${served.origin}${path}`, {
        method: method as 'GET' | 'POST',
        headers: {
          'content-type': 'application/json',
          'x-api-key': TOKEN,
          ...(sessionId && { 'x-session-id': sessions.get(sessionId) ?? sessionId }),
        },
        ...(method === 'POST' && { body }),
      })
      let text = await stream.text()
      if (path === '/create_session') sessions.set(idIn(answer), idIn(text))
      for (const [name, id] of sessions) text = text.replaceAll(id, name)
      expect({ path, status: statusCode, type: headers['content-type'], answer: text }).toEqual({
        path,
        status,
        type,
        answer,
      })
    }
  })
})
