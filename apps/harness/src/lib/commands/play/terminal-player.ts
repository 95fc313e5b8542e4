import { createInterface, type Interface } from 'node:readline/promises'
import type { Action, JsonObject, ToolInfo } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import { type Console, colorsOf, unfiltered } from '@episodic/run/base/console'
import { jsonOrText } from '@episodic/run/base/option-values'
import { formatInput } from './format-input.ts'

const PROMPT = '> '
const SHELL_PROMPT = '$ '

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
      output: unfiltered(console.out),
      prompt: PROMPT,
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
    const own = lineToolOf(tools)
    const prompt = shellOf(tools) ? SHELL_PROMPT : PROMPT
    this.#lines.setPrompt(prompt)
    if (!this.#left && text !== '') out.write(`${text}\n`)
    while (!this.#left) {
      // A pipe may have ended while lines are still to be played.
      if (this.#open) this.#lines.prompt()
      else out.write(prompt)
      const { value, done } = await this.#read.next()
      if (done) break
      const line = value.trim()
      // A terminal echoes what is typed. Echo piped input, so that the transcript is complete.
      if (!process.stdin.isTTY) out.write(`${line}\n`)
      const said = own ? withoutSlash(line, tools) : line
      if (said === 'quit' || said === 'exit') this[Symbol.dispose]()
      else if (said === 'help' || said === '?') out.write(`${helpOf(tools)}\n`)
      else if (line !== '') {
        if (own && said === null) return { tool: own.name, arguments: { [own.speech ?? 'command']: line } }
        const action = readAction(said as string, tools)
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

/** Returns the tool that is a shell, if there is one: its only argument is a text, the command. */
export function shellOf(tools: readonly ToolInfo[]): ToolInfo | undefined {
  return tools.find(({ inputSchema }) => {
    const properties = (inputSchema.properties ?? {}) as Record<string, { readonly type?: unknown }>
    return Object.keys(properties).length === 1 && properties.command?.type === 'string'
  })
}

/** Returns the tool that a line without a slash is, if there is one: a shell, or words where they are a move. */
function lineToolOf(tools: readonly ToolInfo[]): ToolInfo | undefined {
  return shellOf(tools) ?? tools.find(({ speech }) => speech !== undefined)
}

/** Returns what a line beside such a tool says to the terminal or to another tool; `null` if the line is one of it. */
function withoutSlash(line: string, tools: readonly ToolInfo[]): string | null {
  if (line === 'exit') return line
  const [, name] = /^\/(\w+)/.exec(line) ?? []
  // Another path, such as /usr/bin/env, is a command.
  const isKnown = name === 'help' || name === 'quit' || tools.some((tool) => tool.name === name)
  return isKnown ? line.slice(1) : null
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
  const value = rest === '' ? {} : jsonOrText(rest)
  if (rest.startsWith('{') && isObject(value)) return { tool: name, arguments: value }
  const properties = Object.entries((tool.inputSchema.properties ?? {}) as Record<string, { readonly type?: unknown }>)
  const names = properties.map(([name]) => name)
  const [only] = properties
  if (rest !== '' && only && properties.length === 1 && only[1].type === 'string' && !rest.startsWith(`${only[0]}=`))
    return { tool: name, arguments: { [only[0]]: typeof value === 'string' ? value : rest } }
  if (words.every((word) => word.indexOf('=') > 0)) return { tool: name, arguments: readArguments(words) }
  if (words.length > names.length) return `${name} takes ${formatInput(tool.inputSchema)}.`
  return { tool: name, arguments: Object.fromEntries(words.map((word, i) => [names[i] as string, jsonOrText(word)])) }
}

function readArguments(words: readonly string[]): JsonObject {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf('=')
      return [word.slice(0, at), jsonOrText(word.slice(at + 1))]
    }),
  )
}

export function helpOf(tools: readonly ToolInfo[]): string {
  const own = lineToolOf(tools)
  const slash = own ? '/' : ''
  return tools
    .filter((tool) => tool !== own)
    .map(({ name, description, inputSchema }) => `  ${slash}${name}  ${description}  (${formatInput(inputSchema)})`)
    .concat(own ? [`  any other line  ${own.description}`, '  /help, exit'] : ['  help, quit'])
    .join('\n')
}
