import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type CommandTarget, type HttpTarget, parseMcpServers } from '@episodic/env'
import { ServerError } from '@episodic/mcp-server'

/** An MCP server: a command line, the URL of one over HTTP, or an entry of an `mcpServers` file. */
export type McpServer = string | CommandTarget | HttpTarget

export const FOLDER = '{folder}'

/**
 * Returns the target of a server. A command line is split as a shell splits it, at spaces outside of quotes, and
 * nothing in it is expanded; assignments before the command, as in `DEBUG=1 npx my-server`, are its variables.
 *
 * Throws `option-invalid` for a line without a command, and for a quote that does not end.
 */
export function targetOf(server: McpServer): CommandTarget | HttpTarget {
  if (typeof server !== 'string') return server
  if (/^https?:\/\//.test(server)) return { url: server }
  const words = wordsOf(server)
  const isCommand = (word: string) => !ASSIGNMENT.test(word)
  const at = words.findIndex(isCommand)
  const command = words[at]
  if (command === undefined)
    throw new ServerError('option-invalid', `${JSON.stringify(server)} has no command to start. Write one, or a URL.`)
  const env = Object.fromEntries(
    words.slice(0, at).map((word) => {
      const [, name, value] = ASSIGNMENT.exec(word) as unknown as [string, string, string]
      return [name, value]
    }),
  )
  return { command, args: words.slice(at + 1), ...(at > 0 && { env }) }
}

/**
 * Returns a server of an `mcpServers` file, as Claude, Cursor and Visual Studio Code keep it: comments, trailing commas
 * and what other programs write into it are understood. `${NAME}` stands for a variable of the environment.
 *
 * Throws `config-invalid` (an `EnvError`), and `option-invalid` for a server that the file does not have.
 *
 * @param name - default: the only one.
 */
export function readMcpServer(file: string | URL, name?: string): McpServer {
  const path = typeof file === 'string' ? file : fileURLToPath(file)
  let names: readonly string[] = []
  const [server] = parseMcpServers(readFileSync(path, 'utf8'), process.env, (all) => {
    names = all
    return name ?? (all.length === 1 ? all[0] : '')
  }).values()
  if (server) return server
  const problem = name === undefined ? 'has several servers, and none was chosen' : `has no server "${name}"`
  throw new ServerError('option-invalid', `${path} ${problem}. It has: ${names.join(', ') || 'none'}.`)
}

const ASSIGNMENT = /^([A-Za-z_]\w*)=([\s\S]*)$/

function wordsOf(line: string): string[] {
  const words: string[] = []
  let word: string | null = null
  for (const [, space, single, double, escaped, plain] of line.matchAll(WORD)) {
    if (space !== undefined) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + (single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? plain ?? '')
  }
  if (word !== null) words.push(word)
  if (/^(?:[^'"\\]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")*$/.test(line)) return words
  throw new ServerError('option-invalid', `A quote of ${JSON.stringify(line)} does not end.`)
}

const WORD = /(\s+)|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)/g

/** Programs that run another one, which is the server. */
const RUNNERS: ReadonlySet<string> = new Set(['npx', 'uvx', 'bunx', 'pnpx', 'node', 'python', 'python3', 'deno', 'sh'])

/** Returns a name for the environment of a server: that of its program or package, or of its host. */
export function toName(target: CommandTarget | HttpTarget): string {
  if ('url' in target) return hyphenated(new URL(target.url).hostname)
  const { command, args = [] } = target
  const runner = partsOf(command).at(-1) ?? command
  const program = RUNNERS.has(runner) ? args.find((word) => /^[^-]/.test(word)) : undefined
  const parts = partsOf(program ?? command)
  // What is named after its place in a package has the name of the package.
  return hyphenated(parts.findLast((part) => !PLACES.has(part)) ?? command)
}

const PLACES: ReadonlySet<string> = new Set(['index', 'main', 'server', 'cli', 'dist', 'build', 'src', 'bin', 'lib'])

/** Returns the parts of the path of a program, or of the name of a package, without extensions and versions. */
function partsOf(program: string): string[] {
  const parts = program.split(/[/\\]/).map((part) => part.replace(/(?!^)@.*$/, '').replace(/\.(?:[cm]?[jt]s|py)$/, ''))
  return parts.filter((part) => part !== '')
}

function hyphenated(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/[^a-z\d]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
  return name === '' ? 'mcp-server' : name
}
