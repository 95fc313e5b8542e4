import { connect, type Episode, type Policy, runEpisode } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess } from '@episodic/mcp-server'
import { describedPolicy } from '@episodic/models/policy/described-policy'
import {
  isMatchRecord,
  type LimitsRequest,
  parseSealedRecord,
  type SealedRecord,
  seedFor,
  type Task,
} from '@episodic/protocol'
import { invalidOption } from '@episodic/run/base/harness-error'
import type { Continues } from '@episodic/run/folder/plan/configuration'
import { openOrigins } from '../origin/open-origins.ts'
import { assertChanges, assertPoint } from '../run/assert-request.ts'

export interface ContinueOptions {
  readonly environment: EnvironmentDefinition
  readonly record: SealedRecord
  /** How many of its steps come before: 6 for what the command calls `--step 7`. */
  readonly step: number
  readonly policy: Policy
  /** What is changed at that step. Default: nothing. */
  readonly changes?: Continues['changes']
  /** The lines that the episode goes on from itself. Default: none, it was played from its start. */
  readonly origins?: readonly SealedRecord[]
  /** Those of its task. Default: none; limits are then those of the environment. */
  readonly hints?: readonly string[]
  readonly limits?: LimitsRequest
  /** Default 1. */
  readonly count?: number
  readonly signal?: AbortSignal
}

/**
 * Continues a sealed episode from one of its steps, `count` times at once, and resolves with the episodes, each with
 * the steps that were played anew. Those before are played by the rules alone: no player is asked for them. An episode
 * that fails is returned as `failed`.
 *
 * Rejects with `run-invalid` for a line that was changed since it was sealed, with `option-invalid` for a step that
 * there is not and a change that the environment cannot take, with `replay-diverged`, naming the step, if the rules
 * play one of the steps before otherwise, and with `not-forkable` for a world whose state is kept outside.
 */
export async function continueEpisode(options: ContinueOptions): Promise<Episode[]> {
  const { environment, signal } = options
  const plays = continuationsOf(options)
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const createEnvironment = () => connection.environment()
  return await Promise.all(plays.map((play) => runEpisode({ ...play, createEnvironment, signal })))
}

export type Continuation = Omit<Parameters<typeof runEpisode>[0], 'createEnvironment' | 'signal'>

/** Returns what each continuation plays. Throws as {@link continueEpisode} rejects. */
export function continuationsOf(options: Omit<ContinueOptions, 'signal'>): Continuation[] {
  const { environment, step, policy, changes = {}, origins = [], hints = [], limits = {}, count = 1 } = options
  const { data: record } = parseSealedRecord(options.record)
  if (!record || isMatchRecord(record))
    throw invalidOption('The record is no line of an environment with one seat, as JSON.parse returns it.')
  assertChanges(environment, changes)
  assertPoint({ record, step }, changes)
  const { call, answer, seed, prompt = record.task.prompt, describe } = changes
  const task = { ...record.task, limits } as Task
  const earlier = new Map(origins.map((line) => [line.seal as string, { record: line, task: null }]))
  const originOf = openOrigins({ world: { environment }, origins: earlier }, [{ task, record, step }])
  const origin = { seal: record.seal as string, step, ...(call && { call }), ...(answer !== undefined && { answer }) }
  return Array.from({ length: count }, (_, attempt) => ({
    policy: describe ? describedPolicy(policy, describe) : policy,
    policySeed: seedFor(record.seed, 'continued', step, attempt),
    task: { prompt, hints },
    // Each has new chance of its own if any has.
    origin: originOf({
      ...{ task, attempt },
      origin: { ...origin, seed: seed === undefined ? null : seedFor(seed, task.id, attempt) },
    }) as Continuation['origin'],
  }))
}
