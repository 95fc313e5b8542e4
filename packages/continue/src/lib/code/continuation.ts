import type { Policy, runEpisode } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import {
  chainOf,
  isMatchRecord,
  type LimitsRequest,
  parseSealedRecord,
  type SealedRecord,
  sealOf,
  seedFor,
} from '@episodic/protocol'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import type { Continues } from '@episodic/run/folder/plan/configuration'
import { episodeOrigin, putAtStep } from '../origin/episode-origin.ts'
import { assertChanges, assertPoint } from '../run/assert-request.ts'
import { describedPolicy } from '../run/described-policy.ts'

/** A step of an earlier episode, and how it is continued. */
export interface Continuation {
  /** The line of the episode, as it was sealed. */
  readonly record: SealedRecord
  /** How many of its steps come before: 6 for what the command calls `--step 7`. */
  readonly step: number
  readonly policy: Policy
  /** What is changed at that step. Default: nothing. */
  readonly changes?: Continues['changes'] | undefined
  /** The lines that the episode goes on from itself. Default: none, it was played from its start. */
  readonly origins?: readonly SealedRecord[] | undefined
  /** What the player is told beside the prompt of the line. Default: nothing. */
  readonly hints?: readonly string[] | undefined
  /** What the episode was opened with. Default: nothing, so its limits are those of the environment. */
  readonly limits?: LimitsRequest | undefined
}

/** What `runEpisode` takes to play a continuation. */
export type Continued = Pick<Parameters<typeof runEpisode>[0], 'policy' | 'policySeed' | 'task' | 'origin'>

/**
 * Puts a world back at a step, and returns what `runEpisode` takes to continue it there, by the number of the
 * continuation: each has chance of its own if `changes.seed` gives any.
 *
 * Throws `run-invalid` for a line that was changed since it was sealed, `option-invalid` for a step that there is not
 * and for a change that the environment cannot take, `replay-diverged` for steps that the rules play otherwise,
 * `origin-missing`, and `not-forkable` for a world whose state is kept outside.
 */
export function continuationOf(
  environment: EnvironmentDefinition,
  continuation: Continuation,
): (number: number) => Continued {
  const { step, policy, changes = {}, hints = [], limits = {} } = continuation
  const [record, ...origins] = [continuation.record, ...(continuation.origins ?? [])].map(sealedLine)
  if (!record || isMatchRecord(record))
    throw invalidOption('A game of several seats is continued by `episodic continue`, which plays each seat.')
  if (record.environment.name !== environment.name)
    throw invalidOption(`The line is of ${record.environment.name}, and the environment is ${environment.name}.`)
  assertChanges(environment, changes)
  assertPoint({ record, step }, changes)
  const { seal, task, params, seed: drawn } = record
  const { call, answer, seed, prompt = task.prompt, describe } = changes
  const known = new Map([...origins, record].map((line) => [line.seal as string, line]))
  const changed = { ...(call && { call }), ...(answer !== undefined && { answer }) }
  const asked = { seal: seal as string, step, seed: null, ...changed }
  const { snapshot } = putAtStep(environment, asked, { origins: known, limits })
  const origin = episodeOrigin(asked, { parent: record, snapshot }, known)
  const play = {
    policy: describe ? describedPolicy(policy, describe) : policy,
    task: { prompt, hints, params },
  }
  return (number) => ({
    ...play,
    policySeed: seedFor(drawn, 'continued', step, number),
    origin:
      seed === undefined
        ? origin
        : { ...origin, snapshot: { ...origin.snapshot, seed: seedFor(seed, task.id, number), rng: {} } },
  })
}

/** Returns a line as it was sealed. Throws `run-invalid` for anything else. */
export function sealedLine(given: unknown): SealedRecord {
  const { data: line } = parseSealedRecord(given)
  // The seal covers the chain, and the chain what was played.
  if (line?.seal && sealOf(line) === line.seal && chainOf(line) === line.chain) return line
  throw new HarnessError(
    'run-invalid',
    line
      ? `The line of task ${line.task.id}, attempt ${line.attempt} was changed since it was sealed, so nothing can go on from it. Restore it from a copy.`
      : 'What is to be continued is no sealed line: give one of the episodes.jsonl of a run, as JSON.parse returns it.',
  )
}
