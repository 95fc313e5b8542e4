import { connect, runEpisode, withShaping } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { seedFor } from '@episodic/protocol'
import { clusteredMean } from '../../report/fold/statistics.ts'
import { type Examined, examined } from '../check-report.ts'
import type { Finding } from '../finding.ts'
import { type RehearsedEpisode, rehearseEpisode } from '../rehearsed-episode.ts'
import type { Setting, Subject } from '../subject.ts'
import { waywardPolicy } from '../wayward-policy.ts'

const EPISODES = 48
/** Episodes whose shaping is added up, and the discounts γ that it is added up with. */
const SHAPED = 8
const DISCOUNTS = [1, 0.9]
/** A reward of one step beyond this is no reward that a learner could use. */
const LARGEST = 1e6
/** What sums of some thousand numbers around 1 are rounded by, at most. */
const ROUNDING = 1e-9

/**
 * Checks rewards: finite and bounded, none for what was refused, a solver that earns more than random play does over
 * the same tasks, and shaping that telescopes to what its potential says.
 */
export async function checkRewards(subject: Subject): Promise<Examined> {
  const { world, settings, seed } = subject
  const { environment, solver = null } = world
  const findings: Finding[] = []
  const warnings: Finding[] = []
  const random = waywardPolicy(null, { random: 1, wrong: 0.1 })
  const returns = { random: [] as number[], solver: [] as number[] }
  const range = { low: 0, high: 0 }
  for (let i = 0; i < EPISODES; i++) {
    subject.signal?.throwIfAborted()
    subject.onProgress(i, EPISODES)
    const setting = settings[i % settings.length] as Setting
    const own = seedFor(seed, 'rewards', i)
    for (const [name, policy] of Object.entries({ random, solver })) {
      if (!policy) continue
      const episode = await rehearseEpisode({ environment, setting, seed: own, policy })
      findings.push(...paymentFindings(episode, setting, own))
      for (const { reward } of episode.steps) {
        range.low = Math.min(range.low, reward)
        range.high = Math.max(range.high, reward)
      }
      if (!episode.fault) returns[name as keyof typeof returns].push(episode.total)
    }
  }
  const tasks = Array.from({ length: EPISODES }, (_, i) => i)
  const paired = returns.solver.map((earned, i) => earned - (returns.random[i] ?? 0))
  const gain = solver && returns.random.length === returns.solver.length ? clusteredMean(paired, tasks) : null
  if (gain && !(gain.mean > 0 && (gain.low ?? gain.mean) > 0))
    findings.push({
      name: 'solver-no-better',
      what: `The solver earns ${gain.mean.toFixed(3)} more than random play (95 % interval ${gain.low?.toFixed(3)} to ${gain.high?.toFixed(3)}): that is no difference, or one to the worse.`,
      again: `${EPISODES} tasks of check seed ${seed}, each played by both`,
      advice: 'Reward what the task asks for, so that who does it earns more than who does not.',
    })
  const again = `${EPISODES} tasks of check seed ${seed}`
  if (!solver)
    warnings.push({
      name: 'solver-missing',
      what: 'The world exports no solver, so that nothing says what a good return is.',
      again,
      advice: 'Export a policy that plays well as `solver`.',
    })
  if (new Set(returns.random).size === 1 && !solver)
    warnings.push({
      name: 'return-constant',
      what: 'Every random episode earns the same.',
      again,
      advice: 'See that rewards tell good actions from bad ones.',
    })
  if (environment.hasPotential) findings.push(...(await shapingFindings(subject)))
  const means = { random: mean(returns.random), solver: mean(returns.solver) }
  const shaping = environment.hasPotential ? `; shaping telescopes for γ ${DISCOUNTS.join(' and ')}` : ''
  return examined(
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
      advice: 'Make every reward term a finite number, and every rule answer or refuse.',
    })
  for (const [i, { reward, refused, terms, action }] of steps.entries()) {
    if (refused && reward > 0)
      findings.push({
        name: 'refusal-paid',
        what: `A refused call (${JSON.stringify(action)}) earns ${reward}.`,
        again: again(i + 1),
        advice: `Pay nothing where refused is set: ${JSON.stringify(terms)}.`,
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
 * Adds up the shaping of whole episodes, played through a host as a learner does:
 * Σ γᵗ F_t = γᵀ Φ(s_T) · [not terminated] − Φ(s_0) for F_t = γ Φ(s_{t+1}) − Φ(s_t).
 *
 * Ng, Harada & Russell, "Policy invariance under reward transformations" (1999).
 */
async function shapingFindings({ world, settings, seed }: Subject): Promise<Finding[]> {
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
        policy: waywardPolicy(i % 2 === 0 ? solver : null, { random: 0.3, wrong: 0.1 }),
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
          what: `Shaping adds up to ${summed} and not to ${expected}, which its potential says.`,
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
