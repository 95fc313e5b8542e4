import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ServerError } from '@episodic/mcp-server'
import { canonicalJson, createRng, type JsonObject, type Rng } from '@episodic/protocol'
import { formatZodError, shorten } from '@episodic/protocol/internal'
import { NO_CALLS, type ServerCall, trailAfter } from '../servers/trail.ts'
import {
  headerSchema,
  lineSchema,
  type RecordedScore,
  type RecordedTask,
  type RecordingHeader,
} from './recording-file.ts'
import { DONE } from './recording-writer.ts'
import { readVolatile, type Volatile } from './volatile.ts'

export interface RecordedNode {
  readonly number: number
  readonly after: number
  readonly call: ServerCall
  readonly seeds?: readonly string[] | undefined
}

/** A stream's first draw names the seed: at its start, which moves it, or in a prepared step, which does not. */
const STREAMS = { start: 'recording-start', step: 'recording' } as const

/**
 * What servers answered in the episodes that were recorded: for each history of calls, what was called next, and the
 * answer. Where the same call was answered differently, an episode with the seed of a recorded one gets what that one
 * got, and any other the answer of one of them, which its seed draws.
 */
export class Recording {
  readonly header: RecordingHeader
  readonly tasks: readonly RecordedTask[]
  readonly successes: ReadonlySet<number>
  readonly #volatile: Volatile
  readonly #nodes: readonly RecordedNode[]
  /** By the number of the call before, and by what is called. */
  readonly #next = new Map<number, Map<string, RecordedNode[]>>()
  readonly #scores = new Map<string, RecordedScore[]>()
  /** The same, by the number of the player's last call. */
  readonly #ends = new Map<number, RecordedScore[]>()
  /** The numbers of the calls that lead to an end of a task, by the number of the task. */
  readonly #leads = new Map<number, Set<number>>()
  readonly #tasksByParams: ReadonlyMap<string, number>
  /** The numbers of the last calls, by the trail of the set-up and that of the player. */
  readonly #places = new Map<string, number>()
  readonly #trails = new Map<number, string>()
  readonly #seeds: ReadonlyMap<number, string>

  private constructor(header: RecordingHeader, lines: readonly RecordedLine[]) {
    this.header = header
    this.tasks = lines.flatMap((line) => ('task' in line && typeof line.task === 'object' ? [line.task] : []))
    const scores = lines.filter((line): line is RecordedScore => 'score' in line)
    this.successes = new Set(scores.filter(({ success }) => success).map(({ score }) => score))
    this.#volatile = readVolatile(header.volatile, [...header.tools.map(({ name }) => name), DONE])
    this.#nodes = lines
      .flatMap((line) => ('call' in line ? [line] : []))
      .map(({ after, call: [tool, args], seeds, ...answer }, i) => ({
        number: i + 1,
        after,
        call: { tool, arguments: args, ...answer },
        seeds,
      }))
    for (const node of this.#nodes) {
      const { after, call } = node
      const calls = this.#next.get(after) ?? new Map<string, RecordedNode[]>()
      this.#next.set(after, calls)
      push(calls, this.#volatile.callKey(call.tool, call.arguments), node)
    }
    for (const score of scores) push(this.#ends, score.after, score)
    for (const score of scores) push(this.#scores, this.#scoreKey(score.after, score.task, score.answer), score)
    for (const { after, task } of scores) this.#lead(task, after)
    this.#tasksByParams = new Map(this.tasks.map(({ params }, i) => [canonicalJson(params), i]))
    const starts = new Set(this.tasks.flatMap((task) => task.starts.map(({ after }) => after)))
    for (const start of starts) this.#place(start)
    const all = new Set([...this.tasks.map(({ seed }) => seed), ...lines.flatMap(seedsIn)])
    this.#seeds = new Map(
      Object.values(STREAMS).flatMap((stream) =>
        [...all].map((seed) => [drawOf(createRng(seed), stream), seed] as const),
      ),
    )
  }

  static read(file: string | URL): Recording {
    const path = typeof file === 'string' ? file : fileURLToPath(file)
    const [first = '', ...rest] = readFileSync(path, 'utf8').split('\n')
    const header = parsed(headerSchema, first, `${path}:1`)
    const lines = rest.flatMap((line, i) => (line === '' ? [] : [parsed(lineSchema, line, `${path}:${i + 2}`)]))
    return new Recording(header, lines)
  }

  static isRecording(text: string): boolean {
    const [first = ''] = text.split('\n', 1)
    return first.includes('"recording":') && headerSchema.safeParse(jsonOrNull(first)).success
  }

  /** Returns the task of parameters; of none, the first one. Throws `not-recorded` for those of no episode. */
  taskOf(params: unknown): RecordedTask {
    return this.tasks[this.#taskNumber(params)] as RecordedTask
  }

  /** Returns the number of the start among those of its task, and the trail of its set-up. Throws as {@link taskOf}. */
  startOf(params: unknown, rng: Rng): [start: number, setup: string] {
    const { starts } = this.taskOf(params)
    const [only] = starts
    // Without a draw, the state is that of the live server, and its episodes are continued here.
    const start = starts.length === 1 && only ? only : this.#pick(starts, drawOf(rng, STREAMS.start))
    return [starts.indexOf(start), this.#trails.get(start.after) as string]
  }

  callsBetween(start: number, end: number): ServerCall[] {
    const calls: ServerCall[] = []
    for (let at = end; at !== start && at !== 0; ) {
      const { call, after } = this.#nodes[at - 1] as RecordedNode
      calls.push(call)
      at = after
    }
    return calls.reverse()
  }

  /** Returns the number of the last call, by both trails. Throws `not-recorded` for another history. */
  find(setup: string, trail: string): number {
    const found = this.#places.get(placeName(setup, trail))
    if (found !== undefined) return found
    const what = trail === NO_CALLS ? 'began with this set-up' : 'has the history of this session'
    throw new ServerError(
      'not-recorded',
      `No episode in the recording of ${this.header.environment.name} ${what}. ${ADVICE}`,
    )
  }

  /** Returns what the calls of one preparation are picked by. */
  static drawOf(rng: Rng): number {
    return drawOf(rng, STREAMS.step)
  }

  /** Returns what was called and answered next. Throws `not-recorded`, with what was recorded there. */
  next(after: number, tool: string, args: JsonObject, draw: number): RecordedNode {
    const found = this.#next.get(after)?.get(this.#volatile.callKey(tool, args))
    if (found) return this.#pick(found, draw)
    throw this.#notRecorded(after, `${tool}(${shown(args)})`)
  }

  /** Returns the score of a player who ended there. Throws `not-recorded` if none did. */
  scoreOf(after: number, params: unknown, answer: string | null, draw: number): number {
    const found = this.#scores.get(this.#scoreKey(after, this.#taskNumber(params), answer))
    if (found) return this.#pick(found, draw).score
    throw this.#notRecorded(after, answer === null ? 'the end without an answer' : `${DONE}(${shown({ answer })})`)
  }

  /**
   * Returns the calls after which an end of the task was recorded, after the calls of a trail: their arguments by the
   * server's name of the tool, and those of `done`. Where episodes are not scored, all calls that were recorded.
   *
   * @param start - the number of the start among those of the task; `null` for any.
   */
  legal(params: unknown, trail: string, start: number | null): Map<string, JsonObject[]> {
    const legal = new Map<string, JsonObject[]>()
    const task = this.#taskNumber(params)
    for (const [i, { after: begun }] of this.taskOf(params).starts.entries()) {
      if (start !== null && i !== start) continue
      const place = this.#places.get(placeName(this.#trails.get(begun) as string, trail))
      if (place === undefined) continue
      for (const answers of this.#next.get(place)?.values() ?? []) {
        const node = answers.find(({ number }) => !this.header.scored || this.#leads.get(task)?.has(number))
        if (node) push(legal, node.call.tool, node.call.arguments)
      }
      for (const { answer, task: of } of this.#ends.get(place) ?? [])
        if (of === task) push(legal, DONE, answer === null ? {} : { answer })
    }
    return legal
  }

  #lead(task: number, end: number): void {
    const leads = this.#leads.get(task) ?? new Set<number>()
    this.#leads.set(task, leads)
    for (let at = end; at !== 0 && !leads.has(at); at = (this.#nodes[at - 1] as RecordedNode).after) leads.add(at)
  }

  #place(start: number): void {
    const setup = this.callsBetween(0, start).reduce(trailAfter, NO_CALLS)
    this.#trails.set(start, setup)
    const open: [number, string][] = [[start, NO_CALLS]]
    for (let place = open.pop(); place; place = open.pop()) {
      const [number, trail] = place
      this.#places.set(placeName(setup, trail), number)
      for (const node of [...(this.#next.get(number)?.values() ?? [])].flat())
        open.push([node.number, trailAfter(trail, node.call)])
    }
  }

  #taskNumber(params: unknown): number {
    const given = canonicalJson(params as JsonObject)
    const found = this.#tasksByParams.get(given) ?? (given === '{}' ? 0 : undefined)
    if (found !== undefined && this.tasks.length > 0) return found
    throw new ServerError(
      'not-recorded',
      `No episode of ${this.header.environment.name} was recorded with the parameters ${shown(params)}. Recorded are ${this.tasks.length} tasks, such as ${shown(this.tasks[0]?.params)}. ${ADVICE}`,
    )
  }

  #scoreKey(after: number, task: number, answer: string | null): string {
    return `${after} ${task} ${this.#volatile.callKey(DONE, { answer })}`
  }

  #pick<One extends Pick<RecordedNode, 'seeds'>>(several: readonly One[], draw: number): One {
    const seed = this.#seeds.get(draw)
    const own = seed === undefined ? undefined : several.find(({ seeds }) => seeds?.includes(seed))
    return own ?? (several[Math.floor(draw * several.length)] as One)
  }

  #notRecorded(after: number, asked: string): ServerError {
    const before = this.callsBetween(0, after).map(({ tool, arguments: args }) => `${tool}(${shown(args)})`)
    const last = before.slice(-MOST_NAMED).join(', ')
    const history =
      before.length === 0 ? 'as the first call' : `after ${before.length} calls, the last of which are ${last}`
    const here = [...(this.#next.get(after)?.values() ?? [])].flatMap(([node]) =>
      node ? [`${node.call.tool}(${shown(node.call.arguments)})`] : [],
    )
    const ends = this.#ends.has(after) ? [DONE] : []
    const recorded = here.length + ends.length === 0 ? 'nothing' : listed([...here, ...ends])
    return new ServerError(
      'not-recorded',
      `The recording of ${this.header.environment.name} has no answer to ${asked} ${history}. Recorded there: ${recorded}. ${ADVICE}`,
    )
  }
}

const ADVICE = 'Play it with the server, and record that run too.'

/** Calls that a message names, and characters of each. */
const MOST_NAMED = 6
const LONGEST_NAMED = 160

function placeName(setup: string, trail: string): string {
  return `${setup} ${trail}`
}

function listed(calls: readonly string[]): string {
  const more = calls.length - MOST_NAMED
  return [...calls.slice(0, MOST_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

function shown(value: unknown): string {
  return shorten(JSON.stringify(value) ?? 'none', LONGEST_NAMED)
}

type RecordedLine = ReturnType<typeof lineSchema.parse>

function drawOf(rng: Rng, stream: string): number {
  return rng.stream(stream).float()
}

function seedsIn(line: RecordedLine): readonly string[] {
  if ('seeds' in line) return line.seeds ?? []
  return 'task' in line && typeof line.task === 'object' ? line.task.starts.flatMap(({ seeds = [] }) => seeds) : []
}

function parsed<T>(
  schema: { safeParse(value: unknown): { data?: T; error?: Parameters<typeof formatZodError>[0] } },
  line: string,
  where: string,
): T {
  const { data, error } = schema.safeParse(jsonOrNull(line))
  if (data !== undefined) return data
  const why = error ? `: ${formatZodError(error)}` : ''
  throw new ServerError('option-invalid', `${where} is not a line of a recording${why}. Make it with episodic record.`)
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function push<Key, Item>(map: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = map.get(key)
  if (list) list.push(item)
  else map.set(key, [item])
}
