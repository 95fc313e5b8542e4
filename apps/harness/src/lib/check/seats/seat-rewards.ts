import { createRng, seedFor } from '@episodic/protocol'
import { clusteredMean } from '@episodic/report'
import type { CheckContext, Setting } from '../check-context.ts'
import { type CheckOutcome, checkOutcome } from '../check-report.ts'
import { Contradictions } from '../contradictions.ts'
import type { Finding } from '../finding.ts'
import { noisyPolicy } from '../noisy-policy.ts'
import { Endings } from '../rewards/endings.ts'
import { findUnearned, notePrizes } from '../rewards/unearned.ts'
import { playGame, returnsOf } from './game-episode.ts'

const EPISODES = 96
/**
 * Moves of all seats in episodes of the solver, which may be slow. Each episode is compared with one of random play.
 */
const SOLVER_STEPS = 400
/** Largest magnitude of what a seat earns by one step. */
const LARGEST = 1e6

/**
 * Checks that rewards are finite and bounded, that a refused call earns its seat nothing, that nothing is paid or
 * counts as success for being cut off by a limit, that the rules end some episodes, that texts say what their data
 * says, and that the solver does not earn less than random play on the same tasks: in a zero-sum game in one seat
 * against random opponents, where an equilibrium cannot lose on average over the seats, and otherwise in all seats at
 * once. Without a common reward, that only warns.
 */
export async function checkSeatRewards(context: CheckContext): Promise<CheckOutcome> {
  const { world, settings, seed } = context
  const { environment, solver = null } = world
  const findings: Finding[] = []
  const warnings: Finding[] = []
  const random = noisyPolicy(null, { random: 1, invalid: 0.1 })
  const range = { low: 0, high: 0 }
  const prizes = new Map<string, number>()
  const endings = new Endings(environment)
  const contradictions = new Contradictions(environment)
  const utility = environment.game?.utility ?? 'general'
  const gains: number[] = []
  let solverSteps = 0
  const earned = new Set<number>()
  for (let i = 0; i < EPISODES; i++) {
    context.signal?.throwIfAborted()
    context.onProgress(i, EPISODES)
    const setting = settings[i % settings.length] as Setting
    const own = seedFor(seed, 'rewards', i)
    const rng = createRng(own)
    const played = async (policies: Parameters<typeof playGame>[0]['policies']) => {
      const episode = await playGame({ environment, setting, seed: own, policy: random, policies })
      const { steps, fault } = episode
      notePrizes(prizes, episode)
      endings.add(episode, setting)
      contradictions.add(episode.steps, setting, own)
      if (Object.keys(policies ?? {}).length > 0) solverSteps += steps.length
      const again = `params ${JSON.stringify(setting.params)}, seed ${own}, step `
      if (fault)
        findings.push({
          name: 'rules-failed',
          what: `The rules failed: ${fault.message}`,
          again: `${again}${steps.length + 1}`,
          advice: 'Return a finite number from every reward term, and answer or refuse every call.',
        })
      const totals: Record<string, number> = {}
      for (const [at, step] of steps.entries())
        for (const [seat, reward] of Object.entries(returnsOf(step))) {
          totals[seat] = (totals[seat] ?? 0) + reward
          range.low = Math.min(range.low, reward)
          range.high = Math.max(range.high, reward)
          if (step.refused && seat === step.seat && reward > 0)
            findings.push({
              name: 'refusal-paid',
              what: `A refused call (${JSON.stringify(step.action)}) earns ${seat} ${reward}.`,
              again: `${again}${at + 1}`,
              advice: 'Return 0 from every reward term if refused is set.',
            })
          if (Math.abs(reward) > LARGEST)
            findings.push({
              name: 'reward-huge',
              what: `One step earns ${seat} ${reward}.`,
              again: `${again}${at + 1}`,
              advice: 'Scale rewards so that a good episode earns about 1.',
            })
        }
      return totals
    }
    const alone = await played({})
    for (const total of Object.values(alone)) earned.add(total)
    if (!solver || solverSteps >= SOLVER_STEPS) continue
    const seats = Object.keys(alone)
    const compared = utility === 'zero-sum' ? [rng.pick(seats.length > 0 ? seats : environment.seats)] : seats
    const solved = await played(Object.fromEntries(compared.map((seat) => [seat, solver])))
    const gained = compared.map((seat) => (solved[seat] ?? 0) - (alone[seat] ?? 0))
    gains.push(gained.reduce((sum, one) => sum + one, 0) / Math.max(1, gained.length))
  }
  findings.push(...findUnearned(context, prizes))
  const gain = clusteredMean(
    gains,
    gains.map((_, i) => i),
  )
  const again = `${EPISODES} tasks of check seed ${seed}`
  warnings.push(...endings.warnings(again, { hasSolver: solver !== null }), ...contradictions.warnings)
  const place = utility === 'zero-sum' ? 'in one seat, against random opponents' : 'in all seats'
  if (gain && (gain.high ?? gain.mean) < 0) {
    const finding: Finding = {
      name: 'solver-no-better',
      what: `The solver earns ${(-gain.mean).toFixed(3)} less than random play ${place}.`,
      again,
      advice: 'Reward what the game asks for, or correct the solver.',
    }
    if (utility === 'general') warnings.push(finding)
    else findings.push(finding)
  }
  if (!solver)
    warnings.push({
      name: 'solver-missing',
      what: 'The world exports no solver, so there is no reference for a good return.',
      again,
      advice: 'Export a policy that plays every seat well as `solver`.',
    })
  if (earned.size === 1)
    warnings.push({
      name: 'return-constant',
      what: 'Every seat of every random episode earns the same.',
      again,
      advice: 'Give good actions higher rewards than bad ones.',
    })
  const compared = gain ? `; the solver earns ${gain.mean.toFixed(3)} more than random play ${place}` : ''
  return checkOutcome('rewards', `steps earn ${range.low.toFixed(3)} to ${range.high.toFixed(3)} a seat${compared}`, {
    findings,
    warnings,
    figures: { episodes: EPISODES, ...range, gain: gain?.mean ?? null },
  })
}
