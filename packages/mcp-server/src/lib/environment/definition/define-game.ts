import type { JsonObject } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import { z } from 'zod'
import { rulesFailed } from '../../server-error.ts'
import { ABSENT } from './absent-action.ts'
import { assertDefinition } from './assert-definition.ts'
import { authoredParts, authoredTools, WRITTEN } from './authored.ts'
import { commonParts, type ErasedSpec, makeEvent, type NO_PARAMS } from './common-parts.ts'
import { assertHandle, type KeepsLiterals } from './define-environment.ts'
import { assertClosed, assertNamed, invalid, jsonSchemaOf } from './definition-schema.ts'
import type { EnvironmentDefinition, Tool, Utility, WorldEvents } from './environment.ts'
import type { GameEventMaker, GameSpec, GameState, GameToolMaker, SealedToolMaker, SeatView } from './game.ts'
import { legalActions } from './legal-actions.ts'
import { hasTool, makeTool, type WrittenTool } from './make-tool.ts'
import { withOffers } from './offered-tools.ts'

/** A capability names its seat with one digit of base 36. */
const MOST_SEATS = 36

/** Names that the server uses beside the author's. */
const RESERVED_TOOLS = ['wait', ABSENT]
const VIEW_FIELDS = ['seat', 'turn', 'own']

/**
 * Describes an environment of several seats: who sees what, whose turn it is, tools, rewards and end, in one place.
 *
 * Each seat is played by its own agent, over its own session URL, with its own view, tools, rewards and limit of steps.
 * What a seat must not see is in `state.own` of others or in `state.private`: no function that describes the state to a
 * seat is given them.
 *
 * Types flow from the schemas, so an author annotates nothing. Pure: nothing runs until a host opens a session. Throws
 * `definition-invalid`, which names the part, if the description cannot be served.
 */
export function defineGame<
  const Seat extends string,
  Params extends z.ZodType = typeof NO_PARAMS,
  Public extends z.ZodObject = LiteralObject,
  Own extends z.ZodObject = LiteralObject,
  Private extends z.ZodType = z.ZodType<KeepsLiterals>,
  Tools extends { readonly [name: string]: Tool } = { readonly [name: string]: Tool },
  Events extends WorldEvents = WorldEvents,
  Term extends string = string,
>(
  definition: GameSpec<Seat, Params, Public, Own, Private, Tools, Events, Term>,
): EnvironmentDefinition<Tools, Public, Params, Private, Term> {
  // Inside, types are erased once: the definition's own types have done their work on the author's side.
  assertDefinition(definition, 'game')
  const erased = authoredParts(definition as unknown as ErasedGame)
  const { name, seats, state } = erased
  assertNamed(name, erased.version)
  assertSeats(name, seats)
  type State = GameState<Seat, z.output<Public>, z.output<Own>, z.output<Private>>
  const tools = authoredTools(
    name,
    definition.tools({
      tool: makeTool as unknown as GameToolMaker<Seat, State, z.output<Params>, Events>,
      sealed: makeSealed as unknown as SealedToolMaker<Seat, z.output<Public>, z.output<Own>, z.output<Params>>,
    }),
  )
  assertTools(name, seats, tools, erased.settle)
  const event = makeEvent as GameEventMaker<Seat, State, z.output<Params>>
  const handle = name.replaceAll('-', '_')
  assertHandle(name, handle, tools, true)
  assertClosed(name, 'public state', state.public)
  assertClosed(name, 'own state', state.own)
  for (const field of VIEW_FIELDS)
    if (Object.hasOwn(state.public.shape, field))
      throw invalid(name, `its public state declares ${field}, which every view has already; give yours another name`)
  const seatSchema = z.enum(seats)
  const turnSchema = z.array(seatSchema).meta({ uniqueItems: true })
  const view = z.object({ seat: seatSchema, turn: turnSchema, ...state.public.shape, own: state.own })
  const parts = commonParts(erased, tools, definition.events?.({ event }) ?? {}, view, seats)
  const viewOf = (current: SessionState, seat: string): ErasedView => ({
    seat,
    public: current.public,
    own: current.own?.[seat] as JsonObject,
  })
  const turn = (current: SessionState, values: unknown) =>
    inOrder(name, 'turn', seats, erased.turn(current.public, values))
  const shows: Parameters<typeof withOffers>[1] = {
    observe(current, values, seat) {
      const seen = viewOf(current, seat)
      return {
        text: erased.observe(seen, values),
        structured: { seat, turn: [...turn(current, values)], ...seen.public, own: seen.own },
      }
    },
    legal(current, values, seat) {
      const own = parts.toolInfos.filter((info) => hasTool(tools[info.name] as Tool, seat))
      return legalActions(name, own, erased.legal?.(viewOf(current, seat), values))
    },
  }
  return Object.freeze({
    ...parts,
    ...{ [WRITTEN]: definition },
    params: parts.params as unknown as Params,
    terms: parts.terms as unknown as readonly Term[],
    handle,
    state: definition.state,
    seats,
    multiplayer: true,
    utility: erased.utility ?? 'general',
    viewSchema: jsonSchemaOf(view, 'output', `what a seat of ${name} sees`),
    tools,
    absent: erased.absent ? makeTool({ description: '', input: z.object({}), play: erased.absent }) : null,
    settle: erased.settle ?? null,
    present: (values) => (erased.present ? inOrder(name, 'present', seats, erased.present(values)) : seats),
    turn,
    ...withOffers({ name, tools }, shows, erased.offers),
    rewards: (transition, seat) => erased.rewards({ ...transition, seat }),
    potential: erased.potential ?? (() => null),
    success: (final, seat) => erased.success?.({ ...final, seat }),
    verdicts: (final, seat) => erased.verdicts({ ...final, seat }),
    secrets: erased.secrets ?? null,
  } satisfies EnvironmentDefinition<Tools, Public, Params, Private, Term>)
}

/** See {@link KeepsLiterals}. */
type LiteralObject = z.ZodObject<{ [key: string]: z.ZodType<KeepsLiterals> }>

type ErasedView = SeatView<string, JsonObject, JsonObject>

interface ErasedGame extends ErasedSpec<ErasedView, [seat: string], { readonly seat: string }> {
  readonly seats: readonly string[]
  readonly utility?: Utility
  readonly state: { readonly public: z.ZodObject; readonly own: z.ZodObject; readonly private: z.ZodType }
  present?(params: unknown): readonly string[]
  turn(state: JsonObject, params: unknown): string | readonly string[]
  readonly settle?: (context: object) => void
  readonly absent?: Tool['play']
}

const makeSealed = (written: WrittenTool): Tool => ({ ...makeTool(written), sealed: true })

function assertSeats(name: string, seats: readonly string[]): void {
  if (seats.length < 2 || seats.length > MOST_SEATS)
    throw invalid(name, `it has ${seats.length} seats, and a game has 2 to ${MOST_SEATS}`)
  for (const seat of seats)
    if (!/^[a-z][a-z0-9]*([-_][a-z0-9]+)*$/.test(seat) || seat.length > 64)
      throw invalid(name, `its seat "${seat}" needs a name of lower-case words joined by hyphens or underscores`)
  if (new Set(seats).size < seats.length) throw invalid(name, 'two of its seats have the same name')
}

function assertTools(
  name: string,
  seats: readonly string[],
  tools: { readonly [name: string]: Tool },
  settle: ErasedGame['settle'],
): void {
  for (const reserved of RESERVED_TOOLS)
    if (Object.hasOwn(tools, reserved))
      throw invalid(name, `its tool ${reserved} has the name of a tool that the server adds; rename it`)
  for (const seat of seats)
    if (!Object.values(tools).some((tool) => hasTool(tool, seat)))
      throw invalid(name, `its seat ${seat} has no tools, so it could not do anything`)
  for (const [tool, { seats: given }] of Object.entries(tools))
    for (const seat of given ?? [])
      if (!seats.includes(seat))
        throw invalid(name, `its tool ${tool} is for the seat ${seat}, and its seats are ${seats.join(', ')}`)
  const sealed = Object.values(tools).some((tool) => tool.sealed)
  if (sealed && !settle) throw invalid(name, 'it has sealed tools and no `settle`, which plays their moves')
  if (!sealed && settle) throw invalid(name, 'it has `settle` and no sealed tool, so that it would never be called')
}

function inOrder(name: string, what: string, seats: readonly string[], named: unknown): readonly string[] {
  const names: readonly unknown[] = Array.isArray(named) ? named : [named]
  const wrong = names.findIndex((seat) => !seats.includes(seat as string))
  if (wrong >= 0 || names.length === 0)
    throw rulesFailed(
      `The \`${what}\` of ${name} names ${wrong < 0 ? 'no seat' : (JSON.stringify(names[wrong]) ?? 'undefined')}. The seats are: ${seats.join(', ')}.`,
    )
  return seats.filter((seat) => names.includes(seat))
}
