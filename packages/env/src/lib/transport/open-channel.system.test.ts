import { METHODS } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { ENDPOINTS, externalCommand } from '../fixtures/endpoints.fixture.ts'
import { openChannel } from './open-channel.ts'

type Overheard = { readonly direction: 'sent' | 'received'; readonly message: { readonly method?: string } }

describe('openChannel', () => {
  it('connects to any MCP server', async () => {
    const channel = await openChannel(externalCommand('everything'))
    expect(await channel.request('tools/call', { name: 'echo', arguments: { message: 'Hello' } })).toMatchObject({
      content: [{ type: 'text', text: 'Echo: Hello' }],
    })
    await channel.close()
    await channel.close()
  })

  it.each(['http', 'stdio'])('passes every message to onMessage: %s', async (name) => {
    await using endpoint = await (ENDPOINTS[name] as (typeof ENDPOINTS)[string])()
    const overheard: Overheard[] = []
    const onMessage = (direction: Overheard['direction'], message: unknown) =>
      overheard.push({ direction, message: message as Overheard['message'] })
    const channel = await openChannel(endpoint.target, { onMessage })
    const result = await channel.request(METHODS.list, {})
    await channel.close()
    const sent = overheard.filter(({ direction }) => direction === 'sent').map(({ message }) => message.method)
    expect(sent).toEqual(['server/discover', METHODS.list])
    expect(overheard.at(-1)).toMatchObject({ direction: 'received', message: { result } })
  })

  it('performs the handshake with a session-based server over a pipe', async () => {
    const sent: unknown[] = []
    const onMessage = (direction: string, message: unknown) =>
      direction === 'sent' && sent.push((message as Overheard['message']).method)
    const channel = await openChannel(externalCommand('memory'), { onMessage })
    await channel.request('tools/list', {})
    await channel.close()
    expect(sent).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])
  })

  it('rejects calls after it is closed', async () => {
    const channel = await openChannel(externalCommand('everything'))
    await channel.close()
    await expect(channel.request('tools/list', {})).rejects.toMatchObject({ code: 'connection-failed' })
  })
})
