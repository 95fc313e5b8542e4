import type { Policy } from '@episodic/env'
import { type Rehearsal, type RehearsedStep, rehearse } from '@episodic/mcp-server'
import { type Action, createRng, type Json, type Rng, type Step, seedFor } from '@episodic/protocol'
import { type Examined, examined } from '../check-report.ts'
import { findDifference } from '../difference.ts'
import type { Difference, Finding } from '../finding.ts'
import { type Beginning, beginningsOf, drawPair, type PrivatePair } from '../private-pairs.ts'
import { asStep, beginPlayer, truncationAt } from '../rehearsed-episode.ts'
import type { CheckedWorld, Setting, Subject } from '../subject.ts'
import { drawPolicy } from '../wayward-policy.ts'
import { type Begun, compareOverDoors } from './endpoint-pairs.ts'
import { findToldStarts } from './initial-observation.ts'

/** Seeds of each setting whose starts are compared, and of how many of them pairs are made. */
const STARTS = 384
const PAIRED = 48
/** Steps of a pair. What depends on a secret for longer than this is found by other pairs. */
const STEPS = 64
/** The share of pairs beyond which it says little that none of them told: they parted before they could. */
const MOST_AT_ONCE = 0.9

/** What became of a pair. */
interface Compared {
  readonly steps: number
  /** Whether its tools revealed different values, which ended it. */
  readonly parted: boolean
  /** Whether it parted at the first call that was played, so that nothing but refusals was compared. */
  readonly atOnce: boolean
  /** Whether the swapped private state did not fit the public one, so that nothing can be said. */
  readonly unfit: boolean
  readonly finding: Finding | null
}

/**
 * Plays pairs of episodes that differ in their private states alone: the same parameters, public start, chance and
 * actions. Up to the first step whose tools reveal different values, an agent has to be told the same and has to read the same
 * public state, byte for byte.
 */
export async function checkNonInterference(subject: Subject): Promise<Examined> {
  const { world, settings, seed } = subject
  const { environment } = world
  const starts = settings.map((setting) => beginningsOf(environment, setting, seed, STARTS))
  const beginnings = starts.map((found) => found.slice(0, PAIRED))
  const differing: Begun[] = settings.flatMap((setting, i) => {
    const found = beginnings[i] as Beginning[]
    return drawPair(environment, found, createRng(seed)) ? [{ setting, beginnings: found }] : []
  })
  const told = toldStarts(subject, starts)
  if (differing.length === 0) {
    const declared = beginnings.some((found) => found.some((one) => Object.keys(one.private).length > 0))
    const warnings: Finding[] = declared
      ? [
          {
            name: 'nothing-varies',
            what: 'There is a private state, and no two seeds differ in it.',
            again: `${STARTS} seeds of each setting, check seed ${seed}`,
            advice:
              'Draw from rng in start what a player has to find out: what is the same for all is learned by heart.',
          },
        ]
      : []
    return examined('non-interference', 'nothing is private, so there is nothing to tell', {
      findings: told.findings,
      warnings,
      figures: { pairs: 0, steps: 0, parted: 0, differing: 0 },
    })
  }
  const { findings, warnings } = told
  const counts = { pairs: 0, steps: 0, parted: 0, partedAtOnce: 0, unfit: 0, fitting: 0 }
  for (let i = 0; i < subject.pairs; i++) {
    subject.signal?.throwIfAborted()
    if (i % 20 === 0) subject.onProgress(i, subject.pairs)
    const rng = createRng(seedFor(seed, 'pair', i))
    const { setting, beginnings: found } = rng.pick(differing)
    const pair = drawPair(environment, found, rng)
    if (!pair) continue
    const compared = await comparePair(world, setting, pair, rng)
    counts.pairs += 1
    counts.steps += compared.steps
    if (pair.fits) counts.fitting += 1
    if (compared.parted) counts.parted += 1
    if (compared.atOnce) counts.partedAtOnce += 1
    if (compared.unfit) counts.unfit += 1
    if (compared.finding) findings.push(compared.finding)
  }
  const doors = await compareOverDoors(subject, differing)
  findings.push(...doors.findings)
  const { pairs, steps, parted, partedAtOnce, unfit } = counts
  const again = `${pairs} pairs of check seed ${seed}`
  if (unfit > pairs / 2)
    warnings.push({
      name: 'pairs-misfit',
      what: `In ${unfit} of ${pairs} pairs the private state of another seed did not fit the public one, so that little was compared.`,
      again,
      advice: 'Where you can, draw the private state so that it does not depend on the public one.',
    })
  if (partedAtOnce > pairs * MOST_AT_ONCE)
    warnings.push({
      name: 'pairs-part',
      what: `${partedAtOnce} of ${pairs} pairs parted at the first call that was played, by what it revealed, so that hardly anything was compared.`,
      again,
      advice: 'Let reveal(…) mark less, or later, so that what else is told can be looked at.',
    })
  return examined(
    'non-interference',
    `${pairs} pairs, ${steps} steps, ${parted} parted by what was revealed; ${doors.pairs} pairs over the doors (${doors.messages} answers): ${findings.length === 0 ? '0 bytes differ' : `${findings.length} differ`}`,
    {
      findings,
      warnings,
      figures: { ...counts, doorPairs: doors.pairs, doorMessages: doors.messages, differing: findings.length },
    },
  )
}

/** What the public state tells of the private one where the world begins, said once for all settings. */
function toldStarts({ settings }: Subject, starts: readonly (readonly Beginning[])[]) {
  const found = new Map<string, Finding>()
  for (const [i, beginnings] of starts.entries())
    for (const { reading, private: path, tells } of findToldStarts(beginnings)) {
      const [kind, verb, rest] = WORDS_OF_START[tells]
      const name = `${kind}:${path}` as const
      if (found.has(name)) continue
      found.set(name, {
        name,
        what: `Where the world begins, ${reading} ${verb} private.${path}${rest}.`,
        again: `params ${JSON.stringify(settings[i]?.params)}, seeds ${beginnings
          .slice(0, 3)
          .map((one) => one.seed)
          .join(', ')}`,
        advice:
          'Keep it in the private state alone, and reveal(…) of it what a tool is meant to tell. Where players are meant to know it, waive this.',
      })
    }
  const [findings, warnings] = [true, false].map((fails) =>
    [...found.values()].filter(({ name }) => name.startsWith('start-tells') === fails),
  ) as [Finding[], Finding[]]
  return { findings, warnings }
}

const WORDS_OF_START = {
  all: ['start-tells', 'tells', ''],
  order: ['start-tells', 'follows from', ''],
  part: ['start-narrows', 'follows from', ', which narrows down what that is'],
} as const

async function comparePair(world: CheckedWorld, setting: Setting, pair: PrivatePair, rng: Rng): Promise<Compared> {
  const { environment } = world
  const { params } = setting
  const { seed } = pair
  const [left, right] = [pair.first, pair.second].map((privateState) =>
    rehearse(environment, { params, seed, privateState }),
  ) as [Rehearsal, Rehearsal]
  const policy = drawPolicy(world, rng)
  const player = await beginPlayer(policy, environment, setting, seedFor(seed, pair.from))
  const actions: Action[] = []
  let last: Step | null = null
  let steps = 0
  let answered = 0
  const end = (rest: Partial<Compared> = {}): Compared => ({
    steps,
    parted: false,
    atOnce: false,
    unfit: false,
    finding: null,
    ...rest,
  })
  while (steps < Math.min(STEPS, setting.steps) && left.end === null) {
    const action = await player(left.observation, { last })
    actions.push(action)
    const truncation = truncationAt(steps, setting)
    const [first, second] = [left, right].map((rehearsal) => tryStep(rehearsal, action, truncation)) as [Told, Told]
    if (!pair.fits && first.step && !second.step) return end({ unfit: true })
    if (JSON.stringify(first.revealed) !== JSON.stringify(second.revealed))
      return end({ parted: true, atOnce: answered === 0 })
    const heard = findDifference(first.text, second.text)
    if (heard) return end({ finding: describe('answer-differs', setting, pair, policy, actions, heard) })
    const read = findDifference(first.state, second.state)
    if (read) return end({ finding: describe('state-differs', setting, pair, policy, actions, read) })
    steps += 1
    if (first.step?.refused === null) answered += 1
    if (first.step) last = asStep(first.step, steps)
  }
  return end()
}

/** What an agent is told of one step, and what it can read after it. */
interface Told {
  readonly text: string
  /** The public state as the resource of the session shows it: with its keys in their order. */
  readonly state: string
  readonly revealed: readonly Json[]
  readonly step: RehearsedStep | null
}

function tryStep(
  rehearsal: Rehearsal,
  { tool, arguments: args }: Action,
  truncation: ReturnType<typeof truncationAt>,
): Told {
  const readState = () => JSON.stringify(rehearsal.state.public)
  try {
    const step = rehearsal.play(tool, args, { truncation })
    return { text: toldText(step), state: readState(), revealed: step.revealed, step }
  } catch {
    return { text: 'the environment failed', state: readState(), revealed: [], step: null }
  }
}

/** Everything of a step that the agent endpoint tells, and whether another call would be played. */
function toldText({ observation, refused, end }: RehearsedStep): string {
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
    what: `${kind === 'state-differs' ? 'The public state after step' : 'Step'} ${actions.length} (${JSON.stringify(actions.at(-1))?.slice(0, 200)}) tells apart two private states that had revealed the same.`,
    again: `params ${JSON.stringify(params)}, seed ${seed} against ${from}, actions of ${policy.name}: ${JSON.stringify(actions).slice(0, 600)}`,
    advice:
      'Let nothing that is said or kept in the public state depend on private state, its length and its order included, but for what goes through reveal(…).',
    difference,
  }
}
