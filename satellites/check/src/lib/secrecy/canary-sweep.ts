import { rehearse } from '@episodic/mcp-server'
import { createRng, type JsonObject, seedFor } from '@episodic/protocol'
import type { CheckContext, Setting } from '../check-context.ts'
import { type CheckOutcome, checkOutcome, skipped } from '../check-report.ts'
import { type Deal, dealtEnvironment, hasLargePart, hiddenFrom, namePlace, readIn, seatsOfDeal } from '../deal.ts'
import type { Finding } from '../finding.ts'
import { NO_NOISE, type Noise, noisyPolicy, randomAction } from '../noisy-policy.ts'
import { formatPlace, type Move, playMove, type RehearsedEpisode, rehearseEpisode } from '../rehearsed-episode.ts'
import { toolsOfSeat } from '../seat-players.ts'
import { filesIn, shellIn } from '../targets/tampering.ts'
import { countedIn } from '../time-limit.ts'
import { eachLeaf, leavesOf } from '../walk-json.ts'
import { type Mark, type PlantedDeal, plantDeal } from './canaries.ts'
import { findSecrets } from './encodings.ts'
import { ReadPlaces } from './read-places.ts'
import { referencesIn } from './references.ts'
import { CHANNELS, type Channel, type Received, startSide } from './side.ts'

/** How many settings are swept, the most steps of an episode, and how many there are. */
const SETTINGS = 3
const STEPS = 24
const EPISODES = 36
/** Most canaries in a large state, and most hidden values that are sought on a disk. */
const PLANTED = 400
const SOUGHT = 60

/**
 * A share of the hidden values is replaced: where rules compare one, they may go another way without it. A solver that
 * is disturbed by noise may never get to its goal.
 */
const MANNERS = [1, 0.5].flatMap((share) =>
  [{ random: 0.4, invalid: 0.2 }, NO_NOISE].map((noise) => ({ noise, share })),
)
type Manner = (typeof MANNERS)[number]

interface Sweep {
  readonly context: CheckContext
  readonly findings: Finding[]
  readonly counts: { episodes: number; answers: number; bytes: number; marks: number; hidden: number }
}

/**
 * Fills the private state, and what every seat of a game holds, with canaries, and plays. Searches every byte that a
 * seat gets or can read for what is hidden from it, in all the forms of `formsOf`. Only what was revealed to it, or
 * what its holder has said itself, may be there.
 */
export async function sweepForCanaries(context: CheckContext): Promise<CheckOutcome> {
  const findings: Finding[] = []
  const counts = { episodes: 0, answers: 0, bytes: 0, marks: 0, hidden: 0 }
  const settings = context.settings.slice(0, SETTINGS)
  for (const i of countedIn(context, context.episodes(EPISODES, settings.length * MANNERS.length))) {
    const setting = settings[i % settings.length] as Setting
    const manner = MANNERS[Math.floor(i / settings.length) % MANNERS.length] as Manner
    await sweepEpisode({ context, findings, counts }, { ...setting, steps: Math.min(setting.steps, STEPS) }, manner, i)
    if (context.time.hasCut) break
  }
  const warnings: Finding[] = []
  for (const setting of settings) await findOnDisk(context, setting, { findings, warnings })
  const { episodes, answers, bytes, marks, hidden } = counts
  if (episodes === 0 && findings.length === 0 && !context.time.hasCut)
    return skipped('canaries', 'no hidden value can be recognized')
  const read = hidden > 0 ? ` in values that the moves read, of ${hidden.toLocaleString('en')} hidden ones` : ''
  return checkOutcome(
    'canaries',
    `${marks} canaries${read}: ${findings.length === 0 ? 'nothing' : `${findings.length} found`} in ${answers} answers and views (${bytes} bytes) of ${episodes} episodes`,
    { findings, warnings, figures: { canaries: marks, episodes, answers, bytes, found: findings.length } },
  )
}

async function sweepEpisode(sweep: Sweep, setting: Setting, manner: Manner, i: number): Promise<void> {
  const { context, counts } = sweep
  const { environment } = context.world
  const { deal, marks } = await plant(sweep, setting, seedFor(context.seed, 'canaries', i), manner)
  if (marks.length === 0) return
  const moves = await draftMoves(context, setting, deal, manner.noise)
  counts.marks += marks.length
  for (const seat of seatsOfDeal(environment, deal)) {
    const planned = { first: deal, second: deal, from: '', fits: false, setting, seat, sealed: false }
    const side = startSide(environment, planned, deal)
    const swept = { setting, seed: deal.seed, steps: moves, seat, hidden: hiddenMarks(context, seat, deal, marks) }
    let read: Partial<Received> = {}
    const look = (received: Received, at: number) => {
      for (const channel of Object.keys(received) as Channel[])
        if (received[channel] !== read[channel]) search(sweep, swept, channel, received[channel], at)
      read = received
    }
    look(side.now, 0)
    for (const [at, { seat: mover, action }] of moves.entries()) {
      if (context.time.hasCut) return
      if (side.rehearsal.end !== null) break
      const { received, revealed } = await side.play(mover, action)
      const [sent, open] = [JSON.stringify(action), JSON.stringify(revealed)]
      // What a seat of a game says of what it holds is known. What others hold stays hidden, if it says that too.
      const isSaid = ({ text, holders }: Mark) =>
        environment.multiplayer && holders.includes(mover) && sent.includes(text)
      swept.hidden = swept.hidden.filter((mark) => !open.includes(mark.text) && !isSaid(mark))
      look(received, at + 1)
    }
  }
  if (!context.time.hasCut) counts.episodes += 1
}

/**
 * Deals canaries: to all hidden values of a small state, and in a large one to those that an episode has read before,
 * of each kind of field as many. Nothing else of it can come out.
 */
async function plant(
  { context, counts }: Sweep,
  setting: Setting,
  seed: string,
  { noise, share }: Manner,
): Promise<PlantedDeal> {
  const { environment } = context.world
  const { state } = rehearse(environment, { params: setting.params, seed })
  const deal = { seed, state }
  if (!hasLargePart(state)) return plantDeal(context.world, deal, { share, references: referencesIn(state) })
  counts.hidden ||= eachLeaf([state.private, ...Object.values(state.own ?? {})]).reduce<number>((count) => count + 1, 0)
  const read = new ReadPlaces()
  const world = { ...context.world, environment: read.watch(environment) }
  await draftEpisode({ ...context, world }, setting, deal, noise)
  const places = read.draw(environment, PLANTED, createRng(seed).stream('places'))
  return plantDeal(context.world, deal, { places, share, references: referencesIn(state, read.keys) })
}

/** Plays an episode by the rules, so that its moves make sense. After one that these cannot play, moves are drawn. */
async function draftMoves(context: CheckContext, setting: Setting, deal: Deal, noise: Noise): Promise<readonly Move[]> {
  const { environment } = context.world
  const { steps, fault } = await draftEpisode(context, setting, deal, noise)
  if (!fault || environment.multiplayer) return steps
  const rng = createRng(deal.seed).stream('moves')
  const [seat] = environment.seats as [string]
  const draw = () => ({ seat, action: randomAction(environment.toolInfos, rng) })
  return [...steps, ...Array.from({ length: STEPS - steps.length }, draw)]
}

function draftEpisode(
  { world: { environment, solver = null }, time }: CheckContext,
  setting: Setting,
  deal: Deal,
  noise: Noise,
  maxSteps = STEPS,
): Promise<RehearsedEpisode> {
  const { seed } = deal
  const dealt = dealtEnvironment(environment, deal, seed)
  return rehearseEpisode({ environment: dealt, setting, seed, policy: noisyPolicy(solver, noise), maxSteps, time })
}

/** What stands on no disk by chance, and can be quoted in a command. */
const UNLIKELY = /^(\d{6,}|(?=.*\d)[^'"\\\n]{8,60}|[^'"\\\n]{12,60})$/

/**
 * Finds hidden values that a command prints at the start, where all that a shell may print counts as shown. What the
 * solver reads on its way is there to be read. What `secrets` lists is not; anything else may be there to be found by
 * players, though the solver knows it without, so it warns.
 */
async function findOnDisk(context: CheckContext, setting: Setting, to: Record<'findings' | 'warnings', Finding[]>) {
  const { environment } = context.world
  const seed = seedFor(context.seed, 'disk')
  const rehearsal = rehearse(environment, { params: setting.params, seed })
  const { state, observation } = rehearsal
  const [seat] = rehearsal.turn as [string]
  const [shell, files] = [shellIn(toolsOfSeat(environment, seat)), filesIn(state)]
  if (!shell || files.size === 0) return
  const known = JSON.stringify([setting.prompt, setting.hints, state.public, state.own?.[seat], observation])
  const { disk: _, shell: __, ...hidden } = hiddenFrom(environment, state, seat).private as JsonObject
  const secrets = environment.secrets?.(state, setting.params, seat) ?? []
  const leaves = leavesOf(hidden).map(({ path, value }) => [path.join('.'), String(value)] as const)
  const isSought = ([place, text]: (typeof leaves)[number]) =>
    UNLIKELY.test(text) && !files.has(text) && !place.includes('/') && !known.includes(text)
  const listed = secrets.map((text) => ['secrets', text] as const)
  const named = new Map([...listed, ...leaves].filter(isSought).map(([place, text]) => [text, place]))
  const values = [...named].slice(0, SOUGHT)
  if (values.length === 0) return
  // In two parts, because an answer may repeat what was asked.
  const asked = values.map(([text]) => `-e '${text.slice(0, 4)}''${text.slice(4)}'`)
  const folders = new Set([...files.keys()].map((path) => path.split('/', 2).join('/')))
  const all = ['find', ...[...folders].map((folder) => `'${folder.replaceAll("'", `'\\''`)}'`)].join(' ')
  const command = `(${all} -type f -exec cat {} +; ${all}; env) 2>/dev/null | grep -oF ${asked.join(' ')} | sort -u`
  const move = { seat, action: { tool: shell.name, arguments: { [shell.key]: command } } }
  const printed = JSON.stringify((await playMove(rehearsal, move).catch(() => null))?.observation ?? '')
  const held = values.filter(([text]) => printed.includes(text))
  if (held.length === 0) return
  const { steps } = await draftEpisode(context, setting, { seed, state }, NO_NOISE, setting.steps)
  if (context.time.hasCut) return
  const shown = JSON.stringify(steps.map((step) => step.observation))
  for (const [text, place] of held.filter(([text]) => !shown.includes(text))) {
    const isListed = secrets.includes(text)
    to[isListed ? 'findings' : 'warnings'].push({
      name: `disk-holds:${place}`,
      part: shell.name,
      what: `A command prints ${place}${isListed ? ', which `secrets` lists,' : ''} at the start: a file, its name or a variable has “${text}”.`,
      again: `params ${JSON.stringify(setting.params)}, seed ${seed}: ${command.slice(0, 300)}`,
      advice:
        'Keep it in the private state alone, or under a path in `hidden`. If players are meant to find it there, let the solver read it, or waive this finding.',
    })
  }
}

function hiddenMarks({ world: { environment } }: CheckContext, seat: string, { state }: Deal, marks: readonly Mark[]) {
  let known: string | null = null
  const isKnown = (text: string) => {
    known ??= JSON.stringify([state.public, state.own?.[seat], ...readIn(environment, state, seat)])
    return known.includes(text)
  }
  return marks.filter(({ holders, text, isPlanted }) => !holders.includes(seat) && (isPlanted || !isKnown(text)))
}

interface Swept {
  readonly setting: Setting
  readonly seed: string
  readonly steps: readonly Move[]
  readonly seat: string
  hidden: readonly Mark[]
}

function search({ context, findings, counts }: Sweep, swept: Swept, channel: Channel, text: string, at: number): void {
  const { environment } = context.world
  counts.answers += 1
  counts.bytes += Buffer.byteLength(text)
  const tool = swept.steps[at - 1]?.action.tool
  const secrets = swept.hidden.map((mark) => [mark, mark.forms] as const)
  for (const { secret, form, at: place } of findSecrets(text, secrets))
    findings.push({
      name: `secret-sent:${namePlace(environment, secret.kind)}`,
      part: tool ?? '',
      what: `${tool ? `Step ${at} (${tool})` : 'The start'}: ${CHANNELS[channel][1]}${environment.multiplayer ? ` of ${swept.seat}` : ''} contains ${secret.place} (${form}).`,
      again: `${formatPlace(swept, at)}: “${text.slice(Math.max(0, place - 60), place + 60)}”`,
      advice: 'Leave it out of what that player gets, or mark it with reveal(…) if it is meant to learn it.',
    })
}
