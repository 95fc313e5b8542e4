import { describe, expect, it } from 'vitest'
import { AGENT_CLIENTS } from './agent-clients.ts'
import { compareClient } from './compare-client.ts'
import { PARITY_WORLDS } from './parity-world.ts'
import { playReferences } from './reference.ts'
import { TRAINER_CLIENTS } from './trainer-clients.ts'

/** One of each way of playing. */
const EPISODES = 6

describe('the clients in TypeScript', () => {
  it.each([...TRAINER_CLIENTS, ...AGENT_CLIENTS])('play every world as in process: $title', async (client) => {
    const references = (await Promise.all(PARITY_WORLDS.map((world) => playReferences(world, EPISODES)))).flat()
    const comparisons = await compareClient(client, references)
    expect(comparisons.filter(({ first }) => first)).toEqual([])
    expect(comparisons.map(({ equal }) => equal)).toEqual(PARITY_WORLDS.map(() => EPISODES))
  })
})
