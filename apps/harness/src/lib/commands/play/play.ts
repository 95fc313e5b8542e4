import { generateTasks } from '@episodic/dataset'
import { openTarget, openWorld } from '@episodic/play/play/episodes/open-environment'
import { defaultTasks } from '@episodic/play/worlds/default-tasks'
import { type McpOptions, mcpOptions, withoutMcp } from '@episodic/play/worlds/mcp-options'
import { findWorlds } from '@episodic/play/worlds/mcp-world'
import { targetOf } from '@episodic/play/worlds/target'
import { PLAYED_SERVERS, targetOptions } from '@episodic/play/worlds/target-options'
import { loadWorld, type World } from '@episodic/play/worlds/world'
import type { EnvironmentInfo, JsonObject, Task } from '@episodic/protocol'
import { isObject, randomText } from '@episodic/protocol/internal'
import { noteGuarantees } from '@episodic/report/notes/run-notes'
import { type Console, colorsOf } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'
import { jsonOrText, named, nonEmpty } from '@episodic/run/base/option-values'
import { option } from '@episodic/run/base/options'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'
import { isPerson, playInTerminal } from './play-in-terminal.ts'
import { helpOf } from './terminal-player.ts'

const playOptions = z.object({
  seed: option('<seed>', 'seed of the episode; the same seed repeats it', nonEmpty.optional()),
  params: option('<json>', 'parameters of the world, as a JSON object'),
  task: option(
    '<number>',
    'task of the world to play, from 0: you are shown what your seat is asked',
    z.coerce.number().int().min(0).optional(),
  ),
  environment: option('<name>', 'environment of the server to play (default: the first)'),
  seat: option(
    '<seat=policy>',
    'of several seats: play this one by a policy, such as random, solver or llm:<model>; you play the others; repeatable',
    z.record(z.string(), z.string()).optional(),
    { text: named },
  ),
  ...mcpOptions.shape,
  ...targetOptions(PLAYED_SERVERS).shape,
})
type PlayOptions = z.infer<typeof playOptions>

export const command = defineCommand('play', playOptions, {
  argument: ['[world]', 'name, path or package of the world (default: the server of --url)'],
  help: `
Write a tool and its arguments: guess 50, guess value=50 or guess {"value":50}.
If a tool takes a command alone, it is a shell: a line is a command, and other
tools begin with a slash: /submit. help, quit; in a shell /help, exit. Where
words are a move, a line is what you say, and tools begin with a slash too.

Examples:
  episodic play number-guessing
  episodic play number-guessing --seed 7 --params '{"high":1000}'
  episodic play kuhn-poker --seat second=solver
  episodic play phone-support --task 3 --seat agent=llm:qwen3-8b
  episodic play --url http://127.0.0.1:7337/env
  episodic play --url openenv:http://127.0.0.1:8000`,
  async run(named: string | undefined, options, console) {
    const [world] = await findWorlds(named === undefined ? [] : [named], options, { optional: true })
    return play(world, withoutMcp(options), console)
  },
})

async function play(
  reference: string | undefined,
  options: Omit<PlayOptions, keyof McpOptions>,
  console: Console,
): Promise<void> {
  const target = targetOf(options, PLAYED_SERVERS)
  if (!target && reference === undefined) throw invalidOption('Nothing to play. Give a world, or a server with --url.')
  const world = target ? null : await loadWorld(reference as string)
  await using opened = await (target
    ? openTarget(target)
    : openWorld(reference as string, world as World, {
        transport: 'in-process',
        sessions: 1,
        onProgress: (message) => console.out.write(`${colorsOf(console.out).dim(message)}\n`),
      }))
  const { connection } = opened
  const { environments, guarantees } = connection
  const task = options.task === undefined ? null : taskOf(world, options.task)
  const { seed = task?.seed ?? randomText(), seat: seats = {} } = options
  const info =
    environments.find(({ name }) => name === (options.environment ?? environments[0]?.name)) ??
    connection.environment(options.environment).info
  const own = info.seats?.filter(({ name }) => isPerson(seats[name])).flatMap(({ tools }) => tools)
  const tools = info.tools.filter(({ name }) => own?.includes(name) ?? true)
  const played = guarantees.seed === 'ignored' ? 'no seed' : `seed ${seed}`
  const notes = guarantees.system === 'episodic' ? [] : noteGuarantees({ guarantees })
  const asked = { task, params: readParams(options), seed, seats, world: world ?? NO_POLICIES }
  const introduction = introduce({ ...info, tools }, played, console, notes)
  await playInTerminal(connection, info, asked, introduction, console)
}

/** Throws `option-invalid` if the world has fewer tasks, or a server has it. */
function taskOf(world: World | null, number: number): Task {
  if (!world) throw invalidOption('--task is of a world that you name, and not of a server. Give --params and --seed.')
  const all = generateTasks(world.tasks ?? defaultTasks(world), { seed: '0', count: number + 1 })
  const { value } = all.drop(number).next()
  if (!value) throw invalidOption(`--task ${number}: ${world.environment.name} has fewer tasks.`)
  return value
}

const NO_POLICIES = { solver: null, policies: {} }

function readParams({ params: text }: PlayOptions): JsonObject {
  const params = text === undefined ? {} : jsonOrText(text)
  if (isObject(params)) return params
  throw invalidOption(`--params ${text} is not a JSON object.`)
}

function introduce(
  { name, version, description, tools }: EnvironmentInfo,
  seed: string,
  console: Console,
  notes: readonly string[],
): string {
  const { bold, dim } = colorsOf(console.out)
  const head = `${bold(name)} ${dim(`${version}, ${seed}`)}`
  return `${[head, ...notes.map(dim), description].join('\n')}\n\n${helpOf(tools)}\n\n`
}
