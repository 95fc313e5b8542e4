import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { STATE, servePlainWorlds } from '../fixtures/resource-readers.fixture.ts'

describe('the prompt of a world', () => {
  it('is its instructions, with what it shows and its tools', async () => {
    const { server } = await servePlainWorlds()
    const client = new Client({ name: 'x', version: '1' })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(server.agentUrl)) as Parameters<Client['connect']>[0],
    )
    onTestFinished(() => client.close())
    const { prompts } = await client.listPrompts()
    expect(prompts).toMatchObject([{ name: 'instructions' }])
    const { messages } = await client.getPrompt({ name: 'instructions' })
    expect(messages.map(({ content }) => (content as { text: string }).text).join()).toBe(
      `Count to ten.\n\nThe count is 0.\n\nThe tools:\n- add: Add to the count.\n\nThe state of the session can be read at any time, as the resource ${STATE}.`,
    )
    await expect(client.getPrompt({ name: 'nothing' })).rejects.toThrow(/-32602.*There is: instructions\./)
  })
})
