import { createInterface, type Interface } from 'node:readline/promises'
import type { Action, ToolInfo } from '@episodic/protocol'
import { type Console, colorsOf } from '../base/console.ts'
import { readArguments, readValue } from './call.ts'
import { formatInput } from './tools.ts'

/** Reads the actions of a person from standard input. Disposing of it stops reading. */
export class TerminalPlayer implements Disposable {
  readonly #console: Console
  readonly #lines: Interface
  readonly #read: AsyncIterator<string>
  #open = true
  /** Whether nothing more is read, even if there are lines. */
  #left = false
  /** Questions are asked one after the other. */
  #asking: Promise<unknown> = Promise.resolve()

  constructor(console: Console) {
    this.#console = console
    this.#lines = createInterface({
      input: process.stdin,
      output: console.out,
      prompt: '> ',
      terminal: console.out.isTTY === true,
    })
    this.#lines.once('close', () => {
      this.#open = false
    })
    this.#read = this.#lines[Symbol.asyncIterator]()
  }

  /**
   * Asks for an action, after writing `text`, until a line is one. Resolves with `null` once the person quits or the
   * input ends.
   */
  ask(text: string, tools: readonly ToolInfo[]): Promise<Action | null> {
    const asked = this.#asking.then(() => this.#ask(text, tools))
    this.#asking = asked.catch(() => {})
    return asked
  }

  async #ask(text: string, tools: readonly ToolInfo[]): Promise<Action | null> {
    const { out } = this.#console
    const { red } = colorsOf(out)
    if (!this.#left) out.write(`${text}\n`)
    while (!this.#left) {
      // A pipe may have ended while lines are still to be played.
      if (this.#open) this.#lines.prompt()
      const { value, done } = await this.#read.next()
      if (done) break
      const line = value.trim()
      // A terminal echoes what is typed. Echo piped input, so that the transcript is complete.
      if (!process.stdin.isTTY) out.write(`${line}\n`)
      if (line === 'quit' || line === 'exit') this[Symbol.dispose]()
      else if (line === 'help' || line === '?') out.write(`${helpOf(tools)}\n`)
      else if (line !== '') {
        const action = readAction(line, tools)
        if (typeof action !== 'string') return action
        out.write(`${red(action)}\n`)
      }
    }
    return null
  }

  [Symbol.dispose](): void {
    this.#left = true
    this.#lines.close()
  }
}

/**
 * Reads `tool value`, `tool name=value …`, `tool {json}`, or `tool` and a sentence if its only argument is a text.
 * Returns a message if the line is malformed.
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
  if (words.length > names.length) return `${name} takes ${formatInput(tool.inputSchema)}.`
  return { tool: name, arguments: Object.fromEntries(words.map((word, i) => [names[i] as string, readValue(word)])) }
}

/** Returns the tools with their arguments, and the commands of the terminal. */
export function helpOf(tools: readonly ToolInfo[]): string {
  return tools
    .map(({ name, description, inputSchema }) => `  ${name}  ${description}  (${formatInput(inputSchema)})`)
    .concat('  help, quit')
    .join('\n')
}
