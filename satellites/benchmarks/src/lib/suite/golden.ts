import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { pathToFileURL } from 'node:url'
import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { canonicalJson, contentId, type Json, type JsonObject } from '@episodic/protocol'

export interface GoldenCall {
  /** The seat that acts; needed if there are several. */
  readonly seat?: string
  readonly tool: string
  readonly arguments: JsonObject
  /** `false` for a call that the original does not have, such as speech: its answer is not compared. */
  readonly answers?: false
}

export interface GoldenResult {
  /** The digest of the list of the answers' texts: see {@link digestOf}. */
  readonly answers: string
  /** The digest of the compared parts of the state at the end. */
  readonly state: string
  readonly solved: boolean
}

export interface GoldenCase {
  /** The task's name in the original, which is `metadata.task` of the task too. */
  readonly task: string
  readonly params: JsonObject
  /** Of the episode. Default: one that is always the same. */
  readonly seed?: string
  readonly calls: readonly GoldenCall[]
  /** What the original's own program recorded; `null` where the original has no golden actions. */
  readonly expected: GoldenResult | null
}

export interface GoldenWorld {
  readonly environment: EnvironmentDefinition
  readonly golden: () => Iterable<GoldenCase>
  /** Returns the named parts of a state, `{ public, private }`, that are compared. */
  readonly goldenState: (state: { readonly public: JsonObject; readonly private: JsonObject }) => Json
}

export interface PlayedGolden extends GoldenResult {
  readonly task: string
  /** What is another than the original's; empty if all is equal, and for a task without golden actions. */
  readonly differs: readonly (keyof GoldenResult)[]
  /** Why the calls could not be played to their end; `null` if they were. */
  readonly failure: string | null
}

/**
 * Plays the golden actions of a task by the rules alone, and compares what came of them with what was recorded from the
 * original: the texts that tools answered, without the view of the player that may follow them. An episode is solved if
 * its last call ends it with success. Rules that throw are a `failure` of the task.
 */
export async function playGolden(
  { environment, goldenState }: Omit<GoldenWorld, 'golden'>,
  { task, params, seed = 'golden', calls, expected }: GoldenCase,
): Promise<PlayedGolden> {
  const answers: string[] = []
  let failure: string | null = null
  let solved = false
  const world = rehearse<EnvironmentDefinition>(environment, { params, seed })
  try {
    for (const { seat, tool, arguments: given, answers: isCompared } of calls) {
      const prepared = await world.prepare(tool, given)
      const { observation, success } = world.play(tool, given, { ...(seat !== undefined && { seat }), prepared })
      if (isCompared !== false) answers.push(withoutView(observation.text, world.observe(seat).text))
      solved = success === true
    }
  } catch (error) {
    failure = (error as Error).message
  }
  const found = { answers: digestOf(answers), state: digestOf(goldenState(world.state)), solved }
  const differs = expected
    ? (['answers', 'state', 'solved'] as const).filter((key) => found[key] !== expected[key])
    : []
  return { task, ...found, differs, failure }
}

/** An answer is followed by what the player sees, if it is still its turn. The original's is the answer alone. */
function withoutView(answer: string, view: string): string {
  return view !== '' && answer.endsWith(`\n${view}`) ? answer.slice(0, -view.length - 1) : answer
}

/**
 * Returns the first 16 hexadecimal digits of the SHA-256 of a value's canonical JSON (RFC 8785: sorted keys, no white
 * space, numbers as JavaScript writes them).
 */
export function digestOf(value: Json): string {
  return contentId(canonicalJson(value)).slice(0, 16)
}

/** Returns the address of `golden/<name>.jsonl` of this package, from its sources and from its build. */
export function goldenFile(name: string): URL {
  return new URL(`golden/${name}.jsonl`, pathToFileURL(findPackageJSON(import.meta.url) as string))
}

/** Reads what an original recorded, a line for each task: `{"task":…,"answers":…,"state":…,"solved":…}`. */
export function readGolden(file: URL): ReadonlyMap<string, GoldenResult> {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return new Map(
    lines.map((line) => {
      const { task, ...result } = JSON.parse(line) as GoldenResult & { readonly task: string }
      return [task, result]
    }),
  )
}
