import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { afterAll, describe, expect, it } from 'vitest'
import { createRollouts } from '../episodes/rollouts.ts'
import { HYPERPARAMETERS } from '../hyperparameters.ts'
import { fingerprint } from '../network/fingerprint.ts'
import { WORLDS } from '../worlds/worlds.ts'
import { readCheckpoint, writeCheckpoint } from './checkpoint.ts'
import { learn, type TrainingState } from './learn.ts'

const folder = mkdtempSync(join(tmpdir(), 'checkpoint-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('readCheckpoint', () => {
  it('returns a training that goes on as if it had never stopped', async () => {
    const world = WORLDS['frozen-lake']
    const settings = { ...HYPERPARAMETERS['frozen-lake'].ppo, episodes: 96 }
    await using host = createHost({ environments: [world.environment] })
    await using connection = await connect(inProcess(host))
    await using rollouts = createRollouts(connection, world, settings)

    const hashesFrom = async (from: TrainingState | undefined): Promise<string[]> => {
      const hashes = []
      for await (const { state } of learn({ world, rollouts, settings, seed: '1', from })) {
        hashes.push(fingerprint(state.parameters))
        if (!from && state.played === 32) writeCheckpoint(join(folder, 'training'), state)
      }
      return hashes
    }
    const whole = await hashesFrom(undefined)
    const read = readCheckpoint(join(folder, 'training'))
    expect(read?.played).toBe(32)
    expect(await hashesFrom(read)).toEqual(whole.slice(1))
    expect(new Set(whole).size).toBe(3)
  })

  it('returns undefined if there is no file', () => {
    expect(readCheckpoint(join(folder, 'nothing'))).toBeUndefined()
  })
})
