import {
  StreamableHTTPClientTransport as ModernHttpTransport,
  Client as ModernSdkClient,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { STATE, servePlainWorlds, serveWorlds } from '../fixtures/resource-readers.fixture.ts'

describe('the prompt of a world', () => {
  it('is its instructions, or those of one tool, which a client can complete', async () => {
    const { server } = await servePlainWorlds()
    const client = new Client({ name: 'x', version: '1' })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(server.agentUrl)) as Parameters<Client['connect']>[0],
    )
    onTestFinished(() => client.close())
    const { prompts } = await client.listPrompts()
    expect(prompts).toMatchObject([{ name: 'instructions', arguments: [{ name: 'tool', required: false }] }])
    const instruct = async (args?: { tool: string }) => {
      const { messages } = await client.getPrompt({ name: 'instructions', ...(args && { arguments: args }) })
      return messages.map(({ content }) => (content as { text: string }).text).join()
    }
    expect(await instruct()).toBe(
      `Count to ten.\n\nThe count is 0.\n\nThe tools:\n- add: Add to the count.\n\nThe state of the session can be read at any time, as the resource ${STATE}.`,
    )
    expect(await instruct({ tool: 'add' })).toContain('"by":')
    await expect(instruct({ tool: 'nothing' })).rejects.toThrow(/-32602.*The tools are: add\./)
    await expect(client.getPrompt({ name: 'nothing' })).rejects.toThrow(/-32602.*There is: instructions\./)
    const complete = async (name: string, value: string, ref = { type: 'ref/prompt' as const, name: 'instructions' }) =>
      (await client.complete({ ref, argument: { name, value } })).completion.values
    expect(await complete('tool', '')).toEqual(['add'])
    expect(await complete('tool', 'ad')).toEqual(['add'])
    expect(await complete('tool', 'x')).toEqual([])
    expect(await complete('other', '')).toEqual([])
    await expect(complete('tool', '', { type: 'ref/prompt', name: 'nothing' })).rejects.toThrow(/-32602/)
  })

  it('never completes the name of a session', async () => {
    const { server } = await serveWorlds()
    const client = new ModernSdkClient({ name: 'x', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    onTestFinished(() => client.close())
    await client.connect(new ModernHttpTransport(new URL(server.agentUrl)))
    await client.callTool({ name: 'create_tally', arguments: {} })
    const ref = { type: 'ref/resource' as const, uri: 'episodic://session/{tally_id}/state' }
    const { completion } = await client.complete({ ref, argument: { name: 'tally_id', value: 'mcp_' } })
    expect(completion.values).toEqual([])
    expect(
      (
        await client.complete({
          ref: { type: 'ref/prompt', name: 'instructions' },
          argument: { name: 'tool', value: 'd' },
        })
      ).completion.values,
    ).toEqual(['destroy_tally'])
  })
})
