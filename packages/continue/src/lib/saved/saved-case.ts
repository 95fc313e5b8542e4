import { readFile } from 'node:fs/promises'
import { PlayerStop, type Policy } from '@episodic/env'
import { type Action, actionSchema, type EpisodeRecord, type Task, taskSchema } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { whyInvalid } from '@episodic/run/base/json'
import { writeWhole } from '@episodic/run/base/own-files'
import { z } from 'zod'
import { sealedLine } from '../code/continuation.ts'

/** A step of an episode that a test goes on from: the file beside the test. */
export interface SavedCase {
  /** With the limits that it was played with. */
  readonly task: Task
  /** How many steps come before. */
  readonly step: number
  /** What was played after them. */
  readonly calls: readonly Action[]
  /** The line of the episode, after those that it goes on from. */
  readonly lines: readonly EpisodeRecord[]
}

const savedCaseSchema: z.ZodType<SavedCase> = z.strictObject({
  task: taskSchema,
  step: z.int().min(0),
  calls: z.array(actionSchema),
  lines: z.array(z.unknown().transform((line) => sealedLine(line) as EpisodeRecord)).min(1),
})

/** Reads the case of a test. Rejects with `run-invalid` for one whose lines were changed by hand. */
export async function readSavedCase(file: string): Promise<SavedCase> {
  try {
    return savedCaseSchema.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (cause) {
    const why = whyInvalid(cause)
    throw new HarnessError('run-invalid', `${file} is no case of \`episodic continue --save\`: ${why}`, { cause })
  }
}

/** Writes a case as JSON in lines, so that a diff shows what changed. */
export function writeSavedCase(file: string, saved: SavedCase): Promise<string> {
  return writeWhole(file, `${JSON.stringify(saved, null, 2)}\n`)
}

/** Returns the player that repeats what was played, and stops when that is over. */
export function repeatingPolicy(calls: readonly Action[]): Policy {
  const start = () => {
    let next = 0
    return () => {
      const action = calls[next++]
      if (action) return action
      throw new PlayerStop('no-action', 'The calls that were played are over, and the episode goes on.')
    }
  }
  return { name: 'played', start, resume: start }
}
