import { generateTasks, type TasksDefinition } from '@episodic/dataset'
import { connect, type Episode, type Policy, runEpisode } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess } from '@episodic/mcp-server'
import { defaultTasks } from '@episodic/play/worlds/default-tasks'
import type { Task } from '@episodic/protocol'
import { createSequentialRate, type RateVerdict } from '@episodic/report/fold/sequential-rate'
import { formatPercent } from '@episodic/report/text/format'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { hasSucceeded } from './episode-matchers.ts'
import { formatCause, formatEpisode } from './last-steps.ts'
import { assertRecorded } from './play-episode.ts'

export interface WorldUnderTest {
  readonly environment: EnvironmentDefinition
  /** Default: the default parameters, with another seed for each task. */
  readonly tasks?: TasksDefinition
}

export interface RateGate {
  readonly policy: Policy
  /** The rate that has to be exceeded; between 0 and 1, without both. */
  readonly rate: number
  /** The most tasks that are played, each once. */
  readonly tasks: number
  /** Decides the tasks. Default `0`. */
  readonly seed?: string
  /** What happens if that many tasks do not decide. Default `fail`. */
  readonly undecided?: 'fail' | 'pass'
}

export interface WorldMatchers<Result> {
  /**
   * Plays one task after the other until it is shown that the policy succeeds in more than `rate` of them, or in fewer.
   * Either is said wrongly with a risk of at most 5 %. With `not`, passes if it is shown that they are fewer.
   *
   * A failed episode counts for neither. Rejects with `run-failed` if more than 5 % of `tasks` fail, with
   * `not-recorded` if a recorded model has no answer, and with `option-invalid` for a rate or a number of tasks that
   * cannot be.
   */
  toPass(gate: RateGate): Promise<Result>
}

/** Failed episodes that are tolerated, as a share of the tasks. */
const MOST_FAILED = 0.05

export const worldMatchers = {
  async toPass(this: { readonly isNot?: boolean }, received: unknown, gate: RateGate) {
    const { environment, tasks } = readWorld(received)
    const { policy, undecided = 'fail' } = gate
    assertGate(gate)
    const played = await playUntilDecided(
      environment,
      generateTasks(tasks, { seed: gate.seed ?? '0', count: gate.tasks }),
      gate,
    )
    const isNot = this.isNot ?? false
    const wanted: RateVerdict = isNot ? 'below' : 'above'
    const holds = played.verdict === wanted || (played.verdict === 'undecided' && undecided === 'pass')
    return { pass: holds !== isNot, message: () => formatPlayed(played, `${policy.name} of ${environment.name}`, gate) }
  },
}

interface PlayedTasks {
  verdict: RateVerdict
  finished: number
  succeeded: number
  failed: number
  short: { readonly task: Task; readonly episode: Episode } | null
}

async function playUntilDecided(
  environment: EnvironmentDefinition,
  tasks: Iterable<Task>,
  { policy, rate, tasks: count }: RateGate,
): Promise<PlayedTasks> {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const createEnvironment = () => connection.environment()
  const test = createSequentialRate(rate)
  const mostFailed = Math.floor(count * MOST_FAILED)
  const played: PlayedTasks = { verdict: 'undecided', finished: 0, succeeded: 0, failed: 0, short: null }
  for (const task of tasks) {
    const episode = await runEpisode({ createEnvironment, policy, task })
    assertRecorded(episode)
    if (episode.kind === 'failed') {
      played.failed += 1
      if (played.failed > mostFailed)
        throw new HarnessError(
          'run-failed',
          `${played.failed} of ${played.failed + played.finished} episodes failed, and of ${count} tasks at most ${mostFailed} may: a failed episode says nothing about the policy. The last one: ${formatCause(episode.cause)}`,
          { cause: episode.cause },
        )
      continue
    }
    const success = hasSucceeded(episode)
    played.verdict = test.add(success)
    played.finished += 1
    played.succeeded += Number(success)
    if (!success) played.short ??= { task, episode }
    if (played.verdict !== 'undecided') break
  }
  return played
}

function formatPlayed({ verdict, finished, succeeded, failed, short }: PlayedTasks, who: string, { rate }: RateGate) {
  const share = formatPercent(rate)
  const shown = {
    above: `It is shown that ${who} succeeds in more than ${share} of the tasks`,
    below: `It is shown that ${who} succeeds in fewer than ${share} of the tasks`,
    undecided: `Undecided whether ${who} succeeds in more than ${share} of the tasks`,
  }[verdict]
  const lines = [
    `${shown}: ${succeeded} of ${finished} episodes succeeded${failed > 0 ? `, and ${failed} failed, which count for neither` : ''}.`,
  ]
  if (verdict === 'undecided')
    lines.push("Play more tasks, choose a rate that is further away, or let it pass with { undecided: 'pass' }.")
  if (short && verdict !== 'above')
    lines.push(`The first without success, of seed ${short.task.seed}:`, formatEpisode(short.episode))
  return lines.join('\n')
}

function assertGate({ rate, tasks }: RateGate): void {
  if (!(rate > 0 && rate < 1)) throw invalidOption(`toPass takes a rate between 0 and 1, such as 0.8; got ${rate}.`)
  if (!Number.isSafeInteger(tasks) || tasks < 1)
    throw invalidOption(`toPass takes a number of tasks from 1 up; got ${tasks}.`)
}

function readWorld(received: unknown): Required<WorldUnderTest> {
  const { environment, tasks } = (received ?? {}) as Partial<WorldUnderTest>
  if (!environment)
    throw invalidOption(
      'expect(…).toPass takes a world: an object with an `environment` and, if it has some, its `tasks`.',
    )
  return { environment, tasks: tasks ?? defaultTasks({ environment }) }
}
