import { jsonObjectSchema } from '@episodic/protocol/base/internal'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import {
  branchPoints,
  branchSchema,
  difficultySchema,
  named,
  namedJson,
  nonEmpty,
  numberWithin,
  range,
  splitSchema,
  stages,
  textOrFile,
  texts,
  UNTIL,
  weights,
  wholeNumber,
} from '../../base/option-values.ts'
import { flag, flagOff, inFile, option } from '../../base/options.ts'
import { stageSchema } from './curriculum-settings.ts'
import { toolFaultOptions } from './faults/tool-fault-rates.ts'

/** Fields of a request that are what a run plays, and no option. */
const OWN_FIELDS: readonly string[] = ['model', 'messages', 'tools', 'n']
const isOwnField = (name: string) => OWN_FIELDS.includes(name)
export const modelOptionSchema = jsonObjectSchema.refine((given) => !Object.keys(given).some(isOwnField), {
  error: `${OWN_FIELDS.join(', ')} are decided by the run. Leave them out.`,
})
export const modelOption: typeof namedJson = {
  ...namedJson,
  read(text, earlier) {
    const { data, error } = modelOptionSchema.safeParse(namedJson.read(text, earlier))
    if (data) return data
    throw new InvalidArgumentError(error?.issues[0]?.message ?? '')
  },
}

/** Seconds: a week. */
const LONGEST_EPISODE = 604_800

export const taskOptions = z.object({
  dataset: option('<file>', 'tasks to play, as JSONL (default: generate them)'),
  tasks: option('<count>', 'number of tasks to generate', wholeNumber(1).default(100)),
  difficulty: option('<low..high>', 'difficulty of generated tasks, from 0 to 1', difficultySchema.default([0, 1]), {
    text: range,
  }),
  split: option('<split>', 'play only this split of the dataset', splitSchema.optional()),
  seed: option('<seed>', 'seed of generated tasks, policies and forks', nonEmpty.default('0')),
})

export const policyOption = z.object({
  policy: option(
    '<policy>',
    'random, solver, a policy of the world, script:<file.json>, llm:<model>, agent:<file>, process:<command>, acp:<agent>, or a module; can be repeated',
    texts,
    { usual: 'solver if the world has one, else random' },
  ),
})

export const seatOptions = z.object({
  seat: option(
    '<seat=policy>',
    'policy of one seat, of several; --policy plays those not named',
    z.record(z.string(), z.string()).optional(),
    { text: named },
  ),
  focus: option('<seat>', 'seat whose figures head the report (default: the first)', z.string().optional(), inFile),
  policyVersion: option(
    '<version>',
    'version of the weights that play, for the record: of --policy, and of every seat that it plays',
    nonEmpty.optional(),
  ),
})

export const episodeOptions = z.object({
  rollouts: option('<count>', 'episodes of each task', wholeNumber(1).default(1)),
  until: option(
    '<known>',
    'play rollout after rollout of all tasks, --rollouts at most, until success is known so well: ±2points, or decided: >=80%',
    z.string().regex(UNTIL, 'Give a width, as ±2points, or what to decide, as >=80% or <=5%.').optional(),
  ),
  branch: option(
    '<lines@step,…>',
    'fork each rollout at these steps, into a tree of episodes',
    branchSchema.default([]),
    { text: branchPoints, usual: 'none' },
  ),
  stages: option(
    '<count@low..high,…>',
    'draw tasks, instead of playing each in turn: so many in each stage, of its difficulty',
    z.array(stageSchema).min(1).optional(),
    { text: stages },
  ),
  ...toolFaultOptions.shape,
  maxSteps: option('<count>', 'truncate each episode after this many steps', wholeNumber(1).optional()),
  episodeTimeout: option(
    '<seconds>',
    'stop a player that takes longer for an episode (default: never, and agents after 1800)',
    wholeNumber(1, LONGEST_EPISODE).optional(),
    inFile,
  ),
})

export const rewardOptions = z.object({
  weights: option('<term=number,…>', 'weights of reward terms', z.record(z.string(), z.number()).default({}), {
    text: weights,
    usual: '1 for each term',
    inFile: '{"<term>":<number>}',
  }),
  shaping: flag('add potential-based reward shaping, γΦ(s′) − Φ(s)'),
  discount: option(
    '<γ>',
    'discount factor of shaping and of the discounted return',
    numberWithin(0, 1).default(1),
    inFile,
  ),
})

export const samplingOptions = z.object({
  systemPrompt: option(
    '<text>',
    'with llm:<model>: what it is sent before the task, or @<file>; empty for nothing (default: that it acts by calling tools)',
    z.string().optional(),
    { text: textOrFile, ...inFile },
  ),
  describe: option(
    '<tool=text>',
    'with llm:<model>: what it reads of a tool in place of its description; can be repeated',
    z.record(z.string(), z.string()).optional(),
    { text: named, inFile: '{"<tool>":"<text>"}' },
  ),
  temperature: option('<number>', 'with llm:<model>: sampling temperature', numberWithin(0, 2).optional()),
  maxTokens: option('<count>', 'with llm:<model>: maximum tokens of one answer', wholeNumber(1).optional()),
  tokenBudget: option('<count>', 'with llm:<model>: maximum tokens of one episode', wholeNumber(1).optional(), inFile),
  parallelToolCalls: flagOff('with llm:<model>: play only the first call of an answer', inFile),
  images: flagOff('with llm:<model>: send a note in place of each picture and PDF', inFile),
  modelOption: option(
    '<name=json>',
    'with llm:<model>, or --record-models: a field of its requests, as reasoning_effort=low; null leaves one out; can be repeated',
    modelOptionSchema.optional(),
    { text: modelOption, inFile: '{"<name>":<json>}' },
  ),
  modelHeader: option(
    '<name=value>',
    'with llm:<model>: a header of its requests; env:<VARIABLE> as value keeps a secret out of records; can be repeated',
    z.record(z.string(), z.string()).optional(),
    { text: named, inFile: '{"<name>":"<value>"}' },
  ),
})
