import { HarnessError } from '../harness-error.ts'
import { checkedPolicy } from '../policy-fault.ts'
import type { AgentDoor } from './agent-door.ts'
import { AGENT_DOORS } from './agent-doors.ts'
import { blame } from './blame.ts'
import { sweepForCanaries } from './canary-sweep.ts'
import { CHECKS, type CheckName, type CheckReport, type CheckResult, resultOf, skipped } from './check-report.ts'
import { checkDeterminism } from './determinism.ts'
import { checkExploits } from './exploits.ts'
import { watchRejections } from './floating-rejections.ts'
import { checkHygiene } from './hygiene.ts'
import { checkLearnability } from './learnability.ts'
import { checkNonInterference } from './non-interference.ts'
import { checkRewards } from './reward-check.ts'
import { type CheckedWorld, type Subject, settingsOf } from './subject.ts'

export interface CheckOptions {
  /** Pairs of episodes for non-interference. Default 1,000. */
  readonly pairs?: number
  /** Decides every draw. Default `0`. */
  readonly seed?: string
  /** Which checks; all unless given. */
  readonly only?: readonly CheckName[]
  /** What agents come through. Default: {@link AGENT_DOORS}. */
  readonly doors?: readonly AgentDoor[]
  readonly signal?: AbortSignal | undefined
  /** Hears of what is done, for whoever waits. */
  readonly onProgress?: (check: CheckName, done: number, total: number) => void
  /** Hears of each result as it is there. */
  readonly onResult?: (result: CheckResult) => void
}

const MAKE: Readonly<Record<CheckName, (subject: Subject) => CheckResult | Promise<CheckResult>>> = {
  'non-interference': checkNonInterference,
  canaries: sweepForCanaries,
  determinism: checkDeterminism,
  hygiene: checkHygiene,
  rewards: checkRewards,
  learnability: checkLearnability,
  exploits: checkExploits,
}

/** What is checked without the rules playing alone: those lack what a tool prepares outside. */
const WITHOUT_REHEARSAL: readonly CheckName[] = ['canaries', 'hygiene']

/**
 * Checks a world: that it keeps its secrets, plays the same again, says what it is, rewards what it asks for, can be
 * learned, and cannot be cheated. What a world does not export is checked as far as that goes.
 *
 * Resolves with a report, whatever is found. Throws `world-invalid` where neither its defaults nor its tasks can be
 * played, and what `signal` was aborted with.
 */
export async function checkWorld(world: CheckedWorld, options: CheckOptions = {}): Promise<CheckReport> {
  const { pairs = 1_000, seed = '0', only = CHECKS, doors = AGENT_DOORS, signal, onProgress, onResult } = options
  const { name, version } = world.environment
  const settings = settingsOf(world, seed)
  if (settings.length === 0)
    throw new HarnessError(
      'world-invalid',
      `${name} has no defaults for its parameters and exports no tasks, so that nothing of it can be played. Give it either.`,
    )
  const { solver } = world
  const played = solver ? { ...world, solver: checkedPolicy(solver, 'solver') } : world
  const checks: CheckResult[] = []
  for (const check of CHECKS.filter((one) => only.includes(one))) {
    const subject: Subject = {
      world: played,
      settings,
      seed,
      pairs,
      doors,
      signal,
      onProgress: (done, total) => onProgress?.(check, done, total),
    }
    const result = await watched(check, subject)
    checks.push(result)
    onResult?.(result)
  }
  return { world: { name, version }, seed, ok: checks.every(({ outcome }) => outcome !== 'failed'), checks }
}

/** What a world leaves rejected behind the back of a check fails it too. */
async function watched(name: CheckName, subject: Subject): Promise<CheckResult> {
  using rejections = watchRejections()
  const result = await attempt(name, subject)
  const floating = await rejections.findings(`check seed ${subject.seed}, check ${name}`)
  if (floating.length === 0) return result
  const { summary, findings, warnings, figures } = result
  return resultOf(name, summary, { findings: [...floating, ...findings], warnings, figures })
}

/** What a world throws where it is not even played, such as in its start, is found like anything else. */
async function attempt(name: CheckName, subject: Subject): Promise<CheckResult> {
  const preparing = Object.entries(subject.world.environment.tools).find(([, tool]) => tool.preparation)
  if (preparing && !WITHOUT_REHEARSAL.includes(name))
    return skipped(name, `tool ${preparing[0]} prepares its steps outside, and this check plays the rules alone`)
  try {
    return await MAKE[name](subject)
  } catch (error) {
    subject.signal?.throwIfAborted()
    return {
      name,
      outcome: 'failed',
      summary: 'the check could not be made',
      findings: [
        {
          ...blame(error, {
            what: 'The world failed',
            advice: 'Make its start, its rules and its policies work for its defaults and for every task.',
          }),
          again: `check seed ${subject.seed}`,
        },
      ],
      warnings: [],
      figures: {},
    }
  }
}
