import { beforeAll, describe, expect, it } from 'vitest'
import { AGENT_CLIENTS } from './agent-clients.ts'
import { compareClient } from './compare-client.ts'
import { NEMO_GYM_REQUESTS } from './nemo-gym-client.ts'
import { PARITY_WORLDS } from './parity-world.ts'
import { playReferences, type Reference } from './reference.ts'
import { TRAINER_CLIENTS } from './trainer-clients.ts'

/** One of each way of playing. */
const EPISODES = 6

describe('the clients in TypeScript', () => {
  let references: readonly Reference[] = []

  beforeAll(async () => {
    references = (await Promise.all(PARITY_WORLDS.map((world) => playReferences(world, EPISODES)))).flat()
  })

  it.each([...TRAINER_CLIENTS, ...AGENT_CLIENTS, NEMO_GYM_REQUESTS])(
    'play every world as in process: $title',
    async (client) => {
      const comparisons = await compareClient(client, references)
      expect(comparisons.filter(({ first }) => first)).toEqual([])
      expect(comparisons.map(({ equal }) => equal)).toEqual(PARITY_WORLDS.map(() => EPISODES))
    },
  )
})
