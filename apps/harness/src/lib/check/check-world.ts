import { HarnessError } from '../harness-error.ts'
import { checkedPolicy } from '../policy-fault.ts'
import { blame } from './blame.ts'
import {
  CHECKS,
  type CheckName,
  type CheckReport,
  type CheckResult,
  type Examined,
  examined,
  skipped,
} from './check-report.ts'
import { checkDeterminism } from './determinism.ts'
import type { AgentDoor } from './endpoints/agent-endpoint.ts'
import { AGENT_DOORS } from './endpoints/agent-endpoints.ts'
import type { Finding } from './finding.ts'
import { watchRejections } from './floating-rejections.ts'
import { checkHygiene } from './hygiene.ts'
import { checkExploits } from './rewards/exploits.ts'
import { checkLearnability } from './rewards/learnability.ts'
import { checkRewards } from './rewards/reward-check.ts'
import { sweepForCanaries } from './secrecy/canary-sweep.ts'
import { checkNonInterference } from './secrecy/non-interference.ts'
import { type CheckedWorld, type Subject, settingsOf } from './subject.ts'
import { Waivers } from './waivers.ts'

export interface CheckOptions {
  /** Pairs of episodes for non-interference. Default 1,000. */
  readonly pairs?: number
  /** Decides every draw. Default `0`. */
  readonly seed?: string
  /** Which checks; all unless given. Learnability fails only where it is named here: otherwise its findings are warnings. */
  readonly only?: readonly CheckName[]
  /** What agents come through. Default: {@link AGENT_DOORS}. */
  readonly doors?: readonly AgentDoor[]
  readonly signal?: AbortSignal | undefined
  /** Hears of what is done, for whoever waits. */
  readonly onProgress?: (check: CheckName, done: number, total: number) => void
  /** Hears of each result as it is there. */
  readonly onResult?: (result: CheckResult) => void
}

const MAKE: Readonly<Record<CheckName, (subject: Subject) => Examined | Promise<Examined>>> = {
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
 * played, and for a waiver that names no finding or gives no reason; and what `signal` was aborted with.
 */
export async function checkWorld(world: CheckedWorld, options: CheckOptions = {}): Promise<CheckReport> {
  const { pairs = 1_000, seed = '0', only = CHECKS, doors = AGENT_DOORS, signal, onProgress, onResult } = options
  const { name, version } = world.environment
  const waivers = new Waivers(world.environment)
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
    const result = conclude(await watched(check, subject), waivers, options.only ?? [])
    checks.push(result)
    onResult?.(result)
  }
  const unusedWaivers = CHECKS.every((check) => only.includes(check)) ? waivers.unused : []
  const ok = checks.every(({ outcome }) => outcome !== 'failed')
  const warned = unusedWaivers.length > 0 || checks.some(({ outcome }) => outcome === 'warned')
  const outcome = ok ? (warned ? 'warned' : 'passed') : 'failed'
  return { world: { name, version }, seed, outcome, ok, checks, unusedWaivers }
}

/** What only warns unless the check is asked for by name: one small learner is no proof that a world cannot be learned. */
const ADVISORY: readonly Finding['name'][] = ['not-learned', 'solver-outdone']

/** How many findings of one check are kept. */
const KEPT = 5

/** Says what a check came to, once the waivers are applied. */
function conclude(seen: Examined, waivers: Waivers, asked: readonly CheckName[]): CheckResult {
  const { name, summary, figures } = seen
  const advises = (finding: Finding) => ADVISORY.includes(finding.name) && !asked.includes(name)
  const wrong = waivers.sort(seen.findings)
  const doubtful = waivers.sort(seen.warnings)
  const findings = wrong.standing.filter((finding) => !advises(finding))
  const warnings = [...wrong.standing.filter(advises), ...doubtful.standing]
  const waived = [...wrong.waived, ...doubtful.waived]
  const made = findings.length > 0 ? 'failed' : warnings.length > 0 ? 'warned' : 'passed'
  const outcome = seen.skipped !== null && made === 'passed' ? 'skipped' : made
  return { name, outcome, summary, findings: findings.slice(0, KEPT), warnings, waived: waived.slice(0, KEPT), figures }
}

/** What a world leaves rejected behind the back of a check fails it too. */
async function watched(name: CheckName, subject: Subject): Promise<Examined> {
  using rejections = watchRejections()
  const result = await attempt(name, subject)
  const floating = await rejections.findings(`check seed ${subject.seed}, check ${name}`)
  if (floating.length === 0) return result
  return { ...result, findings: [...floating, ...result.findings] }
}

/** What a world throws where it is not even played, such as in its start, is found like anything else. */
async function attempt(name: CheckName, subject: Subject): Promise<Examined> {
  const preparing = Object.entries(subject.world.environment.tools).find(([, tool]) => tool.preparation)
  if (preparing && !WITHOUT_REHEARSAL.includes(name))
    return skipped(name, `tool ${preparing[0]} prepares its steps outside, and this check plays the rules alone`)
  try {
    return await MAKE[name](subject)
  } catch (error) {
    subject.signal?.throwIfAborted()
    return examined(name, 'the check could not be made', {
      findings: [
        {
          ...blame(error, {
            name: 'world-failed',
            what: 'The world failed',
            advice: 'Make its start, its rules and its policies work for its defaults and for every task.',
          }),
          again: `check seed ${subject.seed}`,
        },
      ],
    })
  }
}
