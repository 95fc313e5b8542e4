import { hash } from 'node:crypto'
import { basename, dirname } from 'node:path'
import { findDataProblem } from '@episodic/benchmarks/suite/data-folder'
import { loadWorld, type World } from '@episodic/play/worlds/world'
import { canonicalJson, type Json, type JsonObject } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { findGolden, type WorldGolden } from './golden-check.ts'
import { type FoundSuite, playersSchema, type SuiteFile } from './suite-file.ts'
import { type Measured, readReferences, type WorldReference } from './world-references.ts'

export type Expected = Pick<WorldReference, 'value' | 'tolerance' | 'source'>

interface SuiteFigure {
  /** Unique within its world. */
  readonly id: string
  readonly quantity: string
  /** `null`: the parameters of generated tasks. */
  readonly params: JsonObject | null
}

export interface ExactLine extends SuiteFigure {
  readonly kind: 'exact'
  readonly reference: Expected
  /** How it is measured: what the module says about it. */
  readonly how: Json
  measure(): Measured
}

export interface LinePlayers {
  /** With several seats, that of the seat in `focus`. */
  readonly policy: string
  /** The policy of each seat, and the seat whose return it is; `null` in an environment of one seat. */
  readonly seats: Readonly<Record<string, string>> | null
  readonly focus: string | null
  /** Default: those of the suite. */
  readonly episodes?: number
}

export interface PlayedLine extends SuiteFigure, LinePlayers {
  readonly kind: 'played'
  readonly reference: Expected & { readonly value: number }
}

/** The expected means of a variant's random and best policies. Unknown ones are `null`. */
export interface Anchors {
  readonly random: number | null
  readonly optimum: number | null
}

/** A mean of played episodes of the policy that a suite is run with, which has no reference. */
export interface ScoredLine extends SuiteFigure, LinePlayers {
  readonly kind: 'scored'
  readonly anchors: Anchors
}

export type SuiteLine = ExactLine | PlayedLine | ScoredLine

export interface PlannedWorld {
  /** How the suite names it: `airline` of `@episodic/benchmarks/tau2/airline`. */
  readonly name: string
  readonly entry: SuiteFile['worlds'][number]
  readonly world: World
  readonly lines: readonly SuiteLine[]
  /** `null` without golden actions. */
  readonly golden: WorldGolden | null
}

export interface SuitePlan
  extends Pick<SuiteFile, 'name' | 'version' | 'seed' | 'episodes' | 'notReproduced' | 'data'> {
  /** Of all that decides its figures: worlds, versions, lines and references. It does not depend on where files are. */
  readonly sha256: string
  readonly worlds: readonly PlannedWorld[]
}

/**
 * Loads the worlds of a suite and lists its lines.
 *
 * Throws `suite-invalid` if a world is named twice, if it lacks a reference that the suite names, or if two lines have
 * the same name, `suite-data-missing` and `suite-data-differs`, and the errors of `loadWorld`.
 */
export async function planSuite({ file, suite }: FoundSuite): Promise<SuitePlan> {
  const { name, version, seed, episodes, notReproduced, data } = suite
  const problem = data && findDataProblem(name, data)
  if (problem) throw new HarnessError(problem.code, problem.message)
  const worlds: PlannedWorld[] = []
  for (const entry of suite.worlds) {
    const planned = await planWorld(entry, dirname(file))
    const { environment } = planned.world
    if (worlds.some(({ world }) => world.environment.name === environment.name))
      throw new HarnessError('suite-invalid', `${file} names ${environment.name} twice. Put its lines into one entry.`)
    worlds.push(planned)
  }
  const content = { name, version, seed, episodes, data, worlds: worlds.map(contentOf) }
  const sha256 = hash('sha256', canonicalJson(content as unknown as Json))
  return { name, version, seed, episodes, notReproduced, data, sha256, worlds }
}

/**
 * Adds lines for each variant of each world, which are played by a policy that the suite does not have. A variant is
 * what the suite's played lines have the parameters of. In a game, the policy plays the seat that a score is of, or
 * each seat in turn, against what `seats` says of the others: the solver, if it says nothing.
 */
export function withPolicy(plan: SuitePlan, policy: string, seats: Readonly<Record<string, string>> = {}): SuitePlan {
  return {
    ...plan,
    worlds: plan.worlds.map((planned) => {
      const played = planned.lines.filter((line) => line.kind === 'played')
      const variants = Map.groupBy(played, ({ params }) => canonicalJson(params))
      const groups = planned.lines.every(({ kind }) => kind === 'scored') ? [[]] : [...variants.values()]
      const scored = groups.flatMap((group) => scoredLines(planned, group, policy, seats))
      return { ...planned, lines: [...planned.lines, ...scored] }
    }),
  }
}

function scoredLines(
  { world: { environment, solver }, entry }: PlannedWorld,
  group: readonly PlayedLine[],
  policy: string,
  given: Readonly<Record<string, string>>,
): ScoredLine[] {
  const [{ id, params } = { id: '', params: null }] = group
  const isGame = environment.seats.length > 1
  const lineOf = (seat: string | null): ScoredLine => {
    const others = solver ? 'solver' : 'random'
    const playing = environment.seats.map((name) => [name, name === seat ? policy : (given[name] ?? others)] as const)
    const against = [...new Set(playing.flatMap(([name, other]) => (name === seat ? [] : [other])))].join(', ')
    const meanOf = (name: string) =>
      (isGame ? null : group.find((line) => line.policy === name)?.reference.value) ?? null
    return {
      kind: 'scored',
      id: [
        ...id.split('/').slice(0, -1),
        `scored-${folderName(policy)}${isGame && !entry.seat ? `-as-${seat}` : ''}`,
      ].join('/'),
      quantity: `mean return of ${policy}${isGame ? ` as ${seat} against the ${against}` : ''}`,
      params,
      policy,
      seats: isGame ? Object.fromEntries(playing) : null,
      focus: isGame ? seat : null,
      // Beating random play says little about a game, so there is no scale.
      anchors: { random: meanOf('random'), optimum: meanOf('solver') },
    }
  }
  return (isGame ? [entry.seat ?? environment.seats].flat() : [null]).map(lineOf)
}

export function folderName(text: string): string {
  return text.replace(/[^\w.-]+/g, '-')
}

async function planWorld(entry: SuiteFile['worlds'][number], folder: string): Promise<PlannedWorld> {
  const world = await loadWorld(entry.world, folder)
  const { name, seats } = world.environment
  if (entry.seat !== undefined && !seats.includes(entry.seat))
    throw new HarnessError('suite-invalid', `${name} has no seat ${entry.seat}. It has: ${seats.join(', ')}.`)
  const { references, measure } = await readReferences(world)
  const ids = new Set(references.map(({ id }) => id))
  const unknown = entry.references?.filter((id) => !ids.has(id)) ?? []
  if (unknown.length > 0)
    throw new HarnessError(
      'suite-invalid',
      `${name} has no reference ${unknown.join(', ')}. It has: ${[...ids].join(', ') || 'none'}.`,
    )
  const chosen = references.filter(({ id }) => entry.references?.includes(id) ?? true)
  const lines = [
    ...chosen.map((reference) => lineOf(world, reference, measure)),
    ...entry.played.map(({ id, quantity, params = null, expected, tolerance, source, ...players }): PlayedLine => {
      const chosen = playersOf(world, id, players)
      return {
        kind: 'played',
        id,
        quantity: quantity ?? `mean return of ${formatPlayers(chosen)}`,
        params,
        ...chosen,
        reference: { value: expected, tolerance: tolerance || 'interval', source },
      }
    }),
    ...floorOf(world, entry),
  ]
  const repeated = lines.find(({ id }, i) => lines.some((other, j) => j < i && folderName(other.id) === folderName(id)))
  if (repeated) throw new HarnessError('suite-invalid', `${name} has two lines called ${repeated.id}.`)
  const golden = await findGolden(world, entry.goldenFile, folder)
  return { name: worldName(entry), entry, world, lines, golden }
}

/** Returns how a suite names a world: `airline` for `@episodic/benchmarks/tau2/airline`. */
export function worldName({ world }: { readonly world: string }): string {
  return basename(world).replace(/\.\w+$/, '')
}

/** The line of what doing nothing earns on all tasks: compared, if the suite says what that is. */
function floorOf({ environment, tasks, policies }: World, entry: PlannedWorld['entry']): (PlayedLine | ScoredLine)[] {
  const { floor, seat = environment.seats[0] as string } = entry
  if (floor === undefined && !Object.hasOwn(policies, 'nothing')) return []
  const count = entry.tasks ?? tasks?.count
  const isGame = environment.seats.length > 1
  const line = {
    id: 'floor',
    quantity: 'solved by doing nothing',
    params: null,
    policy: 'nothing',
    seats: isGame ? Object.fromEntries(environment.seats.map((name) => [name, 'nothing'])) : null,
    focus: isGame ? seat : null,
    ...(count !== undefined && { episodes: count }),
  }
  if (floor === undefined) return [{ kind: 'scored', ...line, anchors: { random: null, optimum: null } }]
  if (count === undefined)
    throw new HarnessError('suite-invalid', `${environment.name} has a "floor" and no number of "tasks". Give it.`)
  const reference = { value: floor / count, tolerance: 'exact', source: `${floor} of ${count}` } as const
  return [{ kind: 'played', ...line, reference }]
}

function lineOf(
  world: World,
  reference: WorldReference,
  measure: (reference: WorldReference) => Measured,
): ExactLine | PlayedLine {
  const { id, quantity, params, value, tolerance, source, how } = reference
  const common = { id, quantity, params }
  if (how.kind !== 'played')
    return {
      kind: 'exact',
      ...common,
      reference: { value, tolerance, source },
      how: how as Json,
      measure: () => measure(reference),
    }
  if (typeof value !== 'number')
    throw new HarnessError('suite-invalid', `The reference ${id} is played, so its value has to be a number.`)
  return { kind: 'played', ...common, ...playersOf(world, id, how), reference: { value, tolerance, source } }
}

/** Reads who plays a line. Throws `suite-invalid` if there is not one policy, or one for each seat. */
function playersOf({ environment }: World, id: string, given: object): LinePlayers {
  const { name, seats: names } = environment
  const invalid = (what: string) => new HarnessError('suite-invalid', `${name} ${id}: ${what}`)
  const { success, data: players } = playersSchema.safeParse(given)
  if (!success || ('seats' in given && 'policy' in given)) throw invalid('give either "policy" or "seats".')
  if ('policy' in players) {
    if (names.length > 1)
      throw invalid(`the game has the seats ${names.join(', ')}. Give "seats", with a policy for each.`)
    return { policy: players.policy, seats: null, focus: null }
  }
  const { seats, focus = names[0] as string } = players
  if (names.length === 1) throw invalid('the world has one seat. Give "policy".')
  if ([...Object.keys(seats)].sort().join() !== [...names].sort().join() || !names.includes(focus))
    throw invalid(`its seats are ${names.join(', ')}. Give a policy for each, and one of them as "focus".`)
  return { policy: seats[focus] as string, seats, focus }
}

function formatPlayers({ policy, seats, focus }: LinePlayers): string {
  if (!seats) return policy
  const others = Object.entries(seats).filter(([seat]) => seat !== focus)
  return `${policy} as ${focus} against ${others.map(([, other]) => other).join(', ')}`
}

function contentOf({ world, lines }: PlannedWorld) {
  const { name, version } = world.environment
  return { environment: { name, version }, lines: lines.map(({ quantity: _, ...line }) => line) }
}
