import { dirname } from 'node:path'
import { checkLines, checkTasks, generateTasks, sampleTasks, summarizeTasks } from '@episodic/dataset'
import { readLines, writeTasks } from '@episodic/dataset/jsonl'
import { connect } from '@episodic/env'
import { nemoGymRows } from '@episodic/export/nemo-gym-rows'
import { createHost, inProcess } from '@episodic/mcp-server'
import { holdsRows, tasksInFile } from '@episodic/play/worlds/tasks-in-file'
import { loadWorld } from '@episodic/play/worlds/world'
import { HELD_OUT } from '@episodic/report/held-out/held-out'
import { cleanText, plural } from '@episodic/report/text/format'
import { formatTable } from '@episodic/run/base/align-columns'
import { type Console, colorsOf, say } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { difficultySchema, nonEmpty, range, splitSchema, texts, wholeNumber } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import { makeFolder, writeWhole } from '@episodic/run/base/own-files'
import { Command } from 'commander'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'
import { holdOutCommand } from './hold-out.ts'
import { quarantineCommand } from './quarantine.ts'

export function command(console: Console): Command {
  return new Command('dataset')
    .addCommand(generateCommand(console))
    .addCommand(validateCommand(console))
    .addCommand(statsCommand(console))
    .addCommand(sampleCommand(console))
    .addCommand(exportCommand(console))
    .addCommand(quarantineCommand(console))
    .addCommand(holdOutCommand(console))
}

const generateOptions = z.object({
  count: option('<count>', 'number of tasks', wholeNumber(1).default(1_000)),
  difficulty: option('<low..high>', 'difficulty, from 0 to 1', difficultySchema.default([0, 1]), { text: range }),
  seed: option('<seed>', 'seed of the generator; the same seed repeats the tasks', nonEmpty.default('0')),
  out: option('<file>', 'file to write', z.string()),
})

const generateCommand = defineCommand('generate', generateOptions, {
  description: 'generate tasks of a world, as JSONL',
  argument: ['<world>', 'name, path or package of the world'],
  async run(reference: string, options, console) {
    const { tasks, environment } = await loadWorld(reference)
    if (!tasks)
      throw new HarnessError(
        'world-invalid',
        `${environment.name} exports no "tasks" made by defineTasks. Add them to the world to generate a dataset.`,
      )
    makeFolder(dirname(options.out))
    const { count, sha256 } = await writeTasks(options.out, generateTasks(tasks, options))
    console.out.write(`${options.out}  ${count} tasks  sha256 ${sha256}\n`)
  },
})

const world = option('<world>', 'world of the tasks, needed for rows of a prompt and params alone; repeatable', texts)

async function openDataset(file: string, references: readonly string[]) {
  const environments = (await Promise.all(references.map((name) => loadWorld(name)))).map((each) => each.environment)
  const [only = null, ...others] = environments
  return { environments, tasks: tasksInFile(file, others.length > 0 ? null : only) }
}

const validateOptions = z.object({ world, json: flag('print the problems as JSON lines') })

const validateCommand = defineCommand('validate', validateOptions, {
  description: 'validate every line of a dataset',
  argument: ['<file>', 'the dataset'],
  async run(file: string, options, console) {
    const { environments, tasks } = await openDataset(file, options.world)
    const given = environments.length > 0 ? { environments } : {}
    let problems = 0
    const found = (await holdsRows(file)) ? checkTasks(tasks, given) : checkLines(readLines(file), given)
    for await (const problem of found) {
      problems += 1
      say(console.out, options.json ? JSON.stringify(problem) : problem.message)
    }
    const { green, red } = colorsOf(console.err)
    const verdict = problems === 0 ? green(`${file} is valid.`) : red(`${file} has ${plural(problems, 'problem')}.`)
    console.err.write(`${verdict}\n`)
    if (problems > 0) process.exitCode = 1
  },
})

const statsOptions = z.object({ world, json: flag('print the counts as JSON') })

const statsCommand = defineCommand('stats', statsOptions, {
  description: 'count the tasks of a dataset',
  argument: ['<file>', 'the dataset'],
  async run(file: string, { world, json }, console) {
    const stats = await summarizeTasks((await openDataset(file, world)).tasks)
    console.out.write(json ? `${JSON.stringify(stats)}\n` : `${formatTable(flatten(stats))}\n`)
  },
})

const splitOption = option('<split>', 'only tasks of this split', splitSchema.optional())

const sampleOptions = z.object({
  world,
  count: option('<count>', 'number of tasks', wholeNumber(1).default(5)),
  seed: option('<seed>', 'seed of the draw; the same seed repeats it', nonEmpty.default('0')),
  difficulty: option('<low..high>', 'difficulty, from 0 to 1', difficultySchema.optional(), { text: range }),
  split: splitOption,
})

const sampleCommand = defineCommand('sample', sampleOptions, {
  description: 'print random tasks of a dataset',
  argument: ['<file>', 'the dataset'],
  async run(file: string, options, console) {
    const { tasks } = await openDataset(file, options.world)
    for (const task of await sampleTasks(tasks, options)) console.out.write(`${JSON.stringify(task)}\n`)
  },
})

const exportOptions = z.object({
  world: option('<world>', 'world of the tasks; repeatable', z.array(z.string())),
  format: option('<format>', 'whose rows', z.enum(['nemo-gym'])),
  split: splitOption,
  heldOut: flag('also tasks that are held out from training'),
  out: option('<file>', 'file to write', z.string()),
})

const exportCommand = defineCommand('export', exportOptions, {
  description: 'write the tasks as rows of a trainer that plays them',
  argument: ['<file>', 'the dataset'],
  async run(file: string, { world, split, heldOut, out }, console) {
    const { environments, tasks } = await openDataset(file, world)
    await using host = createHost({ environments })
    await using connection = await connect(inProcess(host))
    let rows = 0
    const exported = async function* () {
      for await (const task of tasks) {
        if (split !== undefined && task.split !== split) continue
        if (!heldOut && task.tags.includes(HELD_OUT))
          throw invalidOption(`${file} has tasks that are held out from training. Give another --split, or --held-out.`)
        const { name } = task.environment
        if (!environments.some((each) => each.name === name))
          throw invalidOption(`${file} has a task of ${name}. Give its world too, with --world.`)
        rows += 1
        yield task
      }
    }
    await writeWhole(out, nemoGymRows(exported(), connection))
    console.out.write(`${out}  ${plural(rows, 'row')}\n`)
  },
})

function flatten(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[path.join('  '), String(value)].map(cleanText)]
  return Object.entries(value).flatMap(([key, inner]) => flatten(inner, [...path, key]))
}
