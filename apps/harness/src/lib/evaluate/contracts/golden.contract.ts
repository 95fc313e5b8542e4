import { readFileSync } from 'node:fs'
import { replayEpisode } from '@episodic/analysis/replay/replay-episode'
import { generateTasks, type TasksDefinition } from '@episodic/dataset'
import type { Policy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { chainOf, type EpisodeRecord, parseSealedRecord, type Refusal } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'

/** Sealed episodes that are kept beside a world, and what they are kept for. */
export interface GoldenEpisodes {
  readonly environment: EnvironmentDefinition
  /** The lines of a run: its `episodes.jsonl`. */
  readonly file: string | URL
  /** What the run was of, in its order of tasks with seed `0`. */
  readonly tasks: TasksDefinition
  readonly policy: Policy
  /** Every reason for which an episode of this world can end, but `closed`. */
  readonly ends: readonly string[]
  readonly refusals: readonly Refusal[]
}

/**
 * Registers the suite that holds a world to its version: recorded episodes play again as they were recorded, strictly,
 * and together they show every end and refusal, and a failure. One test for each episode.
 */
export function describeGolden({ environment, file, tasks, policy, ends, refusals }: GoldenEpisodes): void {
  const { name, version } = environment
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  const episodes = lines.map((line) => parseSealedRecord(JSON.parse(line)).data as EpisodeRecord)
  describe(`golden episodes of ${name}`, () => {
    it.each(episodes.map((episode) => [episode.task.prompt, episode.seed, episode] as const))(
      'reproduce the recording: %s (%s)',
      (_, __, record) => {
        const whole = chainOf(record) === record.chain
        expect(whole, 'The line was edited: its chain does not fit it.').toBe(true)
        expect(
          replayEpisode(environment, { record, whole }, { strict: true, scoring: null }),
          `${name} ${version} plays otherwise than when its golden episodes were recorded. A change of behaviour needs a new version, and golden episodes that are recorded with it.`,
        ).toEqual({ kind: 'reproduced', steps: record.steps.length })
      },
    )

    it('cover every way to end, every refusal, and a failure', () => {
      const ended = episodes.flatMap(({ outcome }) => (outcome.kind === 'finished' ? [outcome.end.reason] : []))
      expect([...new Set(ended)].sort()).toEqual([...ends].sort())
      const refused = episodes.flatMap(({ steps }) => steps.flatMap(({ refused }) => refused ?? []))
      expect([...new Set(refused)].sort()).toEqual([...refusals].sort())
      expect(episodes.some(({ outcome }) => outcome.kind === 'failed')).toBe(true)
    })

    it('are recorded from the tasks, by the policy', () => {
      const described = [...generateTasks(tasks, { seed: '0', count: episodes.length })]
      expect(episodes.map(({ task }) => task.id).sort()).toEqual(described.map(({ id }) => id).sort())
      expect(episodes.map((episode) => episode.policy.name)).toEqual(episodes.map(() => policy.name))
    })
  })
}
