import { absenceOf } from '@episodic/mcp-server/internal'
import { canonicalJson, type EpisodeRecord, type Json, type JsonObject } from '@episodic/protocol'
import { type ServerCall, worldCallsSchema } from '../servers/trail.ts'
import { type MadeOfServer, madeOfSchema } from './made-of-server.ts'
import type { RecordedCallLine, RecordedScore } from './recording-file.ts'
import { readVolatile, type Volatile } from './volatile.ts'

/** The name of the tool by which a player ends an episode. */
export const DONE = 'done'

/** What a recording holds, and what it could not be made of. */
export interface RecordingCounts {
  readonly episodes: number
  readonly tasks: number
  readonly calls: number
  readonly scores: number
  /** Calls that were answered differently after the same history. */
  readonly variants: number
  /** Episodes whose set-up is not known: its calls were too large to be kept. */
  readonly leftOut: number
}

interface Episode {
  readonly key: string
  readonly task: Pick<EpisodeRecord['task'], 'prompt' | 'difficulty' | 'tags'>
  readonly params: JsonObject
  readonly seed: string
  readonly text: string
  readonly setup: readonly ServerCall[]
  readonly calls: readonly ServerCall[]
  readonly judged: {
    readonly answer: string | null
    readonly score: number
    readonly success: boolean
    readonly calls: readonly ServerCall[]
  } | null
}

/** Things of one place that are kept apart by a key, each with the seeds of the episodes that had it. */
class Variants<Value> {
  readonly #found = new Map<string, { readonly value: Value; readonly seeds: Set<string> }>()

  add(key: string, seed: string, make: () => Value): Value {
    let found = this.#found.get(key)
    if (!found) {
      found = { value: make(), seeds: new Set() }
      this.#found.set(key, found)
    }
    found.seeds.add(seed)
    return found.value
  }

  get size(): number {
    return this.#found.size
  }

  list(): { readonly value: Value; readonly seeds?: string[] }[] {
    const all = [...this.#found.values()]
    return all.map(({ value, seeds }) => ({ value, ...(all.length > 1 && { seeds: [...seeds].sort() }) }))
  }
}

interface Node {
  readonly number: number
  readonly after: number
  readonly call: ServerCall
}

/** Makes a recording of episodes of one environment of an MCP server: the same text in whatever order. */
export class RecordingWriter {
  readonly #environment: EpisodeRecord['environment']
  readonly #made: MadeOfServer
  readonly #written: readonly string[]
  readonly #volatile: Volatile
  readonly #theirs: ReadonlyMap<string, string>
  readonly #episodes = new Map<string, Episode>()
  #leftOut = 0

  /**
   * Throws `option-invalid` for what does not say what is volatile, and a `ZodError` for an environment that was made
   * of something else.
   *
   * @param madeOf - what the run keeps of its environment.
   */
  constructor(environment: EpisodeRecord['environment'], madeOf: unknown, volatile: readonly string[]) {
    this.#environment = environment
    this.#made = madeOfSchema.parse(madeOf)
    this.#written = [...new Set(volatile)].sort()
    const { tools, choice } = this.#made
    this.#volatile = readVolatile(volatile, [...tools.map(({ name }) => name), DONE])
    this.#theirs = new Map(Object.entries(choice.rename ?? {}).map(([theirs, ours]) => [ours, theirs]))
  }

  add(record: EpisodeRecord): void {
    const { start, task, params, seed, steps, outcome, chain } = record
    if (!start) return
    let setup: readonly ServerCall[] | null = []
    let judged: Episode['judged'] = null
    const calls: ServerCall[] = []
    for (const { action, prepared, refused } of steps) {
      // What was refused has reached no server.
      if (prepared === undefined) continue
      const { score, judging, ...own } = worldCallsSchema.parse(prepared)
      if (own.setup !== undefined) setup = own.setup
      // Of a player that had left, or came too late, the server was not called.
      if (action.tool !== DONE && !absenceOf(action) && refused !== 'time') {
        const tool = this.#theirs.get(action.tool) ?? action.tool
        calls.push(answered(tool, action.arguments, prepared as unknown as ServerCall))
      }
      if (score === null) continue
      const answer = action.tool === DONE ? ((action.arguments.answer as string | undefined) ?? null) : null
      const success = outcome.kind === 'finished' && outcome.success === true
      judged = { answer, score, success, calls: judging ?? [] }
    }
    if (setup === null) {
      this.#leftOut += 1
      return
    }
    const { prompt, difficulty, tags } = task
    const key = [canonicalJson(params), seed, chain].join('\n')
    const { text } = start.observation
    this.#episodes.set(key, { key, task: { prompt, difficulty, tags }, params, seed, text, setup, calls, judged })
  }

  finish(): { readonly text: string; readonly counts: RecordingCounts } {
    const places = new Map<number, Map<string, Variants<Node>>>()
    const nodes: Node[] = []
    const tasks = new Map<
      string,
      { readonly number: number; readonly task: object; readonly starts: Variants<number> }
    >()
    const scores = new Map<string, Variants<RecordedScore>>()
    const follow = (after: number, made: readonly ServerCall[], seed: string): number =>
      made.reduce((at, call) => {
        const { tool, arguments: args } = call
        const calls = getOrSet(places, at, () => new Map<string, Variants<Node>>())
        const answers = getOrSet(calls, this.#volatile.callKey(tool, args), () => new Variants<Node>())
        return answers.add(this.#volatile.answerKey(tool, call), seed, () => {
          const node = { number: nodes.length + 1, after: at, call }
          nodes.push(node)
          return node
        }).number
      }, after)
    const episodes = [...this.#episodes.values()].sort((one, other) => (one.key < other.key ? -1 : 1))
    for (const { task, params, seed, text, setup, calls, judged } of episodes) {
      const name = canonicalJson(params)
      const { number, starts } = getOrSet(tasks, name, () => ({
        number: tasks.size,
        task: { ...task, params, seed, text },
        starts: new Variants<number>(),
      }))
      const start = follow(0, setup, seed)
      starts.add(String(start), seed, () => start)
      const last = follow(start, calls, seed)
      if (!judged) continue
      const { answer, score, success } = judged
      const end = this.#volatile.callKey(DONE, { answer })
      const found = getOrSet(scores, canonicalJson([last, number, end]), () => new Variants<RecordedScore>())
      found.add(`${score} ${success}`, seed, () => ({ after: last, task: number, answer, score, success }))
      follow(last, judged.calls, seed)
    }
    const variants = [...places.values()].flatMap((calls) => [...calls.values()]).filter(({ size }) => size > 1)
    const seedsOf = new Map(
      variants.flatMap((answers) => answers.list().map(({ value, seeds }) => [value.number, seeds] as const)),
    )
    const lines: Json[] = [
      this.#header(),
      ...[...tasks.values()].map(({ task, starts }) => ({
        task: { ...task, starts: starts.list().map(({ value, ...rest }) => ({ after: value, ...rest })) },
      })),
      ...nodes.map(({ number, after, call }) => {
        const { tool, arguments: args, ...answer } = call
        const seeds = seedsOf.get(number)
        return { after, call: [tool, args], ...answer, ...(seeds && { seeds }) } satisfies RecordedCallLine as Json
      }),
      ...[...scores.values()].flatMap((found) => found.list().map(({ value, ...rest }) => ({ ...value, ...rest }))),
    ]
    return {
      text: lines.map((line) => `${canonicalJson(line)}\n`).join(''),
      counts: {
        episodes: episodes.length,
        tasks: tasks.size,
        calls: nodes.length,
        scores: scores.size,
        variants: variants.length,
        leftOut: this.#leftOut,
      },
    }
  }

  #header(): Json {
    const { name, version } = this.#environment
    return { ...this.#made, recording: 1, environment: { name, version }, volatile: this.#written } as unknown as Json
  }
}

function answered(tool: string, args: JsonObject, answer: ServerCall): ServerCall {
  const { text, structured, isError, attachments, resources } = answer
  const files = { ...(attachments && { attachments }), ...(resources && { resources }) }
  return { tool, arguments: args, text, structured, isError, ...files }
}

function getOrSet<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}
