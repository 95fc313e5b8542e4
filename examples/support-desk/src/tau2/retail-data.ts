import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Action } from '@episodic/protocol'
import { z } from 'zod'
import { createShop, type Shop } from '../shop.ts'

const lines = z.string().nullable().default(null)

const retailTasks = z
  .array(
    z.object({
      id: z.string(),
      user_scenario: z.object({
        instructions: z.object({
          reason_for_call: lines,
          known_info: lines,
          unknown_info: lines,
          task_instructions: lines,
        }),
      }),
      evaluation_criteria: z.object({
        actions: z.array(z.object({ name: z.string(), arguments: z.record(z.string(), z.json()) })),
        communicate_info: z.array(z.string()).nullable().default(null),
        nl_assertions: z.array(z.string()).nullable().default(null),
      }),
    }),
  )
  .min(1)

/** A task of the retail domain of τ²-bench. */
export interface RetailTask {
  readonly id: string
  /** What the user is, wants and knows. */
  readonly scenario: Readonly<z.output<typeof retailTasks>[number]['user_scenario']['instructions']>
  readonly golden: readonly Action[]
  /** What the user is to be informed of. */
  readonly facts: readonly string[]
  /** Sentences that a judge would have to decide on. */
  readonly assertions: readonly string[]
}

/** The files of the retail domain of τ²-bench. */
export interface RetailData {
  readonly shop: Shop
  readonly tasks: readonly RetailTask[]
  readonly policy: string
}

/** Reads `db.json`, `tasks.json` and `policy.md` of a folder. Throws if one is missing or has another shape. */
export function readRetailData(folder: string): RetailData {
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  const tasks = retailTasks.parse(JSON.parse(read('tasks.json')))
  return {
    shop: createShop(JSON.parse(read('db.json'))),
    policy: read('policy.md'),
    tasks: tasks.map(({ id, user_scenario, evaluation_criteria: { actions, communicate_info, nl_assertions } }) => ({
      id,
      scenario: user_scenario.instructions,
      golden: actions.map(({ name, arguments: args }) => ({ tool: name, arguments: args })),
      facts: communicate_info ?? [],
      assertions: nl_assertions ?? [],
    })),
  }
}
