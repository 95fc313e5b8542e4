import type { Policy } from '@episodic/env'
import { createRng, seedFor } from '@episodic/protocol'
import { clusteredMean } from '@episodic/report/fold/statistics'
import type { CheckContext, Setting } from '../check-context.ts'
import { type CheckOutcome, checkOutcome } from '../check-report.ts'
import { Contradictions } from '../contradictions.ts'
import { type Finding, faultFinding } from '../finding.ts'
import { noisyPolicy } from '../noisy-policy.ts'
import { formatStart, type RehearsedEpisode, rehearseEpisode, returnsOf } from '../rehearsed-episode.ts'
import { countedIn } from '../time-limit.ts'
import { UnsaidData } from '../unsaid-data.ts'
import { Endings } from './endings.ts'
import { findUnearned, notePrizes } from './unearned.ts'

const EPISODES = 96
/** Steps in episodes of the solver of a game, which may be slow. Each episode is compared with one of random play. */
const SOLVER_STEPS = 400
/** Largest magnitude of what a seat earns by one step. */
const LARGEST = 1e6

/**
 * Checks that rewards are finite and bounded, that a refused call earns its seat nothing, that nothing is paid or
 * counts as success for being cut off by a limit, that the rules end some episodes, that the texts of answers say what
 * their data says and leave nothing of it out, and that the solver earns more than random play on the same tasks.
 *
 * In a zero-sum game the solver plays one seat against random opponents, where an equilibrium cannot lose on average
 * over the seats, and otherwise all seats at once. In a game it only has to earn no less than random play, and without
 * a common reward that only warns.
 */
export async function checkRewards(context: CheckContext): Promise<CheckOutcome> {
  const { world, settings, seed } = context
  const { environment, solver = null } = world
  const { multiplayer, utility } = environment
  const findings: Finding[] = []
  const warnings: Finding[] = []
  const random = noisyPolicy(null, { random: 1, invalid: 0.1 })
  const range = { low: 0, high: 0 }
  const prizes = new Map<string, number>()
  const endings = new Endings(environment)
  const contradictions = new Contradictions()
  const unsaid = new UnsaidData()
  const earned = new Set<number>()
  /** Of the seats that are compared, on average. */
  const returns = { random: [] as number[], solver: [] as number[] }
  const gains: number[] = []
  let solverSteps = 0
  const episodes = context.episodes(EPISODES, 16)
  for (const i of countedIn(context, episodes)) {
    const setting = settings[i % settings.length] as Setting
    const own = seedFor(seed, 'rewards', i)
    const play = async (policies: Readonly<Record<string, Policy>>) => {
      const episode = await rehearseEpisode({
        environment,
        setting,
        seed: own,
        policy: random,
        policies,
        time: context.time,
      })
      findings.push(...paymentFindings(episode))
      notePrizes(prizes, episode)
      endings.add(episode)
      contradictions.add(episode)
      unsaid.add(episode)
      const totals: Record<string, number> = {}
      for (const step of episode.steps)
        for (const [seat, reward] of Object.entries(returnsOf(step))) {
          totals[seat] = (totals[seat] ?? 0) + reward
          range.low = Math.min(range.low, reward)
          range.high = Math.max(range.high, reward)
        }
      for (const total of Object.values(totals)) earned.add(total)
      return { totals, steps: episode.steps.length, fault: episode.fault }
    }
    const alone = await play({})
    const seats = Object.keys(alone.totals)
    const compared =
      utility === 'zero-sum' ? [createRng(own).pick(seats.length > 0 ? seats : environment.seats)] : seats
    const meanOf = ({ totals }: typeof alone) => mean(compared.map((seat) => totals[seat] ?? 0)) ?? 0
    const isSolved = solver && (!multiplayer || solverSteps < SOLVER_STEPS)
    const solved = isSolved ? await play(Object.fromEntries(compared.map((seat) => [seat, solver]))) : null
    solverSteps += solved?.steps ?? 0
    // A failure is never a return of zero, nor is what was called off.
    if (context.time.hasCut || alone.fault || solved?.fault) continue
    returns.random.push(meanOf(alone))
    if (!solved) continue
    returns.solver.push(meanOf(solved))
    gains.push(meanOf(solved) - meanOf(alone))
  }
  findings.push(...(await findUnearned(context, prizes)))
  const gain = clusteredMean(gains, [...gains.keys()])
  const again = `${episodes} tasks of check seed ${seed}, each played by both`
  const place = multiplayer ? (utility === 'zero-sum' ? ' in one seat, against random opponents' : ' in all seats') : ''
  if (gain && (multiplayer ? (gain.high ?? gain.mean) < 0 : !(gain.mean > 0 && (gain.low ?? gain.mean) > 0))) {
    const finding: Finding = {
      name: 'solver-no-better',
      what: `The solver earns ${gain.mean.toFixed(3)} more than random play${place} (95 % interval ${gain.low?.toFixed(3)} to ${gain.high?.toFixed(3)}): it is ${multiplayer ? 'worse' : 'not better'}.`,
      again,
      advice: 'Reward what the task asks for, so that solving it earns more than anything else, or correct the solver.',
    }
    if (multiplayer && utility === 'general') warnings.push(finding)
    else findings.push(finding)
  }
  warnings.push(
    ...endings.warnings(again, { hasSolver: solver !== null }),
    ...contradictions.warnings,
    ...unsaid.warnings,
  )
  if (!solver)
    warnings.push({
      name: 'solver-missing',
      what: 'The world exports no solver, so there is no reference for a good return.',
      again,
      advice: `Export a policy that plays ${multiplayer ? 'every seat ' : ''}well as \`solver\`.`,
    })
  if (earned.size === 1)
    warnings.push({
      name: 'return-constant',
      what: `Every episode earns ${multiplayer ? 'every seat ' : ''}the same${solver ? ', of the solver too' : ''}.`,
      again,
      advice: 'Give good actions higher rewards than bad ones.',
    })
  const means = { random: mean(returns.random), solver: mean(returns.solver) }
  return checkOutcome(
    'rewards',
    `steps earn ${range.low.toFixed(3)} to ${range.high.toFixed(3)}${multiplayer ? ' a seat' : ''}, random play ${means.random?.toFixed(3)}${means.solver === null ? '' : `, the solver ${means.solver.toFixed(3)}${place}`}`,
    { findings, warnings, figures: { episodes, ...range, ...means, gain: gain?.mean ?? null } },
  )
}

function paymentFindings(episode: RehearsedEpisode): Finding[] {
  const { environment, steps, fault } = episode
  const findings: Finding[] = []
  const again = (step: number) => `${formatStart(episode)}, step ${step}`
  if (fault) findings.push(faultFinding(fault, again(steps.length + 1)))
  for (const [i, step] of steps.entries())
    for (const [seat, reward] of Object.entries(returnsOf(step))) {
      const earns = `earns ${environment.multiplayer ? `${seat} ` : ''}${reward}.`
      if (step.refused && seat === step.seat && reward > 0)
        findings.push({
          name: 'refusal-paid',
          what: `A refused call (${JSON.stringify(step.action)}) ${earns}`,
          again: again(i + 1),
          advice: `Return 0 from every reward term if refused is set: ${JSON.stringify(step.terms)}.`,
        })
      if (Math.abs(reward) > LARGEST)
        findings.push({
          name: 'reward-huge',
          what: `One step ${earns}`,
          again: again(i + 1),
          advice: 'Scale rewards so that a good episode earns about 1.',
        })
    }
  return findings
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}
