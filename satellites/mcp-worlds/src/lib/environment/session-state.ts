import type { JsonObject, Rng } from '@episodic/protocol'
import { z } from 'zod'
import { toolAnswerShape } from '../servers/call-tool.ts'
import { changesSchema, type SavedFolder, savedFolderSchema } from '../servers/saved-folder.ts'
import { serverCallSchema, trailOf, type WorldCalls, worldCallsSchema } from '../servers/trail.ts'
import type { McpEnvironmentSpec } from './mcp-environment-spec.ts'

/** What a call of the player has got from its server. */
export const preparedSchema = worldCallsSchema.extend({
  ...toolAnswerShape,
  /** Names the calls of the player, and their answers, this one included. */
  trail: z.string(),
  /** What has changed in the folder, by path, if that is saved; `null` for what is gone. */
  files: changesSchema.optional(),
})

export const publicSchema = z.object({
  calls: z.int(),
  trail: z.string(),
  /** Which of the recorded starts of its task the episode has: 0 for a live server. */
  start: z.int(),
})

const privateSchema = z.object({
  /** `null` until it is judged. */
  score: z.number().nullable(),
  /** Names the calls that set the server up, and their answers. */
  setup: z.string(),
  /** The folder of the episode, and the calls of the player, if they are saved. */
  saved: z.object({ files: savedFolderSchema, transcript: z.array(serverCallSchema) }).optional(),
})

/** Returns the schema of the private state. Without a saved folder, no state that is restored may bring one. */
export function privateSchemaOf({ stateInFolder = false }: Pick<McpEnvironmentSpec, 'stateInFolder'>) {
  return (stateInFolder ? privateSchema : privateSchema.omit({ saved: true })) as typeof privateSchema
}

export interface McpState {
  readonly public: z.output<typeof publicSchema>
  readonly private: z.output<typeof privateSchema>
}

/** The context of a preparation, as far as servers need it. */
export interface Preparing {
  readonly session: string
  readonly state: {
    readonly public: McpState['public']
    readonly private: Omit<McpState['private'], 'saved'> & {
      readonly saved?: { readonly files: SavedFolder; readonly transcript: readonly unknown[] } | undefined
    }
  }
  readonly params: unknown
  readonly rng: Rng
}

export function noteWorldCalls({ private: kept }: McpState, { setup, score }: WorldCalls): void {
  if (setup) kept.setup = trailOf(setup)
  kept.score = score
}

export function noteCall(
  { public: seen, private: { saved } }: McpState,
  tool: string,
  args: JsonObject,
  { text, structured, isError, trail, files = {} }: z.output<typeof preparedSchema>,
): void {
  seen.calls += 1
  seen.trail = trail
  if (!saved) return
  for (const [path, content] of Object.entries(files)) {
    if (content === null) delete saved.files[path]
    else saved.files[path] = content
  }
  saved.transcript.push({ tool, arguments: args, text, structured, isError })
}
