import { readFileSync } from 'node:fs'
import { PlayerStop, type Policy } from '@episodic/env'
import {
  type Action,
  actionSchema,
  type EpisodeRecord,
  parseSealedRecord,
  type Task,
  taskSchema,
} from '@episodic/protocol'
import { parseJson } from '@episodic/run/base/json'
import { writeWhole } from '@episodic/run/base/own-files'
import { z } from 'zod'

/** A step of an episode that a test goes on from: the file beside the test. */
export interface SavedCase {
  /** With the limits that it was played with. */
  readonly task: Task
  /** How many steps come before. */
  readonly step: number
  readonly calls: readonly Action[]
  /** The line of the episode, after those that it goes on from. */
  readonly lines: readonly EpisodeRecord[]
}

const savedCaseSchema: z.ZodType<SavedCase> = z.strictObject({
  task: taskSchema,
  step: z.int().min(0),
  calls: z.array(actionSchema),
  lines: z.array(z.custom<EpisodeRecord>((line) => parseSealedRecord(line).success)).min(1),
})

/** Reads the case of a test. Throws `run-invalid` for another file. */
export function readSavedCase(file: string): SavedCase {
  const problem = `${file} is no case of \`episodic continue --save\``
  return parseJson(savedCaseSchema, () => readFileSync(file, 'utf8'), 'run-invalid', problem)
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
