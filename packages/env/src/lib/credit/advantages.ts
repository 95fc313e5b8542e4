import { type Action, canonicalJson, type Json } from '@episodic/protocol'
import { optionInvalid } from '../env-error.ts'

export interface Rollout {
  /** Names the state at the start. Rollouts with the same parameters and seed have the same. Default: empty. */
  readonly start?: string | undefined
  readonly steps: readonly RolloutStep[]
}

export interface RolloutStep {
  /** What was done there: one action, or those of one answer of a model. */
  readonly action: Action | readonly Action[]
  readonly reward: number
  /** The whole state after the step, hidden part included; `null` if it is not known: then it is met by no other. */
  readonly stateHash: string | null
  /** How many steps of the environment it stands for. Default: 1. */
  readonly calls?: number | undefined
  /**
   * Names the step among those of the group. Rollouts that were forked share their first steps: these are one step, and
   * its advantage is the mean over the rollouts that go on from it. Default: shared by none.
   */
  readonly sample?: string | undefined
}

/** How a step is credited from the states that rollouts share, see {@link advantages}. */
export type CreditForm = 'state' | 'gigpo' | 'rtmc'

export interface AdvantagesOptions {
  /** Default: `state`. */
  readonly form?: CreditForm | undefined
  /** Weight of the advantage of the whole episode. Default: 1, and 0 for `rtmc`. */
  readonly episodeWeight?: number | undefined
  /** Weight of what the states say: ω of GiGPO. Default: 1. */
  readonly stateWeight?: number | undefined
  /** γ, from 0 to 1. Default: 1. */
  readonly discount?: number | undefined
  /** Whether states are the same only after as many calls, where a limit of steps is near. Default: `false`. */
  readonly timeLeft?: boolean | undefined
  /** Whether advantages are divided by the standard deviation of their returns, as in GRPO. Default: `false`. */
  readonly deviation?: boolean | undefined
}

export interface StepCredit {
  /** The state before it, by the hash that the step before it had; `start` and its name at the start. */
  readonly node: string
  /** How many steps of the group were taken there, this one included. */
  readonly visits: number
  /** The mean of what followed there, and that of where the step led, its own reward included. */
  readonly value: number
  readonly after: number
  /** What the states say of it, and the weighted sum of that with the advantage of the episode. */
  readonly state: number
  readonly advantage: number
}

export interface GroupAdvantages {
  readonly rollouts: readonly {
    readonly return: number
    readonly advantage: number
    readonly steps: readonly StepCredit[]
  }[]
  /** How many steps there are: those that forked rollouts share count once. */
  readonly steps: number
  /** How many of them, after the start, were taken in a state in which another one was taken too. */
  readonly shared: number
}

type Learned = Pick<StepCredit, 'state' | 'advantage'>

interface Visit extends Pick<RolloutStep, 'sample'> {
  readonly rollout: number
  readonly isStart: boolean
  readonly node: string
  /** The node with the action, which is a node of its own to RTMC. */
  readonly taken: string
  readonly next: string | null
  readonly reward: number
  readonly decay: number
  readonly toGo: number
}

/**
 * Computes the advantage of each step of a group of rollouts of one task from the states that they share: steps that
 * were taken in the same state form a node. The state is the true one, whatever players saw of it. Nothing is played.
 *
 * The advantage of a step is `episodeWeight` · (return − mean return of the group) + `stateWeight` · A, where A is
 *
 * - `state`: r + γ V(s′) − V(s), where V is the mean return-to-go from the first visit of each rollout that came there,
 *   and 0 after the end: Sutton & Barto, Reinforcement Learning, 2nd ed., sections 5.1 and 13.5. What a rollout earns
 *   in states that no other one met is credited to the step at which it left the others.
 * - `gigpo`: the return-to-go less the mean over all steps that were taken in the state. Feng et al., "Group-in-Group
 *   Policy Optimization for LLM Agent Training" (2025, arXiv:2505.10978), section 4.
 * - `rtmc`: Q(s, a) − V(s), where Q is the mean return-to-go of the rollouts that took the action there, by first
 *   visits. Wang et al., "RTMC: Step-Level Credit Assignment via Rollout Trees" (2026, arXiv:2604.11037), without its
 *   prior.
 *
 * The order of rollouts changes no bit of the result: sums are made in ascending order. `episodic_env.advantages` of
 * the Python package returns the same bits.
 *
 * Throws EnvError `option-invalid` for a weight or a reward that is not finite, and a discount outside of 0 to 1.
 */
export function advantages(rollouts: readonly Rollout[], options: AdvantagesOptions = {}): GroupAdvantages {
  const { form = 'state', stateWeight = 1, discount = 1, timeLeft = false, deviation = false } = options
  const { episodeWeight = form === 'rtmc' ? 0 : 1 } = options
  if (!(discount >= 0 && discount <= 1 && Number.isFinite(episodeWeight) && Number.isFinite(stateWeight)))
    throw optionInvalid(
      `Advantages need a discount from 0 to 1 and finite weights; got ${discount}, ${episodeWeight} and ${stateWeight}.`,
    )
  const ways = rollouts.map((rollout, i) => visitsOf(rollout, i, discount, timeLeft))
  const visits = ways.flat()
  const nodes = new Map([...Map.groupBy(visits, ({ node }) => node)].map(([name, met]) => [name, nodeOf(met)]))
  const taken = new Map(
    [...Map.groupBy(visits, (visit) => visit.taken)].map(([key, met]) => [key, meanOf(firstOf(met))]),
  )
  const returns = ways.map(([first]) => first?.toGo ?? 0)
  const mean = meanOf(returns)
  const scale = deviation ? deviationOf(returns, mean) : 1
  const ofEpisodes = returns.map((value) => scaled(value - mean, scale))

  const at = (node: string) => nodes.get(node) as Node
  const after = ({ reward, decay, next }: Visit) => reward + decay * (next === null ? 0 : at(next).value)
  function stateOf(visit: Visit): number {
    const { value, middle, spread } = at(visit.node)
    if (form === 'state') return scaled(after(visit) - value, scale)
    if (form === 'rtmc') return scaled((taken.get(visit.taken) as number) - value, scale)
    return scaled(visit.toGo - middle, deviation ? spread : 1)
  }

  // A step that forked rollouts share was sampled once, and is learned once.
  const samples = Map.groupBy(visits, (visit) => visit.sample ?? visit)
  const credits = new Map<Visit, Learned>()
  for (const same of samples.values()) {
    const state = meanOf(same.map(stateOf))
    const episode = meanOf(same.map(({ rollout }) => ofEpisodes[rollout] as number))
    const credit = { state, advantage: episodeWeight * episode + stateWeight * state }
    for (const visit of same) credits.set(visit, credit)
  }
  return {
    rollouts: ways.map((way, i) => ({
      return: returns[i] as number,
      advantage: ofEpisodes[i] as number,
      steps: way.map((visit): StepCredit => {
        const { visits, value } = at(visit.node)
        return { node: visit.node, visits, value, after: after(visit), ...(credits.get(visit) as Learned) }
      }),
    })),
    steps: samples.size,
    shared: [...samples.values()].filter(([first]) => first && !first.isStart && at(first.node).visits > 1).length,
  }
}

type Node = ReturnType<typeof nodeOf>

function nodeOf(met: readonly Visit[]) {
  const all = met.map(({ toGo }) => toGo)
  const middle = meanOf(all)
  const visits = new Set(met.map((visit) => visit.sample ?? visit)).size
  return { visits, value: meanOf(firstOf(met)), middle, spread: deviationOf(all, middle) }
}

function visitsOf({ start = '', steps }: Rollout, rollout: number, discount: number, timeLeft: boolean): Visit[] {
  const visits: Visit[] = []
  let before = steps.reduce((sum, { calls = 1 }) => sum + calls, 0)
  let toGo = 0
  let next: string | null = null
  for (let at = steps.length - 1; at >= 0; at--) {
    const { action, reward, calls = 1, sample } = steps[at] as RolloutStep
    if (!Number.isFinite(reward)) throw optionInvalid(`Step ${at} of rollout ${rollout} has the reward ${reward}.`)
    let decay = 1
    for (let call = 0; call < calls; call++) decay *= discount
    toGo = reward + decay * toGo
    before -= calls
    const state = at === 0 ? `start ${start}` : (steps[at - 1]?.stateHash ?? `unknown ${rollout} ${at}`)
    const node = timeLeft ? `${state} after ${before}` : state
    const taken = `${node} ${canonicalJson(action as Json)}`
    visits.push({ rollout, isStart: at === 0, node, taken, next, reward, decay, toGo, sample })
    next = node
  }
  return visits.reverse()
}

/** The returns-to-go of the first visit of each rollout: of a way that comes back, later ones depend on it. */
function firstOf(visits: readonly Visit[]): number[] {
  const first = new Map<number, number>()
  for (const { rollout, toGo } of visits) if (!first.has(rollout)) first.set(rollout, toGo)
  return [...first.values()]
}

function meanOf(values: readonly number[]): number {
  const sum = values.toSorted((one, other) => one - other).reduce((all, value) => all + value, 0)
  return values.length === 0 ? 0 : sum / values.length
}

function deviationOf(values: readonly number[], mean: number): number {
  const spread = Math.sqrt(meanOf(values.map((value) => (value - mean) * (value - mean))))
  return spread <= 1e-12 * values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) ? 0 : spread
}

/** 0 where nothing differs but by rounding: nothing is to be learned there. */
function scaled(difference: number, scale: number): number {
  return scale === 0 ? 0 : difference / scale
}
