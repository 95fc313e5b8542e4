import { createHost, defineEnvironment } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { METHODS } from '@episodic/protocol'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { openMultiplexedChannel } from './multiplexed-channel.ts'
import { openWebSocketWire, PROTOCOL } from './websocket-wire.ts'

const counter = defineEnvironment({
  name: 'counter',
  version: '1.0.0',
  description: 'Counts.',
  params: z.object({}),
  state: { public: z.object({ count: z.int() }), private: z.object({}) },
  start: () => ({ public: { count: 0 }, private: {} }),
  observe: ({ count }) => String(count),
  tools: ({ tool }) => ({
    look: tool({ description: 'Look.', input: z.object({}), play: ({ say }) => say('Nothing.') }),
  }),
  rewards: {},
})

it('opens a WebSocket as a page has it, with a token of any kind', async () => {
  const token = 'made/of+odd~characters=='
  await using server = await serveHttp(createHost({ environments: [counter] }), { auth: { controlToken: token } })
  const url = server.trainerUrl.replace(/^http/, 'ws')
  const options = { name: url }
  const channel = await openMultiplexedChannel(openWebSocketWire(url, token, PROTOCOL), options)
  for (let i = 0; i < 3; i++) expect(await channel.request(METHODS.list, {})).toMatchObject({ environments: [counter] })
  await channel.close()
  const refused = openMultiplexedChannel(openWebSocketWire(url, 'wrong', PROTOCOL), options)
  await expect(refused).rejects.toMatchObject({ code: 'lost' })
})
