import { createInterface } from 'node:readline/promises'
import { type Environment, withShaping } from '@episodic/env'
import type { Action, Step, ToolInfo } from '@episodic/protocol'
import { Command } from 'commander'
import { type Console, colorsOf } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { nonEmpty } from '../option-values.ts'
import { noteGuarantees } from '../report/page/notes.ts'
import { openTarget, openWorld } from '../run/play/open-environment.ts'
import { addTargetOptions, PLAYED_SERVERS, type TargetOptions, targetOf } from '../target-options.ts'
import { loadWorld } from '../world.ts'
import { readArguments, readValue } from './call.ts'
import { describeInput } from './tools.ts'

interface PlayOptions extends TargetOptions {
  readonly seed?: string
  readonly params?: string
  readonly environment?: string
}

export function playCommand(console: Console): Command {
  const command = new Command('play')
    .description('play a world yourself, in the terminal')
    .argument('[world]', 'name, path or package of the world (default: the server of --url)')
    .option('--seed <seed>', 'seed of the episode; the same seed repeats it', nonEmpty)
    .option('--params <json>', 'parameters of the world, as a JSON object')
    .option('--environment <name>', 'environment of the server to play (default: the first)')
    .addHelpText(
      'after',
      `
Examples:
  episodic play number-guessing
  episodic play number-guessing --seed 7 --params '{"high":1000}'
  episodic play --url http://127.0.0.1:7337/env
  episodic play --url openenv:http://127.0.0.1:8000`,
    )
  return addTargetOptions(command, PLAYED_SERVERS).action((world: string | undefined, options: PlayOptions) =>
    play(world, options, console),
  )
}

async function play(reference: string | undefined, options: PlayOptions, console: Console): Promise<void> {
  const target = targetOf(options, PLAYED_SERVERS)
  if (!target && reference === undefined)
    throw new HarnessError('option-invalid', 'Nothing to play. Give a world, or a server with --url.')
  await using opened = target
    ? await openTarget(target)
    : await openWorld(reference as string, await loadWorld(reference as string), {
        transport: 'in-process',
        sessions: 1,
      })
  const bare = opened.connection.environment(options.environment)
  await using environment = bare.info.potential ? withShaping(bare) : bare
  const params = options.params === undefined ? {} : readValue(options.params)
  if (typeof params !== 'object' || params === null || Array.isArray(params))
    throw new HarnessError('option-invalid', `--params ${options.params} is not a JSON object.`)
  const { observation, info } = await environment.reset(
    { params: params as Record<string, never> },
    { seed: options.seed },
  )
  const { bold, dim } = colorsOf(console.out)
  const { guarantees } = opened.connection
  const seed = guarantees.seed === 'ignored' ? 'no seed' : `seed ${info.seed}`
  console.out.write(`${bold(environment.info.name)} ${dim(`${environment.info.version}, ${seed}`)}\n`)
  if (guarantees.system !== 'episodic')
    for (const note of noteGuarantees({ guarantees })) console.out.write(`${dim(note)}\n`)
  console.out.write(`${environment.info.description}\n\n${helpOf(environment.info.tools)}\n\n${observation.text}\n`)
  await playInTerminal(environment, console)
}

async function playInTerminal(environment: Environment, console: Console): Promise<void> {
  const { dim, red, green, bold } = colorsOf(console.out)
  const { tools } = environment.info
  const lines = createInterface({
    input: process.stdin,
    output: console.out,
    prompt: '> ',
    terminal: console.out.isTTY === true,
  })
  let open = true
  lines.once('close', () => {
    open = false
  })
  let earned = 0
  lines.prompt()
  for await (const line of lines) {
    const text = line.trim()
    // A terminal echoes what is typed. Echo piped input, so that the transcript is complete.
    if (!process.stdin.isTTY) console.out.write(`${text}\n`)
    if (text === 'quit' || text === 'exit') break
    if (text === 'help' || text === '?') console.out.write(`${helpOf(tools)}\n`)
    else if (text !== '') {
      const action = readAction(text, tools)
      if (typeof action === 'string') console.out.write(`${red(action)}\n`)
      else {
        const step = await environment.step(action)
        earned += step.reward.total
        console.out.write(
          `${step.info.refused ? red(step.observation.text) : step.observation.text}\n${dim(rewardOf(step))}\n`,
        )
        if (step.end) {
          const how = `${step.end.kind}: ${step.end.reason}`
          console.out.write(`${bold(step.end.kind === 'terminated' ? green(how) : how)}  return ${earned.toFixed(3)}\n`)
          break
        }
      }
    }
    // A pipe may have ended while lines are still to be played.
    if (open) lines.prompt()
  }
  lines.close()
}

/**
 * Reads `tool value`, `tool name=value …`, `tool {json}`, or `tool` and a sentence if its only argument is a text. Returns a
 * message if the line is malformed.
 */
export function readAction(text: string, tools: readonly ToolInfo[]): Action | string {
  const [name = '', ...words] = text.split(/\s+/)
  const tool = tools.find((other) => other.name === name)
  if (!tool) return `There is no tool "${name}". ${tools.map((other) => other.name).join(', ')}, help, quit.`
  const rest = text.slice(name.length).trim()
  const value = rest === '' ? {} : readValue(rest)
  if (rest.startsWith('{') && typeof value === 'object' && value !== null && !Array.isArray(value))
    return { tool: name, arguments: value as Action['arguments'] }
  const properties = Object.entries((tool.inputSchema.properties ?? {}) as Record<string, { readonly type?: unknown }>)
  const names = properties.map(([name]) => name)
  const [only] = properties
  if (rest !== '' && only && properties.length === 1 && only[1].type === 'string' && !rest.startsWith(`${only[0]}=`))
    return { tool: name, arguments: { [only[0]]: typeof value === 'string' ? value : rest } }
  if (words.every((word) => word.includes('='))) return { tool: name, arguments: readArguments(words) }
  if (words.length > names.length) return `${name} takes ${describeInput(tool.inputSchema)}.`
  return { tool: name, arguments: Object.fromEntries(words.map((word, i) => [names[i] as string, readValue(word)])) }
}

function helpOf(tools: readonly ToolInfo[]): string {
  return tools
    .map(({ name, description, inputSchema }) => `  ${name}  ${description}  (${describeInput(inputSchema)})`)
    .concat('  help, quit')
    .join('\n')
}

function rewardOf({ reward }: Step): string {
  if (Object.keys(reward.terms).length === 0) return 'no reward'
  const terms = Object.entries(reward.terms).map(([name, value]) => `${name} ${value.toFixed(3)}`)
  return `reward ${reward.total.toFixed(3)}  (${[...terms, ...(reward.shaping === 0 ? [] : [`shaping ${reward.shaping.toFixed(3)}`])].join(', ')})`
}
