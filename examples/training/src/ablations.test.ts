import { environment as frozenLake } from '@episodic/classics/frozen-lake'
import { type Connection, connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { learnTasks } from './tabular/learn-tasks.ts'
import { learnWithCredit } from './tabular/learn-with-credit.ts'
import { hallway } from './worlds/hallway.ts'

async function withWorlds<Result>(play: (connection: Connection) => Promise<Result>): Promise<Result> {
  await using host = createHost({ environments: [hallway, frozenLake], bounds: { sessions: 4_096 } })
  await using connection = await connect(inProcess(host))
  return await play(connection)
}

describe('learnTasks', () => {
  it.each(['uniform', 'adaptive'] as const)('gives the same for the same seed, with %s draws', async (drawing) => {
    const asked = { drawing, seed: 'quick', mostEpisodes: 64 }
    const [one, again] = await withWorlds((connection) =>
      Promise.all([learnTasks(connection, asked), learnTasks(connection, asked)]),
    )
    expect(again).toEqual(one)
    expect(one).toMatchObject({ drawing, episodes: null })
    expect(one.steps).toBeGreaterThanOrEqual(64)
  })
})

describe('learnWithCredit', () => {
  it.each(['group', 'trees', 'states'] as const)(
    'gives the same for the same seed, with credit of %s',
    async (credit) => {
      const asked = { credit, seed: 'quick', mostEpisodes: 32 }
      const [one, again] = await withWorlds((connection) =>
        Promise.all([learnWithCredit(connection, asked), learnWithCredit(connection, asked)]),
      )
      expect(again).toEqual(one)
      expect(one).toMatchObject({ credit, episodes: null, forkedSteps: 0 })
    },
  )

  it('gives the same for the same seed, and counts the steps of forks apart', async () => {
    const asked = { seed: 'quick', mostEpisodes: 16 }
    const [returns, forks, again] = await withWorlds((connection) =>
      Promise.all([
        learnWithCredit(connection, { credit: 'returns', ...asked }),
        learnWithCredit(connection, { credit: 'forks', ...asked }),
        learnWithCredit(connection, { credit: 'forks', ...asked }),
      ]),
    )
    expect(again).toEqual(forks)
    // Nothing was learned before the first batch, so both played the same episodes.
    expect(forks.steps).toBe(returns.steps)
    expect(returns.forkedSteps).toBe(0)
    expect(forks.forkedSteps).toBeGreaterThan(forks.steps)
  })
})
