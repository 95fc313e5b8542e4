import { describe, expect, it } from 'vitest'
import { compareClient } from './compare-client.ts'
import type { ParityClient, ParityPlayer } from './parity-client.ts'
import { PARITY_WORLDS, type ParityWorld } from './parity-world.ts'
import { playReferences } from './reference.ts'
import { TRAINER_CLIENTS } from './trainer-clients.ts'

const WORLD = PARITY_WORLDS.find(({ name }) => name === 'number-guessing') as ParityWorld
const IN_PROCESS = TRAINER_CLIENTS.find(({ name }) => name === 'in-process') as ParityClient
const references = await playReferences(WORLD, 60)

/** The client in process, with a fault in how it plays. */
function faulty(fault: (player: ParityPlayer) => ParityPlayer['play']): ParityClient {
  return {
    ...IN_PROCESS,
    async open(host, scripts) {
      const player = await IN_PROCESS.open(host, scripts)
      return { play: fault(player), [Symbol.asyncDispose]: () => player[Symbol.asyncDispose]() }
    },
  }
}

describe('compareClient', () => {
  it('finds a reward that the client shows differently', async () => {
    const client = faulty((player) => async (script) => {
      const { steps, ...seen } = await player.play(script)
      if (script.index !== 6) return { ...seen, steps }
      return { ...seen, steps: steps.map((step, i) => (i === 1 ? { ...step, terms: { solved: 0, cost: 0 } } : step)) }
    })
    const [comparison] = await compareClient(client, references)
    expect(comparison).toMatchObject({ episodes: 60, equal: 59, different: 1 })
    expect(comparison?.first).toEqual({ episode: 6, where: 'seen.steps.1.terms.cost', got: 0, wanted: -0.01 })
  })

  it('finds arguments that were changed on the way, where the answer is the same', async () => {
    const client = faulty((player) => ({ actions, ...script }) => {
      const renamed = actions.map((action) =>
        action.arguments.value === 1.5 ? { ...action, arguments: { value: 2.5 } } : action,
      )
      return player.play({ ...script, actions: renamed })
    })
    const [comparison] = await compareClient(client, references)
    expect(comparison?.different).toBeGreaterThan(0)
    expect(comparison?.first?.where).toMatch(/^kept\.log\.\d+$/)
  })
})
