import { connect, runEpisode, withShaping } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { seedFor } from '@episodic/protocol'
import { clusteredMean } from '@episodic/report'
import type { CheckContext, Setting } from '../check-context.ts'
import { type CheckOutcome, checkOutcome } from '../check-report.ts'
import { Contradictions } from '../contradictions.ts'
import type { Finding } from '../finding.ts'
import { noisyPolicy } from '../noisy-policy.ts'
import { type RehearsedEpisode, rehearseEpisode } from '../rehearsed-episode.ts'
import { Endings } from './endings.ts'
import { findUnearned, notePrizes } from './unearned.ts'

const EPISODES = 48
/** Episodes whose shaping rewards are summed, and the discounts γ. */
const SHAPED = 8
const DISCOUNTS = [1, 0.9]
/** Largest magnitude of a step's reward. */
const LARGEST = 1e6
/** Most rounding error of a sum of some thousand numbers around 1. */
const ROUNDING = 1e-9

/**
 * Checks that rewards are finite and bounded, that refused calls earn nothing, that nothing is paid or counts as
 * success for being cut off by a limit, that the rules end some episodes, that the texts of answers say what their data
 * says, that the solver earns more than random play on the same tasks, and that shaping telescopes to the difference of
 * potentials.
 */
export async function checkRewards(context: CheckContext): Promise<CheckOutcome> {
  const { world, settings, seed } = context
  const { environment, solver = null } = world
  const findings: Finding[] = []
  const warnings: Finding[] = []
  const random = noisyPolicy(null, { random: 1, invalid: 0.1 })
  const returns = { random: [] as number[], solver: [] as number[] }
  const range = { low: 0, high: 0 }
  const prizes = new Map<string, number>()
  const endings = new Endings(environment)
  const contradictions = new Contradictions(environment)
  for (let i = 0; i < EPISODES; i++) {
    context.signal?.throwIfAborted()
    context.onProgress(i, EPISODES)
    const setting = settings[i % settings.length] as Setting
    const own = seedFor(seed, 'rewards', i)
    for (const [name, policy] of Object.entries({ random, solver })) {
      if (!policy) continue
      const episode = await rehearseEpisode({ environment, setting, seed: own, policy })
      findings.push(...paymentFindings(episode, setting, own))
      notePrizes(prizes, episode)
      endings.add(episode, setting)
      contradictions.add(episode.steps, setting, own)
      for (const { reward } of episode.steps) {
        range.low = Math.min(range.low, reward)
        range.high = Math.max(range.high, reward)
      }
      if (!episode.fault) returns[name as keyof typeof returns].push(episode.total)
    }
  }
  findings.push(...findUnearned(context, prizes))
  const tasks = Array.from({ length: EPISODES }, (_, i) => i)
  const paired = returns.solver.map((earned, i) => earned - (returns.random[i] ?? 0))
  const gain = solver && returns.random.length === returns.solver.length ? clusteredMean(paired, tasks) : null
  if (gain && !(gain.mean > 0 && (gain.low ?? gain.mean) > 0))
    findings.push({
      name: 'solver-no-better',
      what: `The solver earns ${gain.mean.toFixed(3)} more than random play (95 % interval ${gain.low?.toFixed(3)} to ${gain.high?.toFixed(3)}): it is not better.`,
      again: `${EPISODES} tasks of check seed ${seed}, each played by both`,
      advice: 'Reward what the task asks for, so that solving it earns more than anything else.',
    })
  const again = `${EPISODES} tasks of check seed ${seed}`
  warnings.push(...endings.warnings(again, { hasSolver: solver !== null }), ...contradictions.warnings)
  if (!solver)
    warnings.push({
      name: 'solver-missing',
      what: 'The world exports no solver, so there is no reference for a good return.',
      again,
      advice: 'Export a policy that plays well as `solver`.',
    })
  if (new Set(returns.random).size === 1 && !solver)
    warnings.push({
      name: 'return-constant',
      what: 'Every random episode earns the same.',
      again,
      advice: 'Give good actions higher rewards than bad ones.',
    })
  if (environment.hasPotential) findings.push(...(await shapingFindings(context)))
  const means = { random: mean(returns.random), solver: mean(returns.solver) }
  const shaping = environment.hasPotential ? `; shaping telescopes for γ ${DISCOUNTS.join(' and ')}` : ''
  return checkOutcome(
    'rewards',
    `steps earn ${range.low.toFixed(3)} to ${range.high.toFixed(3)}, random play ${means.random?.toFixed(3)}${means.solver === null ? '' : `, the solver ${means.solver.toFixed(3)}`}${findings.length === 0 ? shaping : ''}`,
    { findings, warnings, figures: { episodes: EPISODES, ...range, ...means, gain: gain?.mean ?? null } },
  )
}

function paymentFindings({ steps, fault }: RehearsedEpisode, { params }: Setting, seed: string): Finding[] {
  const findings: Finding[] = []
  const again = (step: number) => `params ${JSON.stringify(params)}, seed ${seed}, step ${step}`
  if (fault)
    findings.push({
      name: 'rules-failed',
      what: `The rules failed: ${fault.message}`,
      again: again(steps.length + 1),
      advice: 'Return a finite number from every reward term, and answer or refuse every call.',
    })
  for (const [i, { reward, refused, terms, action }] of steps.entries()) {
    if (refused && reward > 0)
      findings.push({
        name: 'refusal-paid',
        what: `A refused call (${JSON.stringify(action)}) earns ${reward}.`,
        again: again(i + 1),
        advice: `Return 0 from every reward term if refused is set: ${JSON.stringify(terms)}.`,
      })
    if (Math.abs(reward) > LARGEST)
      findings.push({
        name: 'reward-huge',
        what: `One step earns ${reward}.`,
        again: again(i + 1),
        advice: 'Scale rewards so that a good episode earns about 1.',
      })
  }
  return findings
}

/**
 * Sums the shaping rewards of whole episodes, played through a host as a learner does, and compares the sum with
 * Σ γᵗ F_t = γᵀ Φ(s_T) · [not terminated] − Φ(s_0) for F_t = γ Φ(s_{t+1}) − Φ(s_t).
 *
 * Ng, Harada & Russell, "Policy invariance under reward transformations" (1999).
 */
async function shapingFindings({ world, settings, seed }: CheckContext): Promise<Finding[]> {
  const { environment, solver = null } = world
  const findings: Finding[] = []
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  for (const discount of DISCOUNTS) {
    for (let i = 0; i < SHAPED; i++) {
      const setting = settings[i % settings.length] as Setting
      const own = seedFor(seed, 'shaping', i)
      const { prompt, hints, params, steps: limit } = setting
      const episode = await runEpisode({
        createEnvironment: () => withShaping(connection.environment(), { discount }),
        policy: noisyPolicy(i % 2 === 0 ? solver : null, { random: 0.3, invalid: 0.1 }),
        task: { prompt, hints, params, limits: { steps: limit } },
        seed: own,
      })
      const again = `params ${JSON.stringify(params)}, seed ${own}, γ ${discount}`
      if (episode.kind === 'failed') {
        const advice = 'Make the rules answer or refuse every call.'
        const what = `An episode failed: ${(episode.cause as Error).message}`
        findings.push({ name: 'episode-failed', what, again, advice })
        continue
      }
      const { start, steps, end } = episode
      const summed = steps.reduce((sum, { reward }, t) => sum + discount ** t * reward.shaping, 0)
      const last = end.kind === 'terminated' ? 0 : (steps.at(-1)?.info.potential ?? 0)
      const expected = discount ** steps.length * last - (start.info.potential ?? 0)
      if (Math.abs(summed - expected) > ROUNDING * Math.max(1, Math.abs(expected)))
        findings.push({
          name: 'shaping-wrong',
          what: `The shaping rewards sum up to ${summed}, but the potential implies ${expected}.`,
          again,
          advice: 'Make the potential a pure function of state and parameters.',
        })
    }
  }
  return findings
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}
