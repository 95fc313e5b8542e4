import { checkWorld } from '@episodic/check/check-world'
import { defineEnvironment, type EnvironmentDefinition } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

/** A world with a tool whose argument has neither a description nor a bound, and one to end the episode. */
function worldOf(madeOf: JsonObject | undefined): EnvironmentDefinition {
  return defineEnvironment({
    name: 'notes',
    version: '1.0.0',
    description: 'Take notes.',
    state: { public: z.object({}), private: z.object({}) },
    ...(madeOf && { madeOf }),
    start: () => ({ public: {}, private: {} }),
    observe: () => 'Take notes.',
    tools: ({ tool }) => ({
      note: tool({
        description: 'Note.',
        input: z.object({ texts: z.array(z.string()) }),
        play: ({ say }) => say('Noted.'),
      }),
      done: tool({
        description: 'End.',
        input: z.object({}),
        play({ end, say }) {
          end('done')
          return say('Done.')
        },
      }),
    }),
    rewards: { ended: ({ end }) => (end ? 1 : 0) },
  })
}

async function check(world: Parameters<typeof checkWorld>[0]) {
  const { checks } = await checkWorld(world, { only: ['hygiene'] })
  return checks[0]
}

describe('the check of hygiene', () => {
  it('counts what the schemas of an MCP server leave open in one line, and warns of those of the world', async () => {
    const own = await check({ environment: worldOf(undefined) })
    expect(own?.warnings.map(({ name }) => name)).toContain('argument-unbounded:note.texts')
    const ofServer = await check({ environment: worldOf({ tools: [] }) })
    expect(ofServer).toMatchObject({ outcome: 'passed', warnings: [] })
    expect(ofServer?.summary).toMatch(/the server leaves 3 parts of its schemas without a description or bound$/)
  })
})
