import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Policy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { EpisodeRecord } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import type { Continues } from '@episodic/run/folder/plan/configuration'
import { type Continuation, continuationsOf } from '../code/continue-episode.ts'
import { renewCase } from './renew-case.ts'
import { readSavedCase, repeatingPolicy, type SavedCase, writeSavedCase } from './saved-case.ts'

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
): Promise<Continuation> {
  const file = from instanceof URL ? fileURLToPath(from) : from
  const name = basename(file)
  const playOf = ({ task: { hints, limits }, step, calls, lines }: SavedCase) => {
    const given = { policy: policy ?? repeatingPolicy(calls.slice(changes.call ? 1 : 0)), changes, hints, limits }
    const record = lines.at(-1) as EpisodeRecord
    return continuationsOf({ environment, record, origins: lines.slice(0, -1), step, ...given })[0] as Continuation
  }
  const saved = readSavedCase(file)
  try {
    return playOf(saved)
  } catch (cause) {
    const parted = HarnessError.is(cause, 'replay-diverged')
    // Rules that fail are those of the test's author.
    if (HarnessError.is(cause) ? !parted : !update) throw cause
    const { message } = cause as Error
    const advice = 'If that is meant, `vitest -u` writes the steps before anew, as far as they go.'
    if (!update) throw new HarnessError('replay-diverged', `${name}, ${message} ${advice}`)
  }
  const renewed = renewCase(environment, saved)
  await writeSavedCase(file, renewed.saved)
  if (renewed.cut === null) return playOf(renewed.saved)
  throw new HarnessError(
    'replay-diverged',
    `${name} was written anew, and goes on after step ${renewed.saved.step} in place of step ${saved.step}: ${renewed.cut}. Run the test again for what comes of that.`,
  )
}
