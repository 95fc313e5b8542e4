import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { contentId } from '@episodic/protocol'
import { invalidOption } from '@episodic/run/base/harness-error'
import { importModule } from '@episodic/run/base/import-module'
import { makeFolder } from '@episodic/run/base/own-files'
import type { McpWorldRequest } from './mcp-options.ts'

/** The folder of the worlds that commands write, within the working folder. */
const FOLDER = '.episodic'

/**
 * Returns the worlds that a command was given: those that it names, or the one of the MCP server of its options, for
 * which a world file is written. So all that is done with worlds is done with it, and a run names a file that stays.
 *
 * Throws `option-invalid` for both, for neither unless `optional`, and for what the file cannot be made of.
 */
export async function findWorlds(
  worlds: readonly string[],
  request: McpWorldRequest,
  { optional = false }: { readonly optional?: boolean } = {},
): Promise<string[]> {
  const { mcp, mcpConfig, score, onlyTools } = request
  if (mcp === undefined && mcpConfig === undefined) {
    if (score !== undefined)
      throw invalidOption('--score judges the episodes of an MCP server: give --mcp or --mcp-config too.')
    if (onlyTools !== undefined)
      throw invalidOption('--only-tools (onlyTools) is of tools of an MCP server: give --mcp or --mcp-config too.')
    if (worlds.length === 0 && !optional)
      throw invalidOption('Nothing to play. Name a world, or give an MCP server with --mcp.')
    return [...worlds]
  }
  if (mcp !== undefined && mcpConfig !== undefined) throw invalidOption('Give either --mcp or --mcp-config.')
  if (worlds.length > 0) throw invalidOption(`Give either a world or an MCP server: ${worlds[0]} is a world.`)
  return [await writeWorld(request)]
}

async function writeWorld({ mcp, mcpConfig, server, score, onlyTools, tasks }: McpWorldRequest): Promise<string> {
  const folder = resolve(FOLDER)
  const from = (path: string) => JSON.stringify(`./${relative(folder, path).replaceAll('\\', '/')}`)
  const url = (path: string) => `new URL(${from(path)}, import.meta.url)`
  const judging = score === undefined ? null : await findScore(score)
  const playing =
    mcp !== undefined
      ? JSON.stringify(mcp)
      : `readMcpServer(${url(existing('--mcp-config', mcpConfig as string))}${server === undefined ? '' : `, ${JSON.stringify(server)}`})`
  const only = JSON.stringify(onlyTools?.split(',').map((name) => name.trim()))
  const text = [
    '// Made of the options of a command. Copy it to say more: see "Any MCP server" in the documentation.',
    `import { defineMcpEnvironment, readMcpServer, tasksFromFile } from ${JSON.stringify(import.meta.resolve('@episodic/mcp-worlds'))}`,
    ...(judging ? [`import ${judging.imported} from ${from(judging.file)}`] : []),
    `export const environment = await defineMcpEnvironment({ server: ${playing}${judging ? ', score' : ''}${only ? `, tools: { only: ${only} }` : ''} })`,
    ...(tasks === undefined
      ? []
      : [`export const tasks = tasksFromFile(environment, ${url(existing('--tasks', tasks))})`]),
  ].join('\n')
  const file = join(folder, `mcp-${contentId(text).slice(0, 8)}.mjs`)
  makeFolder(dirname(file))
  await writeFile(join(folder, '.gitignore'), '*\n')
  if (!existsSync(file) || (await readFile(file, 'utf8')) !== `${text}\n`) await writeFile(file, `${text}\n`)
  return relative(process.cwd(), file)
}

async function findScore(path: string): Promise<{ readonly file: string; readonly imported: string }> {
  const file = existing('--score', path)
  const module = await importModule(file, 'option-invalid', `--score ${path}`)
  if (typeof module.score === 'function') return { file, imported: '{ score }' }
  if (typeof module.default === 'function') return { file, imported: 'score' }
  throw invalidOption(`--score ${path} exports no function "score". Write \`export const score = async ({ … }) => …\`.`)
}

/** Returns how many tasks a file has: its lines, without empty ones. */
export async function countRows(file: string): Promise<number> {
  const text = await readFile(file, 'utf8')
  return text.split('\n').filter((line) => line.trim() !== '').length
}

function existing(option: string, path: string): string {
  const file = resolve(path)
  if (existsSync(file)) return file
  throw invalidOption(`${option} ${path}: there is no such file.`)
}
