import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateTasks } from '@episodic/dataset'
import { rehearse } from '@episodic/mcp-server'
import { chainOf, type EpisodeRecord } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { environment, policies, tasks } from './golden.ts'

const ADVICE = `${environment.name} ${environment.version} plays otherwise than when its golden episodes were recorded. A change of behaviour needs a new version; then record them anew, as src/golden.ts says.`

const file = join(import.meta.dirname, '..', 'golden', `${environment.version}.jsonl`)
const episodes = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line): EpisodeRecord => JSON.parse(line))

describe('golden episodes of warehouse', () => {
  it.each(episodes.map((episode) => [episode.task.prompt, episode.seed, episode] as const))(
    'plays again as it was recorded: %s (%s)',
    (_, __, episode) => {
      expect(chainOf(episode), 'The line was edited: its chain does not fit it.').toBe(episode.chain)
      expect(episode.environment).toEqual({ name: environment.name, version: environment.version })
      const { params, seed, start, steps, outcome } = episode
      const world = rehearse(environment, { params, seed, strict: true })
      expect({ observation: world.start.observation, potential: world.start.potential }, ADVICE).toEqual(start)
      for (const [i, { action, reward, milliseconds: _, ...recorded }] of steps.entries()) {
        const end = outcome.kind === 'finished' && i === steps.length - 1 ? outcome.end : null
        const truncation = end?.kind === 'truncated' ? end.reason : null
        const played = world.play(action.tool, action.arguments, { truncation })
        const { observation, terms, potential, refused, stateHash } = played
        expect(
          { observation, terms, potential, refused, stateHash, end: played.end },
          `${ADVICE} (step ${i + 1})`,
        ).toEqual({ ...recorded, terms: reward.terms, end })
      }
    },
  )

  it('holds every way to end and to be refused, and a failure', () => {
    const ends = episodes.flatMap(({ outcome }) => (outcome.kind === 'finished' ? [outcome.end.reason] : []))
    expect([...new Set(ends)].sort()).toEqual(['all-delivered', 'out-of-battery', 'step-limit', 'time-limit'])
    const refusals = episodes.flatMap(({ steps }) => steps.flatMap(({ refused }) => refused ?? []))
    expect([...new Set(refusals)].sort()).toEqual(['arguments', 'rules', 'time', 'tool'])
    expect(episodes.some(({ outcome }) => outcome.kind === 'failed')).toBe(true)
  })

  it('is recorded from the plays that src/golden.ts describes', () => {
    const described = [...generateTasks(tasks, { seed: '0', count: episodes.length })]
    expect(episodes.map(({ task }) => task.id).sort()).toEqual(described.map(({ id }) => id).sort())
    expect(episodes.map(({ policy }) => policy.name)).toEqual(episodes.map(() => policies.golden.name))
  })
})
