import { type Policy, randomPolicy } from '@episodic/env'
import { type Rehearsal, type RehearsedStep, rehearse } from '@episodic/mcp-server'
import { type Action, createRng, type Json, type Rng, type Step, seedFor } from '@episodic/protocol'
import type { CheckContext, CheckedWorld, Setting } from '../check-context.ts'
import { type CheckOutcome, checkOutcome } from '../check-report.ts'
import { type Difference, type Finding, findTextDifference } from '../finding.ts'
import { drawPlayPolicy } from '../noisy-policy.ts'
import { drawPair, type PrivatePair, type SeededStart, seededStarts } from '../private-pairs.ts'
import { asStep, startPlayer, truncationAt } from '../rehearsed-episode.ts'
import { findDerivedTokens } from './derived-tokens.ts'
import { comparePairsAtEndpoints, type VaryingSetting } from './endpoint-pairs.ts'
import { findInitialStateLeaks } from './initial-state-leaks.ts'

/** Seeds of each setting whose initial states are examined, and how many of them form pairs. */
const STARTS = 384
const PAIRED = 48
/** Most steps of a pair. */
const STEPS = 64
/** Pairs that are played on, to find what leaks late, and the steps of all of them together. */
const LONG_PAIRS = 8
const LONG_STEPS = 4_000
/** If a larger share of the pairs diverges at the first call, too little was compared to conclude anything. */
const MOST_AT_ONCE = 0.9

/** The comparison of one pair. */
interface Compared {
  readonly steps: number
  /** Whether its tools revealed different values, which ended it. */
  readonly diverged: boolean
  /** Whether it diverged at the first call that was not refused. */
  readonly atOnce: boolean
  /** Whether the swapped private state was inconsistent with the public one, so the comparison proves nothing. */
  readonly invalid: boolean
  readonly finding: Finding | null
}

/**
 * Plays pairs of episodes that differ only in their private states: same parameters, initial public state, random draws
 * and actions. Until a tool reveals different values, both have to return the same answers and the same public state,
 * byte for byte.
 */
export async function checkNonInterference(context: CheckContext): Promise<CheckOutcome> {
  const { world, settings, seed } = context
  const { environment } = world
  const allStarts = settings.map((setting) => seededStarts(environment, setting, seed, STARTS))
  const starts = allStarts.map((found) => found.slice(0, PAIRED))
  const differing: VaryingSetting[] = settings.flatMap((setting, i) => {
    const found = starts[i] as SeededStart[]
    return drawPair(environment, found, createRng(seed)) ? [{ setting, starts: found }] : []
  })
  const { findings, warnings } = initialStateFindings(context, allStarts)
  if (differing.length === 0) {
    const declared = starts.some((found) => found.some((one) => Object.keys(one.private).length > 0))
    const constant: Finding = {
      name: 'nothing-varies',
      what: 'There is a private state, but no two seeds differ in it.',
      again: `${STARTS} seeds of each setting, check seed ${seed}`,
      advice: 'Draw what a player has to find out from rng in start. A constant is memorized.',
    }
    return checkOutcome('non-interference', 'no private state varies, so there is nothing to compare', {
      findings,
      warnings: declared ? [constant] : [],
      figures: { pairs: 0, steps: 0, diverged: 0, differing: 0 },
    })
  }
  const counts = { pairs: 0, steps: 0, diverged: 0, divergedAtOnce: 0, invalid: 0, fitting: 0 }
  for (let i = 0; i < context.pairs; i++) {
    context.signal?.throwIfAborted()
    if (i % 20 === 0) context.onProgress(i, context.pairs)
    const rng = createRng(seedFor(seed, 'pair', i))
    const { setting, starts: found } = rng.pick(differing)
    const pair = drawPair(environment, found, rng)
    if (!pair) continue
    const isLong = i < LONG_PAIRS
    const most = isLong ? Math.max(STEPS, Math.ceil((LONG_STEPS - counts.steps) / (LONG_PAIRS - i))) : STEPS
    const compared = await comparePair(world, setting, pair, { rng, most, isLong })
    counts.pairs += 1
    counts.steps += compared.steps
    if (pair.fits) counts.fitting += 1
    if (compared.diverged) counts.diverged += 1
    if (compared.atOnce) counts.divergedAtOnce += 1
    if (compared.invalid) counts.invalid += 1
    if (compared.finding) findings.push(compared.finding)
  }
  const endpoints = await comparePairsAtEndpoints(context, differing)
  findings.push(...endpoints.findings)
  const { pairs, steps, diverged, divergedAtOnce, invalid } = counts
  const again = `${pairs} pairs of check seed ${seed}`
  if (invalid > pairs / 2)
    warnings.push({
      name: 'pairs-invalid',
      what: `In ${invalid} of ${pairs} pairs the private state of another seed was inconsistent with the public one, so little was compared.`,
      again,
      advice: 'If you can, draw the private state independently of the public one.',
    })
  if (divergedAtOnce > pairs * MOST_AT_ONCE)
    warnings.push({
      name: 'pairs-diverge',
      what: `${divergedAtOnce} of ${pairs} pairs diverged at the first accepted call, by what it revealed, so hardly anything was compared.`,
      again,
      advice: 'Mark less with reveal(…), or later, so that the rest of the answers can be compared.',
    })
  return checkOutcome(
    'non-interference',
    `${pairs} pairs, ${steps} steps, ${diverged} diverged by revealed values; ${endpoints.pairs} pairs at the agent endpoints (${endpoints.messages} answers): ${findings.length === 0 ? '0 bytes differ' : `${findings.length} differ`}`,
    {
      findings,
      warnings,
      figures: {
        ...counts,
        endpointPairs: endpoints.pairs,
        endpointMessages: endpoints.messages,
        differing: findings.length,
      },
    },
  )
}

/**
 * What the initial public state reveals, once for all settings: findings, and warnings for what only narrows a value
 * down.
 */
function initialStateFindings({ settings }: CheckContext, allStarts: readonly (readonly SeededStart[])[]) {
  const found = new Map<string, Finding>()
  for (const [i, starts] of allStarts.entries())
    for (const { feature, private: path, reveals } of findInitialStateLeaks(starts)) {
      const [kind, verb, rest] = LEAK_WORDS[reveals]
      const name = `${kind}:${path}` as const
      if (found.has(name)) continue
      found.set(name, {
        name,
        what: `In the initial state, ${feature} ${verb} private.${path}${rest}.`,
        again: `params ${JSON.stringify(settings[i]?.params)}, seeds ${starts
          .slice(0, 3)
          .map((one) => one.seed)
          .join(', ')}`,
        advice:
          'Keep it in the private state only, and reveal(…) what a tool is meant to return. If players are meant to know it, waive this finding.',
      })
    }
  for (const [i, starts] of allStarts.entries())
    for (const { feature, private: path, how } of findDerivedTokens(starts)) {
      const name = `start-reveals:${path}` as const
      if (found.has(name)) continue
      found.set(name, {
        name,
        what: `In the initial state, ${feature} is ${how} private.${path}: a player who tries values finds it.`,
        again: `params ${JSON.stringify(settings[i]?.params)}, seed ${starts[0]?.seed}`,
        advice: 'Draw public tokens from a stream of their own, such as rng.stream(…), and never from a private value.',
      })
    }
  const [findings, warnings] = [true, false].map((fails) =>
    [...found.values()].filter(({ name }) => name.startsWith('start-reveals') === fails),
  ) as [Finding[], Finding[]]
  return { findings, warnings }
}

const LEAK_WORDS = {
  all: ['start-reveals', 'determines', ''],
  order: ['start-reveals', 'is determined by', ''],
  part: ['start-narrows', 'is determined by', ', which narrows it down'],
} as const

async function comparePair(
  world: CheckedWorld,
  setting: Setting,
  pair: PrivatePair,
  { rng, most, isLong }: { readonly rng: Rng; readonly most: number; readonly isLong: boolean },
): Promise<Compared> {
  const { environment } = world
  const { params } = setting
  const { seed } = pair
  const [left, right] = [pair.first, pair.second].map((privateState) =>
    rehearse(environment, { params, seed, privateState }),
  ) as [Rehearsal, Rehearsal]
  // Half of the long pairs are of valid random calls, which rarely end an episode early.
  const policy = isLong && rng.chance() ? randomPolicy() : drawPlayPolicy(world, rng)
  const player = await startPlayer(policy, environment, setting, seedFor(seed, pair.from))
  const actions: Action[] = []
  let last: Step | null = null
  let steps = 0
  let answered = 0
  const end = (rest: Partial<Compared> = {}): Compared => ({
    steps,
    diverged: false,
    atOnce: false,
    invalid: false,
    finding: null,
    ...rest,
  })
  while (steps < Math.min(most, setting.steps) && left.end === null) {
    const action = await player(left.observation, { last })
    actions.push(action)
    const truncation = truncationAt(steps, setting)
    const [first, second] = [left, right].map((rehearsal) => tryStep(rehearsal, action, truncation)) as [
      Visible,
      Visible,
    ]
    if (!pair.fits && first.step && !second.step) return end({ invalid: true })
    if (JSON.stringify(first.revealed) !== JSON.stringify(second.revealed))
      return end({ diverged: true, atOnce: answered === 0 })
    const inAnswer = findTextDifference(first.text, second.text)
    if (inAnswer) return end({ finding: describe('answer-differs', setting, pair, policy, actions, inAnswer) })
    const inState = findTextDifference(first.state, second.state)
    if (inState) return end({ finding: describe('state-differs', setting, pair, policy, actions, inState) })
    steps += 1
    if (first.step?.refused === null) answered += 1
    if (first.step) last = asStep(first.step, steps)
  }
  return end()
}

/** What an agent receives for one step and can read after it. */
interface Visible {
  readonly text: string
  /** The public state with its keys in their order, as the state resource returns it. */
  readonly state: string
  readonly revealed: readonly Json[]
  readonly step: RehearsedStep | null
}

function tryStep(
  rehearsal: Rehearsal,
  { tool, arguments: args }: Action,
  truncation: ReturnType<typeof truncationAt>,
): Visible {
  const readState = () => JSON.stringify(rehearsal.state.public)
  try {
    const step = rehearsal.play(tool, args, { truncation })
    return { text: answerText(step), state: readState(), revealed: step.revealed, step }
  } catch {
    return { text: 'the environment failed', state: readState(), revealed: [], step: null }
  }
}

/** Everything that the agent endpoint returns for a step, and whether the episode is over. */
function answerText({ observation, refused, end }: RehearsedStep): string {
  const { text, structured } = observation
  return JSON.stringify({ text, ...(refused ? { isError: true } : { structured }), over: end !== null })
}

function describe(
  kind: 'answer-differs' | 'state-differs',
  { params }: Setting,
  { seed, from }: PrivatePair,
  policy: Policy,
  actions: readonly Action[],
  difference: Difference,
): Finding {
  return {
    name: `${kind}:${actions.at(-1)?.tool}`,
    what: `${kind === 'state-differs' ? 'The public state after step' : 'Step'} ${actions.length} (${JSON.stringify(actions.at(-1))?.slice(0, 200)}) distinguishes two private states that have revealed the same values.`,
    again: `params ${JSON.stringify(params)}, seed ${seed} against ${from}, actions of ${policy.name}: ${JSON.stringify(actions).slice(0, 600)}`,
    advice:
      'Except for what goes through reveal(…), no answer and no public state may depend on private state, nor may their length or order.',
    difference,
  }
}
