import { checkLines, generateTasks, type Rows, sampleTasks, summarizeTasks } from '@episodic/dataset'
import { readLines, readTasks, writeTasks } from '@episodic/dataset/jsonl'
import { connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import type { Split, Task } from '@episodic/protocol'
import { plural } from '@episodic/report'
import { Command, Option } from 'commander'
import { type Console, colorsOf, formatTable } from '../base/console.ts'
import { HarnessError } from '../base/harness-error.ts'
import { collect, nonEmpty, range, WHOLE_RANGE, wholeNumber } from '../base/option-values.ts'
import { writeWhole } from '../export/export-run.ts'
import { nemoGymRows } from '../export/nemo-gym.ts'
import { loadWorld } from '../worlds/world.ts'

export function datasetCommand(console: Console): Command {
  return new Command('dataset')
    .addCommand(generateCommand(console))
    .addCommand(validateCommand(console))
    .addCommand(statsCommand(console))
    .addCommand(sampleCommand(console))
    .addCommand(exportCommand(console))
}

function generateCommand(console: Console): Command {
  return new Command('generate')
    .description('generate tasks of a world, as JSONL')
    .argument('<world>', 'name, path or package of the world')
    .option('--count <count>', 'number of tasks', wholeNumber(1), 1_000)
    .addOption(
      new Option('--difficulty <low..high>', 'difficulty, from 0 to 1').argParser(range).default(WHOLE_RANGE, '0..1'),
    )
    .option('--seed <seed>', 'seed of the generator; the same seed repeats the tasks', nonEmpty, '0')
    .requiredOption('--out <file>', 'file to write')
    .action(
      async (
        reference: string,
        options: { count: number; difficulty: [number, number]; seed: string; out: string },
      ) => {
        const { tasks, environment } = await loadWorld(reference)
        if (!tasks)
          throw new HarnessError(
            'world-invalid',
            `${environment.name} exports no "tasks" made by defineTasks. Add them to the world to generate a dataset.`,
          )
        const { count, sha256 } = await writeTasks(options.out, generateTasks(tasks, options))
        console.out.write(`${options.out}  ${count} tasks  sha256 ${sha256}\n`)
      },
    )
}

function validateCommand(console: Console): Command {
  return new Command('validate')
    .description('validate every line of a dataset')
    .argument('<file>', 'the dataset')
    .option('--world <world>', 'validate parameters and version against this world; repeatable', collect, [])
    .option('--json', 'print the problems as JSON lines')
    .action(async (file: string, options: { world: string[]; json?: true }) => {
      const worlds = await Promise.all(options.world.map((reference) => loadWorld(reference)))
      let problems = 0
      for await (const problem of checkLines(readLines(file), {
        environments: worlds.length > 0 ? worlds.map(({ environment }) => environment) : undefined,
      })) {
        problems += 1
        console.out.write(`${options.json ? JSON.stringify(problem) : problem.message}\n`)
      }
      const { green, red } = colorsOf(console.err)
      console.err.write(
        problems === 0
          ? green(`${file} is valid.\n`)
          : red(`${file} has ${problems} ${problems === 1 ? 'problem' : 'problems'}.\n`),
      )
      if (problems > 0) process.exitCode = 1
    })
}

function statsCommand(console: Console): Command {
  return new Command('stats')
    .description('count the tasks of a dataset')
    .argument('<file>', 'the dataset')
    .option('--json', 'print the counts as JSON')
    .action(async (file: string, { json }: { json?: true }) => {
      const stats = await summarizeTasks(readTasks(file))
      console.out.write(json ? `${JSON.stringify(stats)}\n` : `${formatTable(flatten(stats))}\n`)
    })
}

function sampleCommand(console: Console): Command {
  return new Command('sample')
    .description('print random tasks of a dataset')
    .argument('<file>', 'the dataset')
    .option('--count <count>', 'number of tasks', wholeNumber(1), 5)
    .option('--seed <seed>', 'seed of the draw; the same seed repeats it', nonEmpty, '0')
    .option('--difficulty <low..high>', 'difficulty, from 0 to 1', range)
    .addOption(new Option('--split <split>', 'only tasks of this split').choices(['train', 'validation', 'test']))
    .action(
      async (file: string, options: { count: number; seed: string; difficulty?: [number, number]; split?: Split }) => {
        const rows: Rows<Task> = readTasks(file)
        for (const task of await sampleTasks(rows, options)) console.out.write(`${JSON.stringify(task)}\n`)
      },
    )
}

function exportCommand(console: Console): Command {
  return new Command('export')
    .description('write the tasks as rows of a trainer that plays them')
    .argument('<file>', 'the dataset')
    .requiredOption('--world <world>', 'world of the tasks; repeatable', collect)
    .addOption(new Option('--format <format>', 'whose rows').choices(['nemo-gym']).makeOptionMandatory())
    .addOption(new Option('--split <split>', 'only tasks of this split').choices(['train', 'validation', 'test']))
    .requiredOption('--out <file>', 'file to write')
    .action(async (file: string, { world, split, out }: { world: string[]; split?: Split; out: string }) => {
      const environments = (await Promise.all(world.map((name) => loadWorld(name)))).map((each) => each.environment)
      await using host = createHost({ environments })
      await using connection = await connect(inProcess(host))
      let rows = 0
      const tasks = async function* () {
        for await (const task of readTasks(file)) {
          if (split !== undefined && task.split !== split) continue
          const { name } = task.environment
          if (!environments.some((each) => each.name === name))
            throw new HarnessError('option-invalid', `${file} has a task of ${name}. Give its world too, with --world.`)
          rows += 1
          yield task
        }
      }
      await writeWhole(out, nemoGymRows(tasks(), connection))
      console.out.write(`${out}  ${plural(rows, 'row')}\n`)
    })
}

/** Flattens nested counts into rows of a table. */
function flatten(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[path.join('  '), String(value)]]
  return Object.entries(value).flatMap(([key, inner]) => flatten(inner, [...path, key]))
}
