import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toDivergence } from '@episodic/analysis/replay/divergence'
import type { Policy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { EpisodeRecord } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import type { Continues } from '@episodic/run/folder/plan/configuration'
import { type Continued, continuationOf } from '../code/continuation.ts'
import { findParting, renewCase } from './renew-case.ts'
import { readSavedCase, repeatingPolicy, type SavedCase, writeSavedCase } from './saved-case.ts'

/** A play that goes on from a step of an earlier episode. */
export interface SavedPlay {
  /** The file that `episodic continue --save` wrote beside the test. */
  readonly from: URL | string
  /** Who goes on. Default: the calls that were played are played again. */
  readonly policy?: Policy | undefined
  /** What is changed at that step. Default: nothing. */
  readonly changes?: Continues['changes'] | undefined
}

/**
 * Reads a case and returns what `runEpisode` takes to play it.
 *
 * Rejects with `replay-diverged`, naming the step, if the rules play one of the steps before otherwise. With `update`
 * they are written anew instead, and it rejects only if they no longer go as far.
 */
export async function playOfCase(
  environment: EnvironmentDefinition,
  { from, policy, changes = {} }: SavedPlay,
  update: boolean,
): Promise<Continued> {
  const file = from instanceof URL ? fileURLToPath(from) : from
  const { task, step, calls, lines } = await upToDate(environment, file, update)
  const { hints, limits } = task
  const player = policy ?? repeatingPolicy(calls.slice(changes.call ? 1 : 0))
  const [record, origins] = [lines.at(-1) as EpisodeRecord, lines.slice(0, -1)]
  return continuationOf(environment, { record, origins, step, policy: player, changes, hints, limits })(0)
}

async function upToDate(environment: EnvironmentDefinition, file: string, update: boolean): Promise<SavedCase> {
  const saved = await readSavedCase(file)
  const parting = findParting(environment, saved)
  if (!parting) return saved
  const name = basename(file)
  if (!update) {
    const { step, field, recorded, replayed } = toDivergence(saved.lines[0] as EpisodeRecord, parting, 'world-changed')
    const difference = field === 'stateHash' ? 'Its state differs' : `${field} was ${recorded}, and is ${replayed}`
    throw new HarnessError(
      'replay-diverged',
      `${name}: the rules play ${step === 0 ? 'the start' : `step ${step} of the ${saved.step} before`} otherwise than when the case was saved. ${difference}. If that is meant, \`vitest -u\` writes them anew, as far as they go.`,
    )
  }
  const renewed = renewCase(environment, saved)
  await writeSavedCase(file, renewed.saved)
  if (renewed.cut === null) return renewed.saved
  throw new HarnessError(
    'replay-diverged',
    `${name} was written anew, and goes on after step ${renewed.saved.step} in place of step ${saved.step}: ${renewed.cut}. Run the test again for what comes of that.`,
  )
}
