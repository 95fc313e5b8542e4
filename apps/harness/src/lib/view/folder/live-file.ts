import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EpisodeInFlight } from '@episodic/report'
import { z } from 'zod'
import { RUN_FILES } from '../../run-folder/record/run-folder.ts'

/** The content of `live.json`: what a run plays now. */
const liveSchema = z.object({
  format: z.literal(1),
  /** At most 256, the oldest first. */
  inFlight: z.array(
    z.object({
      task: z.string(),
      attempt: z.int().min(0),
      steps: z.int().min(0),
      call: z.string().nullable(),
      answer: z.string().nullable(),
      tokens: z.number().min(0),
      since: z.number(),
    }),
  ),
})

/** Returns the episodes that a running run plays; none if it does not say. */
export async function readInFlight(folder: string): Promise<readonly EpisodeInFlight[]> {
  try {
    return liveSchema.parse(JSON.parse(await readFile(join(folder, RUN_FILES.live), 'utf8'))).inFlight
  } catch {
    return []
  }
}
