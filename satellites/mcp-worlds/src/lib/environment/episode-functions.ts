import type { Rng } from '@episodic/protocol'
import type { PlayedServer } from '../servers/episode-server.ts'
import type { ServerCall, WorldCalls } from '../servers/trail.ts'
import type { McpEnvironmentSpec, McpEpisode, Score } from './mcp-environment-spec.ts'

export async function setUp(
  setup: McpEnvironmentSpec['setup'],
  server: PlayedServer,
  { params, rng }: { readonly params: unknown; readonly rng: Rng },
): Promise<ServerCall[]> {
  const made: ServerCall[] = []
  await setup?.(episodeOf(server, params, made, { rng }))
  return made
}

/** Judges a past episode: its score, and the calls it took. Without a function, the recorded score, or `null`. */
export async function scoreEpisode(
  score: Score | undefined,
  server: PlayedServer,
  params: unknown,
  answer: string | null,
): Promise<Pick<WorldCalls, 'score' | 'judging'>> {
  if (!score) return { score: server.recordedScore(params, answer) }
  const made: ServerCall[] = []
  const { transcript } = server
  const given = await score(episodeOf(server, params, made, { answer, transcript: [...transcript] }))
  const value = Number(given)
  if ((typeof given === 'number' || typeof given === 'boolean') && Number.isFinite(value))
    return { score: value, judging: bounded(made) }
  throw new TypeError(`score returned ${String(given)}. Return a finite number, or whether the episode succeeded.`)
}

function episodeOf<Params, More extends object>(
  server: PlayedServer,
  params: unknown,
  made: ServerCall[],
  more: More,
): McpEpisode<Params> & More {
  return {
    ...more,
    params: params as Params,
    // Not before it is asked for: a recording has none.
    get folder() {
      return server.folder
    },
    async call(tool, args = {}) {
      const call = await server.call(tool, args)
      const { text, structured, isError } = call
      made.push(call)
      if (isError) throw new Error(`The server refused ${tool}, which the world itself needs: ${text}`)
      return { text, structured }
    },
  }
}

export function withInstructions(instructions: string, text: string): string {
  return [instructions, text].filter(Boolean).join('\n\n')
}

/** Characters of JSON of the world's own calls that a step keeps, beside its answer and within the limit of both. */
const MOST_KEPT = 100_000

/** Returns calls as a step keeps them; `null` if they are too large. */
export function bounded(calls: readonly ServerCall[]): ServerCall[] | null {
  return JSON.stringify(calls).length > MOST_KEPT ? null : [...calls]
}
