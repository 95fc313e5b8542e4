import { readdirSync, readFileSync } from 'node:fs'
import { createHost } from '@episodic/mcp-server'
import { serveNemoGym } from '@episodic/trainer-endpoints/nemo-gym'
import { describe, expect, it } from 'vitest'
import type { Exchange } from '../exchange-proxy.ts'
import { WORLDS } from '../worlds/world.ts'

const GOLDEN = new URL('./golden/', import.meta.url)
const HANDLE = /ctl_[\w-]+/g

describe('the exchanges of the agents in Python', () => {
  it.each(readdirSync(GOLDEN))('are answered as they were recorded: %s', async (file) => {
    await using host = createHost({ environments: WORLDS.map(({ environment }) => environment) })
    await using server = await serveNemoGym(host)
    const exchanges = readFileSync(new URL(file, GOLDEN), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Exchange)
    expect(exchanges.length).toBeGreaterThan(4)
    let handle = ''
    for (const { method, path, cookie, sessionId: _, body, ...recorded } of exchanges) {
      const response = await fetch(`${server.origin}${path}`, {
        method,
        headers: { 'content-type': 'application/json', cookie: cookie.replace(HANDLE, handle) },
        body,
      })
      const [setCookie = ''] = response.headers.getSetCookie()
      handle = setCookie.match(HANDLE)?.[0] ?? handle
      const { status, headers } = response
      const type = headers.get('content-type')
      const answered = { status, type, setCookie: setCookie.replace(HANDLE, 'ctl_handle') }
      expect({ path, ...answered, answer: await response.text() }).toEqual({ path, ...recorded })
    }
  })
})
