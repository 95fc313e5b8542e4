import { hash } from 'node:crypto'
import { readTasks, writeTasks } from '@episodic/dataset/jsonl'
import { CANARY, HELD_OUT } from '@episodic/report/held-out/held-out'
import { invalidOption } from '@episodic/run/base/harness-error'
import { splitSchema } from '@episodic/run/base/option-values'
import { option } from '@episodic/run/base/options'
import { hashFile } from '@episodic/run/folder/plan/content-hash'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'

const holdOutOptions = z.object({
  split: option('<split>', 'the split that no model is to be trained on', splitSchema.default('test')),
  canary: option(
    '<id>',
    'the canary of the data set (default: 32 digits, from its content)',
    z
      .string()
      .regex(/^[\w-]{8,64}$/, 'Give 8 to 64 letters, digits, dashes and underscores.')
      .optional(),
  ),
  out: option('<file>', 'file to write', z.string()),
})

/** Marks tasks by their tags, which are in every sealed line, and on which neither ids of tasks nor worlds depend. */
export const holdOutCommand = defineCommand('hold-out', holdOutOptions, {
  description: 'mark a split as held out from training, and every task with a canary',
  argument: ['<file>', 'the dataset'],
  async run(file: string, { split, out, canary: given }, console) {
    const canary = `${CANARY}${given ?? hash('sha256', `canary ${await hashFile(file)}`).slice(0, 32)}`
    let held = 0
    async function* marked() {
      for await (const task of readTasks(file)) {
        const isHeld = task.split === split
        held += Number(isHeld)
        // What is held out stays so, and has each canary that it was given.
        yield { ...task, tags: [...new Set([...task.tags, canary, ...(isHeld ? [HELD_OUT] : [])])] }
      }
      if (held === 0) throw invalidOption(`${file} has no task of the split ${split}, so nothing would be held out.`)
    }
    const { count, sha256 } = await writeTasks(out, marked())
    console.out.write(`${out}  ${count} tasks, ${held} of ${split} held out  ${canary}  sha256 ${sha256}\n`)
  },
})
