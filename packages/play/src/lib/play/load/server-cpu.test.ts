import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { readServerCpu } from './server-cpu.ts'

it('stops waiting for a server that does not answer when the signal aborts', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const giveUp = new AbortController()
  const reading = readServerCpu(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/env`,
    undefined,
    giveUp.signal,
  )
  await once(server, 'request')
  giveUp.abort()
  expect(await reading).toBeNull()
})
