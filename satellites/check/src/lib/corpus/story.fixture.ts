import { defineTasks } from '@episodic/dataset'
import { definePolicy, type Policy } from '@episodic/env'
import { defineEnvironment, defineGame, type Tool } from '@episodic/mcp-server'
import { type Action, createRng, type JsonObject, type Rng } from '@episodic/protocol'
import { z } from 'zod'
import type { CheckedWorld } from '../check-context.ts'

interface WorldState<S, H> {
  readonly public: S
  readonly private: H
}

/** A world of the corpus, with what is true of it. Nothing but `world` is shown to a check. */
export interface Entry {
  readonly world: CheckedWorld
  /** What is wrong with a planted world, or why an honest one looks suspicious. */
  readonly kind: string
  /** Plays that a planted world pays as well as its solver's, or ways through an honest one. At least one. */
  readonly plays: readonly Policy[]
  /** Whether what the task asks for is done in a state. */
  readonly goal: (state: WorldState<JsonObject, JsonObject>, params: JsonObject) => boolean
  /** Checked from outside, as a server of OpenEnv. */
  readonly served?: true | undefined
  /** Who plays the other seats of a game while one is checked. */
  readonly partners?: Readonly<Record<string, Policy>> | undefined
}

/** Returns actions from what is seen; asked again when they have been played. In a game, `seat` is the player's. */
export type Plan<S, P> = (seen: S & { readonly seat: string }, params: P) => readonly Action[]

/** What a call changes of the public state, what it says, and why the episode ends with it; or a refusal. */
export type Change<S> = false | (Partial<S> & { readonly say?: string; readonly end?: string | false | undefined })

interface Turn<S, H, P, Input> {
  /** What the player may know, and what only the rules know. */
  readonly s: S
  readonly h: H
  readonly params: P
  readonly input: Input
  /** Who acts, in a game. */
  readonly seat: string
  readonly rng: Rng
  readonly reveal: <T>(value: T) => T
}

/** Makes a tool: what it does, its arguments, and its rules. */
export type Act<S, H, P> = <Shape extends z.ZodRawShape>(
  does: string,
  shape: Shape,
  play: (turn: Turn<S, H, P, z.output<z.ZodObject<Shape>>>) => Change<NoInfer<S>>,
  seats?: readonly string[],
) => Tool

interface Paid<S, H, P> {
  readonly before: S
  readonly after: S
  readonly was: H
  readonly h: H
  readonly params: P
  readonly tool: string
  /** Why the rules ended the episode with this step. */
  readonly end: string | null
  readonly over: boolean
  readonly refused: boolean
  /** Who is paid, in a game. */
  readonly seat: string
}

/** Several players, who take turns. */
interface Seats<S> {
  readonly names: readonly string[]
  readonly turn: (s: S) => string
  readonly utility?: 'common'
  /** Those whose seats are not checked: the solver plays them. */
  readonly partners?: readonly string[]
}

/** A world of one seat, or of several. Its schemas are read off the first task and its start. */
export interface Story<P extends object, S extends object, H extends object> {
  readonly name: string
  readonly about: string
  /** What a player is asked for, and the parameters; the first are the defaults. Default: `about`, without any. */
  readonly tasks?: readonly (readonly [prompt: string, params: P])[]
  readonly steps?: number
  readonly kind: string
  readonly start: (params: P, rng: Rng) => S
  readonly hidden?: (params: P, rng: Rng) => H
  /** Default: every field. */
  readonly see?: (seen: S, params: P) => string
  readonly tools: (act: Act<S, H, P>, tool: unknown) => Readonly<Record<string, Tool>>
  readonly pay: Readonly<Record<string, (step: Paid<S, H, P>) => number>>
  readonly seats?: Seats<S>
  readonly success?: (at: { s: S; h: H; params: P; end: string }) => boolean
  readonly potential?: (at: { s: S; h: H; params: P }) => number
  readonly solve: Plan<S, P>
  readonly plays: readonly Plan<S, P>[]
  readonly goal: (at: { s: S; h: H; params: P }) => boolean
  readonly served?: true
  /** Schemas of hidden fields that are not read off their first values. */
  readonly schemas?: z.ZodRawShape
  readonly waive?: Readonly<Record<string, string>>
}

/** Makes an entry of a story. */
export function story<S extends object, P extends object = object, H extends object = object>(
  plan: Story<P, S, H>,
): Entry {
  const {
    name,
    about,
    steps = 30,
    kind,
    start,
    hidden,
    see = seenAs,
    pay,
    success,
    potential,
    goal,
    served,
    schemas,
    seats,
  } = plan
  const tasks = plan.tasks ?? [[about, {} as P]]
  const [[, defaults]] = tasks as [readonly [string, P]]
  const sample = createRng('sample')
  const define = (seats ? defineGame : defineEnvironment) as (parts: object) => CheckedWorld['environment']
  const environment = define({
    name,
    version: '1.0.0',
    description: about,
    params: z.object(
      mapValues(defaults, (value) => schemaOf(value).default(value as never)),
    ) as unknown as z.ZodType<P>,
    ...(seats && { seats: seats.names, utility: seats.utility ?? 'general', turn: seats.turn }),
    state: {
      ...(seats && { own: z.object({}) }),
      public: schemaOfFields(start(defaults, sample)) as unknown as z.ZodType<S>,
      private: schemaOfFields(hidden?.(defaults, sample) ?? {}, schemas) as unknown as z.ZodType<H>,
    },
    limits: { steps },
    ...(plan.waive && { check: { waive: plan.waive } }),
    start: ({ params, rng }: { params: P; rng: Rng }) => ({
      public: start(params, rng),
      ...(seats && { own: Object.fromEntries(seats.names.map((seat) => [seat, {}])) }),
      private: hidden?.(params, rng.stream('hidden')) ?? ({} as H),
    }),
    observe: (seen: S & { public: S }, params: P) => see(seats ? seen.public : seen, params),
    tools: ({ tool }: { tool: unknown }) => plan.tools(actOf(tool as never) as never, tool),
    rewards: mapValues(
      pay,
      (term) =>
        ({ before, after, tool, end, refused, params, seat }: Transition<S, H, P>) =>
          term({
            before: before.public,
            after: after.public,
            was: before.private,
            h: after.private,
            params,
            tool: refused ? '' : (tool ?? ''),
            seat: seat ?? '',
            end: end?.kind === 'terminated' ? end.reason : null,
            over: end !== null,
            refused: refused !== null,
          }),
    ) as never,
    ...(success && {
      success: ({ state, params, end }: Final<S, H, P>) =>
        success({ s: state.public, h: state.private, params, end: end.reason }),
    }),
    ...(potential && {
      potential: (state: WorldState<S, H>, params: P) => potential({ s: state.public, h: state.private, params }),
    }),
  })
  return {
    world: {
      environment,
      tasks: tasksOf(environment, tasks),
      solver: planned('solver', plan.solve),
    },
    kind,
    plays: plan.plays.map((play, at) => planned(`play ${at + 1}`, play)),
    goal: ({ public: s, private: h }, params) => goal({ s: s as S, h: h as H, params: params as P }),
    served,
    ...(seats?.partners && {
      partners: Object.fromEntries(seats.partners.map((seat) => [seat, planned('partner', plan.solve)])),
    }),
  }
}

interface Transition<S, H, P> {
  before: WorldState<S, H>
  after: WorldState<S, H>
  tool: string | null
  seat?: string
  end: { kind: string; reason: string } | null
  refused: string | null
  params: P
}
interface Final<S, H, P> {
  state: WorldState<S, H>
  params: P
  end: { reason: string }
}

function actOf(tool: (parts: object) => Tool): Act<never, never, never> {
  return (does, shape, play, seats) =>
    tool({
      description: does,
      input: z.object(shape),
      ...(seats && { seats }),
      play(context: Play) {
        const { state, params, input, seat, say, refuse } = context
        const change = play({
          s: state.public,
          h: state.private,
          params,
          input,
          seat,
          get rng() {
            return context.rng
          },
          reveal: (value) => context.reveal(value),
        } as Parameters<typeof play>[0]) as Change<object>
        if (!change) return refuse('That is not possible now.')
        const { say: said = 'Done.', end, ...patch } = change
        Object.assign(state.public, patch)
        if (end) context.end(end)
        return say(said)
      },
    })
}

interface Play {
  state: WorldState<object, object>
  params: unknown
  input: unknown
  seat: string
  rng: Rng
  reveal: <T>(value: T) => T
  say: (text: string) => object
  refuse: (text: string) => object
  end: (reason: string) => void
}

/** `orders: a (open), b. paid: no.` */
function seenAs(seen: object): string {
  return Object.entries(seen)
    .map(([name, value]) => `${name}: ${inWords(value)}.`)
    .join(' ')
}

function inWords(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.map(inWords).join(', ') || 'none'
  if (typeof value !== 'object' || value === null) return value === '' ? 'nothing' : String(value)
  return (
    Object.entries(value)
      .map(([name, part]) => `${name} (${inWords(part)})`)
      .join(', ') || 'none'
  )
}

function tasksOf(environment: CheckedWorld['environment'], tasks: readonly (readonly [string, object])[]) {
  return defineTasks({
    name: environment.name,
    environment,
    generate({ difficulty }) {
      const [prompt, params] = tasks[Math.min(tasks.length - 1, Math.floor(difficulty * tasks.length))] as [
        string,
        object,
      ]
      return { prompt, params: params as never, difficulty }
    },
  })
}

/** A policy that plays a plan, from what it sees as data. */
function planned<S, P>(name: string, plan: Plan<S, P>): Policy {
  return definePolicy({
    name,
    start({ task }) {
      let actions: readonly Action[] = []
      let played = 0
      let seen: unknown = null
      return ({ structured }) => {
        // A refusal shows nothing.
        seen = structured ?? seen
        if (played === actions.length) {
          actions = plan(seen as S & { seat: string }, task.params as P)
          played = 0
        }
        return actions[played++] as Action
      }
    },
  })
}

export const call = (tool: string, args: JsonObject = {}): Action => ({ tool, arguments: args })
/** The same calls one after another, so many times. */
export const times = (count: number, ...actions: readonly Action[]): Action[] =>
  Array.from({ length: count }, () => actions).flat()

export const word = (what: string, most = 40) => z.string().min(1).max(most).describe(what)
export const text = (what: string, most = 400) => z.string().max(most).describe(what)
export const whole = (what: string, low: number, high: number) => z.int().min(low).max(high).describe(what)
export const one = <const Word extends string>(what: string, ...of: readonly Word[]) => z.enum(of).describe(what)

/** Pays what an amount grows by in a step. */
export const gain =
  <S>(amount: (s: S) => number) =>
  ({ before, after }: { readonly before: S; readonly after: S }) =>
    amount(after) - amount(before)
/** Pays for an end with this reason. */
export const at =
  (reason: string, amount = 1) =>
  ({ end }: { readonly end: string | null }) =>
    end === reason ? amount : 0
export const cost =
  (amount = 0.01) =>
  () =>
    -amount

export type Counts = Readonly<Record<string, number>>
export type Texts = Readonly<Record<string, string>>
export const sum = (values: Counts) => Object.values(values).reduce((total, value) => total + value, 0)
/** How many values are this one. */
export const count = (values: object, value: unknown) => Object.values(values).filter((each) => each === value).length
export const plus = (values: Counts, name: string, amount = 1): Counts => ({
  ...values,
  [name]: (values[name] ?? 0) + amount,
})
export const set = (values: Texts, name: string, value: string): Texts => ({ ...values, [name]: value })
export const without = <T>(values: Readonly<Record<string, T>>, name: string): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(values).filter(([each]) => each !== name))
/** A list with an item, which is in it once. */
export const once = <T>(items: readonly T[], item: T): readonly T[] => (items.includes(item) ? items : [...items, item])
export const all = <T>(items: readonly T[], ...wanted: readonly T[]) => wanted.every((item) => items.includes(item))

function schemaOfFields(fields: object, own: z.ZodRawShape = {}) {
  return z.object({ ...mapValues(fields, schemaOf), ...own })
}

function schemaOf(value: unknown): z.ZodType {
  if (typeof value === 'number') return z.number()
  if (typeof value === 'string') return z.string()
  if (typeof value === 'boolean') return z.boolean()
  if (Array.isArray(value)) return z.array(z.json())
  return value === null ? z.json() : z.record(z.string(), z.json())
}

function mapValues<V, R>(values: { readonly [name: string]: V } | object, to: (value: V) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value as V)]))
}

/** The argument of a tool that acts on one of several things. */
export const which = { id: word('Which one.') }

export const none: readonly string[] = []

/** The lines of a text that are not blank. */
export const lines = (content: string) => content.split('\n').filter((line) => line.trim() !== '')
