import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Policy } from '@episodic/env'
import { monotonic } from '@episodic/protocol/internal'
import { HarnessError } from '@episodic/run/base/harness-error'
import { mapValues } from '@episodic/run/base/map-values'
import { checkedPolicy } from '@episodic/run/base/policy-fault'
import { affordableShare, type CheckContext, type CheckedWorld, learnerOf, settingsOf } from './check-context.ts'
import {
  CHECKS,
  type CheckName,
  type CheckOutcome,
  type CheckReport,
  type CheckResult,
  checkOutcome,
  skipped,
} from './check-report.ts'
import { type Finding, isIncomplete, oneForEachCause, toErrorFinding } from './finding.ts'
import { proposedScripts } from './hacker/proposed-scripts.ts'
import { checkHygiene } from './hygiene.ts'
import { withRememberedPreparations } from './remembered-preparations.ts'
import { checkRewards } from './rewards/reward-check.ts'
import { findRulesPlace } from './rules-place.ts'
import { checkExploits, type SearchOptions, searchTarget } from './search/check-exploits.ts'
import { checkSeats } from './seats/seat-rules.ts'
import { sweepForCanaries } from './secrecy/canary-sweep.ts'
import { checkNonInterference } from './secrecy/non-interference.ts'
import { checkDeterminism, EPISODES, type TargetContext } from './served/determinism.ts'
import { NO_ORACLE, NO_STATE, SERVED_CHECKS, SERVED_STEPS } from './served/served-checks.ts'
import { hostedTarget } from './served/served-target.ts'
import { rehearsedTarget } from './targets/rehearsed-target.ts'
import type { CheckTarget } from './targets/target.ts'
import { TimeLimit, withTimeLimit } from './time-limit.ts'
import { kindOf, Waivers } from './waivers.ts'

export interface CheckOptions {
  /** Pairs of episodes for non-interference. Default 1,000. */
  readonly pairs?: number
  /**
   * The share of all other episodes that is played, from 0 to 1; each check plays a least number. Default 1, of a world
   * whose starts are large, or whose steps are prepared, less.
   */
  readonly share?: number
  /** Seed of every random draw. Default `0`. */
  readonly seed?: string
  readonly only?: readonly CheckName[]
  /**
   * Who plays every seat of a game but one: exploits are then checked for that one, and without it for all together.
   */
  readonly partners?: Readonly<Record<string, Policy>>
  /** Most seconds that all checks play, each a part of it. Default: no limit. */
  readonly seconds?: number
  /** The steps that hacks are searched for, and most seconds that exploits then play. Default: some thousand steps. */
  readonly search?: { readonly steps: number; readonly seconds?: number }
  /** Who proposes scripts to the search for hacks, such as a language model. Default: nobody. */
  readonly hacker?: Policy | null
  readonly signal?: AbortSignal | undefined
  /** Called when a check begins, with 0, and while it runs. */
  readonly onProgress?: (check: CheckName, done: number, total: number) => void
  readonly onResult?: (result: CheckResult) => void
}

const RUN: Readonly<Record<CheckName, (context: CheckContext) => CheckOutcome | Promise<CheckOutcome>>> = {
  'non-interference': checkNonInterference,
  canaries: sweepForCanaries,
  seats: checkSeats,
  determinism: (context) => checkDeterminism({ ...context, target: rehearsedTarget(context, EPISODES, true) }),
  hygiene: checkHygiene,
  rewards: checkRewards,
  exploits: checkExploits,
}

/**
 * Checks that a world keeps its secrets, is deterministic, is documented, rewards its tasks, and has no cheap
 * exploit. Without tasks or a solver, it checks as much as it can.
 *
 * Resolves with a report, whatever it finds. Rejects with `world-invalid` if neither the defaults nor any task can be
 * played, or if a waiver names no finding or has no reason; with `option-invalid` for `partners` that do
 * not leave exactly one seat; and with the reason of `signal` once that is aborted.
 */
export async function checkWorld(world: CheckedWorld, options: CheckOptions = {}): Promise<CheckReport> {
  const { pairs = 1_000, share: most = 1, seed = '0', partners, search, signal, onProgress } = options
  const { name } = world.environment
  const waivers = new Waivers(world.environment)
  const settings = settingsOf(world, seed)
  if (settings.length === 0)
    throw new HarnessError(
      'world-invalid',
      `${name} has no defaults for its parameters and exports no tasks, so it cannot be played. Add one or the other.`,
    )
  const { solver } = world
  const guarded = solver ? { ...world, solver: checkedPolicy(solver, 'solver') } : world
  const learner = learnerOf(world.environment, partners && mapValues(partners, (policy) => checkedPolicy(policy)))
  const share = shareOf(guarded, settings, seed)
  // The timer of an answer that is held in this process does not keep it alive.
  using _alive = setInterval(() => {}, 60_000)
  return await runChecks(world.environment, CHECKS, options, waivers, (check, time) => {
    const limited = withTimeLimit(world.environment, time)
    return runCheck(check, {
      ...proposing(options, time),
      // Whether a preparation returns the same each time is what determinism asks.
      world: { ...guarded, environment: check === 'determinism' ? limited : withRememberedPreparations(limited) },
      ...{ settings, learner, seed, time, signal },
      pairs: affordable(share, pairs, PAIRS),
      searchSteps: search?.steps,
      affordable: (count, least) => affordable(share, count, least),
      episodes: (count, least) => affordable(Math.min(share, most), count, least),
      onProgress: (done, total) => onProgress?.(check, done, total),
    })
  })
}

type Proposing = Pick<SearchOptions, 'propose'>

function proposing({ hacker, signal }: CheckOptions, time: TimeLimit): Proposing {
  if (!hacker) return {}
  const policy = checkedPolicy(hacker, hacker.name)
  return { propose: (rules, solved, found) => proposedScripts(policy, rules, solved, found, { signal, time }) }
}

/** The checks that compare no two plays of a step. */
const WITHOUT_REPEATING: readonly CheckName[] = ['canaries', 'hygiene']

/** Tasks of a world that is played as a served one. */
const HOSTED_TASKS = 20

/**
 * Checks an environment from outside: that it is deterministic, described and rewarded, as far as can be seen without
 * its state. Resolves and rejects as {@link checkWorld} does.
 */
export async function checkServed(target: CheckTarget, options: CheckOptions = {}): Promise<CheckReport> {
  const { share = 1, seed = '0', search, signal, onProgress } = options
  return runChecks(
    target,
    Object.keys(SERVED_CHECKS) as CheckName[],
    options,
    new Waivers({ name: target.name, waived: {} }),
    (check, time) =>
      runServed(check, {
        ...{ target, seed, signal, time, searchSteps: search?.steps, ...proposing(options, time) },
        episodes: (count, least) => affordable(share, count, least),
        onProgress: (done, total) => onProgress?.(check, done, total),
      }),
  )
}

async function runServed(check: CheckName, context: TargetContext & Proposing): Promise<CheckOutcome> {
  const { target, episodes, searchSteps } = context
  try {
    if (check === 'exploits' && target.oracle)
      return await searchTarget(target, { ...context, steps: searchSteps ?? episodes(SERVED_STEPS, 240) })
    const run = SERVED_CHECKS[check]
    if (run) return await run(context)
    return skipped(check, check === 'exploits' ? NO_ORACLE : NO_STATE)
  } catch (error) {
    context.signal?.throwIfAborted()
    const advice = 'Make the server open and answer every episode.'
    return couldNotRun(check, context, error, 'The environment failed', advice)
  }
}

/** Runs the checks that were asked for, one after the other. `of` are those that such a world can have. */
async function runChecks(
  world: CheckReport['world'] | CheckedWorld['environment'],
  of: readonly CheckName[],
  { only: asked = [], seed = '0', seconds = Number.POSITIVE_INFINITY, search, onProgress, onResult }: CheckOptions,
  waivers: Waivers,
  run: (check: CheckName, time: TimeLimit) => Promise<CheckOutcome>,
): Promise<CheckReport> {
  const checks: CheckResult[] = []
  const begun = monotonic()
  const planned = asked.length > 0 ? CHECKS.filter((one) => asked.includes(one)) : CHECKS
  for (const check of planned) {
    onProgress?.(check, 0, 1)
    // What one leaves, those after it have.
    const share = (seconds - (monotonic() - begun) / 1_000) / (planned.length - checks.length)
    const time = new TimeLimit(check === 'exploits' ? (search?.seconds ?? share) : share)
    const outcome = await run(check, time)
    const warnings = [...outcome.warnings, ...time.warnings(seed)]
    const result: CheckResult = conclude({ ...outcome, warnings }, waivers, world)
    checks.push(result)
    onResult?.(result)
  }
  const unusedWaivers = planned.length === CHECKS.length ? waivers.unused : []
  const ok = checks.every(({ outcome }) => outcome !== 'failed')
  const warned = unusedWaivers.length > 0 || checks.some(({ outcome }) => outcome === 'warned')
  const possible = checks.filter(({ name }) => of.includes(name))
  const played =
    possible.filter(({ outcome }) => outcome === 'skipped').length * 3 < possible.length &&
    checks.every((check) => !check.warnings.some(isIncomplete))
  const outcome = ok ? (played ? (warned ? 'warned' : 'passed') : 'incomplete') : 'failed'
  const { name, version } = world
  return { world: { name, version }, seed, outcome, ok, checks, unusedWaivers }
}

/** Fewest pairs of a world whose episodes cost much. */
const PAIRS = 24

function affordable(share: number, count: number, least: number): number {
  return Math.min(count, Math.max(least, Math.ceil(count * share)))
}

function shareOf(...given: Parameters<typeof affordableShare>): number {
  try {
    return affordableShare(...given)
  } catch {
    // Each check says that the world does not start.
    return 1
  }
}

const MAX_FINDINGS = 5

function conclude(seen: CheckOutcome, waivers: Waivers, world: CheckReport['world'] | CheckedWorld['environment']) {
  const { name, summary, figures, hacks } = seen
  const failing = waivers.sort(oneForEachCause(seen.findings))
  const doubtful = waivers.sort(oneForEachCause(seen.warnings))
  const [findings, warnings] = [failing.remaining, doubtful.remaining]
  const waived = [...failing.waived, ...doubtful.waived]
  const found = findings.length > 0 ? 'failed' : warnings.length > 0 ? 'warned' : 'passed'
  const outcome: CheckResult['outcome'] = seen.skipped !== null && found === 'passed' ? 'skipped' : found
  const placed = <Found extends Finding>({ part, ...finding }: Found) => {
    const at = 'toolInfos' in world && findRulesPlace(world, { ...finding, ...(part !== undefined && { part }) })
    return { ...finding, ...(at && { at }) }
  }
  const first = <Found extends Finding>(items: readonly Found[]) =>
    items
      .filter(({ name: is }, i) => i < MAX_FINDINGS || items.findIndex((one) => kindOf(one.name) === kindOf(is)) === i)
      .map(placed)
  return {
    ...{ name, outcome, summary, findings: first(findings), warnings, waived: first(waived), figures },
    ...(hacks && { hacks }),
  }
}

/** Runs a check. Promise rejections that the world leaves unhandled meanwhile are findings too. */
async function runCheck(name: CheckName, context: CheckContext & Proposing): Promise<CheckOutcome> {
  using rejections = watchUnhandledRejections()
  const result = await tryCheck(name, context)
  const unhandled = await rejections.findings(`check seed ${context.seed}, check ${name}`)
  if (unhandled.length === 0) return result
  return { ...result, findings: [...unhandled, ...result.findings] }
}

async function tryCheck(name: CheckName, context: CheckContext & Proposing): Promise<CheckOutcome> {
  const tools = Object.entries(context.world.environment.tools)
  const preparing = tools.find(([, { preparation }]) => preparation?.repeatable === false)?.[0]
  if (preparing && !WITHOUT_REPEATING.includes(name)) {
    if (!SERVED_CHECKS[name] && !(name === 'exploits' && context.world.solver))
      return skipped(
        name,
        `tool ${preparing} prepares its steps with outside inputs, and does not say that it is \`repeatable\``,
      )
    await using target = await hostedTarget(context, context.episodes(HOSTED_TASKS, 4))
    return await runServed(name, { ...context, target })
  }
  try {
    return await RUN[name](context)
  } catch (error) {
    context.signal?.throwIfAborted()
    if (context.time.hasCut) return skipped(name, 'its time was over before anything was compared')
    const advice = 'Make start, the rules and the policies work for the defaults and for every task.'
    return couldNotRun(name, context, error, 'The world failed', advice)
  }
}

function couldNotRun(name: CheckName, { seed }: { seed: string }, error: unknown, what: string, advice: string) {
  const failed = toErrorFinding(error, { name: 'world-failed', what, advice })
  return checkOutcome(name, 'the check could not run', { findings: [{ ...failed, again: `check seed ${seed}` }] })
}

/** Collects unhandled rejections until disposed. Otherwise a world that leaves one would end the process. */
function watchUnhandledRejections() {
  const messages = new Set<string>()
  const note = (reason: unknown) => void messages.add(reason instanceof Error ? reason.message : String(reason))
  process.on('unhandledRejection', note)
  return {
    /** One finding for each message. Waits until Node has reported all promises that are rejected by now. */
    async findings(again: string): Promise<Finding[]> {
      // Node reports them between two turns of the event loop.
      await nextTurn()
      return [...messages].map((message) => ({
        name: 'rejection-unhandled',
        what: `A promise rejection was not handled: ${message}`,
        again,
        advice: 'Await every promise or catch its rejection, and start none in the rules: they are synchronous.',
      }))
    },
    [Symbol.dispose]: () => void process.off('unhandledRejection', note),
  }
}
