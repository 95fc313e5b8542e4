import { modelOptionsSchema } from '@episodic/models/model-options'
import { processOptions } from '@episodic/play/play/run-settings'
import { type Action, jsonObjectSchema } from '@episodic/protocol'
import { jsonAs } from '@episodic/run/base/json'
import { named, nonEmpty, textOrFile, texts, wholeNumber } from '@episodic/run/base/option-values'
import { flag, flagOff, type OptionText, option } from '@episodic/run/base/options'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'

/** `refund '{"order":"#17"}'`; of several seats `buyer.refund '{"order":"#17"}'`. */
const call: OptionText<Partial<Action>> = {
  read(text, earlier) {
    if (earlier?.tool === undefined) return { tool: text, arguments: {} }
    const given = jsonAs(jsonObjectSchema, text)
    if (given) return { ...earlier, arguments: given }
    throw new InvalidArgumentError('Write a tool, and its arguments as a JSON object.')
  },
}

export const continueOptions = z.object({
  task: option('<id>', 'only episodes of tasks whose id starts with this'),
  attempt: option('<number>', 'only this attempt', wholeNumber(0).optional()),
  query: option('<query>', 'only episodes that match, as in the list of episodes'),
  step: option('<number>', 'the step that is played anew, as the transcript numbers it', wholeNumber(0).optional()),
  call: option(
    '<action...>',
    'change: the action of this step, as a tool and its arguments in JSON',
    z.custom<Action>().optional(),
    { text: call as OptionText<Action> },
  ),
  answer: option(
    '<text>',
    'change: what the player reads of this step, or @<file>; the state stays',
    z.string().optional(),
    { text: textOrFile },
  ),
  system: option('<text>', 'change: the system prompt of llm:<model>, or @<file>', z.string().optional(), {
    text: textOrFile,
  }),
  prompt: option('<text>', 'change: the prompt of the task, or @<file>', z.string().optional(), { text: textOrFile }),
  describe: option(
    '<tool=text>',
    'change: the description of a tool; can be repeated',
    z.record(z.string(), z.string()).optional(),
    { text: named },
  ),
  policy: option('<policy>', 'change: who plays on, of several seats the one in focus (default: who played)'),
  seat: option(
    '<seat=policy>',
    'change: who plays on for a seat; can be repeated',
    z.record(z.string(), z.string()).optional(),
    { text: named },
  ),
  seed: option(
    '<seed>',
    'change: draw new chance from the step on (default: it goes on as it would have)',
    nonEmpty.optional(),
  ),
  whereLost: flag('instead: find the step of each episode after which it was lost'),
  budget: option('<count>', 'with --where-lost: continuations of each episode at most', wholeNumber(10).default(400)),
  rollouts: option('<count>', 'continuations of each episode (default: 8, to search 16)', wholeNumber(1).optional()),
  control: flagOff('play no continuations without the change'),
  maxSteps: option(
    '<count>',
    'truncate each episode after this many steps, with those before',
    wholeNumber(1).optional(),
  ),
  world: option(
    '<world>',
    'name, path or package of the world (default: that of your own run, or one of its name)',
    texts,
  ),
  dataset: option('<file>', 'file of the tasks, if it has moved since the run'),
  out: option('<folder>', 'folder of the continuations (default: <run>-continued, with -2, -3 … if that is there)'),
  resume: flag('play the missing continuations of those in --out'),
  save: option('<file>', 'write the step as a test of Vitest, such as tests/refund.test.ts, and play nothing'),
  holds: option(
    '<what>',
    'with --save: what must hold; success, grader:<name>, return=<least> or <term>=<least>',
    z.string().default('success'),
  ),
  json: flag('print the result as JSON'),
  concurrency: processOptions.shape.concurrency,
  ...modelOptionsSchema.pick({ baseUrl: true, temperature: true, maxTokens: true, prices: true }).shape,
  ...modelOptionsSchema.pick({ costLimit: true, tokenLimit: true, timeLimit: true }).shape,
})
export type ContinueOptions = z.infer<typeof continueOptions>
