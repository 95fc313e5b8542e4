import { readOptions } from '../options.ts'
import { openPythonEnvironment } from '../python-environment.ts'
import type { Report, Tally } from '../report.ts'
import { WORLDS, type World } from '../worlds/world.ts'
import { findAllLeaks, formatCell, listCells, type PlayedCell, playCell } from './cells.ts'
import type { Client } from './client.ts'
import { PAGE_PACKAGES, playPage } from './play-page.ts'
import { PYTHON_CLIENTS, startPythonClient } from './python-client.ts'
import { sdkFirst } from './sdk-first.ts'
import { sdkSecond } from './sdk-second.ts'
import { serveWorlds } from './serve-worlds.ts'

const TYPESCRIPT_CLIENTS = [sdkFirst, sdkSecond]
const NAMES = [...TYPESCRIPT_CLIENTS, ...PYTHON_CLIENTS].map(({ name }) => name)

const USAGE = `Usage: pnpm interop clients [--only <client,…>] [--world <world,…>] [--json]

Plays the example worlds with MCP clients that others have written, in each protocol version that they
support, over HTTP and over stdio. The clients in Python get virtual environments of their own.

  --only   clients: ${NAMES.join(', ')}
  --world  worlds: ${WORLDS.map(({ name }) => name).join(', ')}
  --json   print nothing but the line of JSON that ends every run

The exit code is 0 if every cell of the matrix is played, 1 if one is not, and 2 if the command is not
understood or a client cannot be installed.`

/** Runs the matrix from the command line. */
export async function runClients(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, { only: { type: 'string' }, world: { type: 'string' } })
  if (!options) return null
  const names = choose('client', NAMES, options.only)
  const worldNames = choose(
    'world',
    WORLDS.map(({ name }) => name),
    options.world,
  )
  const clients: Client[] = TYPESCRIPT_CLIENTS.filter(({ name }) => names.includes(name))
  await using started = new AsyncDisposableStack()
  const pythons = new Map<string, string>()
  for (const client of PYTHON_CLIENTS.filter(({ name }) => names.includes(name))) {
    const { python, versionOf } = openPythonEnvironment(client.requirements, (text) => console.error(text))
    pythons.set(client.name, python)
    clients.push(started.use(startPythonClient(client, python, versionOf(client.package))))
  }
  const worlds = WORLDS.filter(({ name }) => worldNames.includes(name))
  const { say } = options
  const played: PlayedCell[] = []
  await using served = await serveWorlds(worlds)
  for (const cell of listCells(clients, worlds)) {
    const result = await playCell(cell, served)
    say(lineOf(result))
    played.push(result)
  }
  const guessing = worlds.find(({ name }) => name === 'number-guessing')
  const pages = new Map<string, readonly string[]>()
  for (const name of guessing ? PAGE_PACKAGES : []) {
    const python = pythons.get(name)
    if (!python) continue
    const problems = await playPage(name, python, guessing as World, served)
    pages.set(name, problems)
    say(`${problems.length === 0 ? '✓' : '✗'} docs/play/python.md with ${name}`)
  }
  const cells = await findAllLeaks(played, served)
  for (const cell of cells) if (cell.problem !== null) console.error(`\n${lineOf(cell)}\n${cell.problem}`)
  for (const problem of [...pages.values()].flat()) console.error(`\n${problem}`)
  const tallies: Record<string, Tally> = {}
  for (const client of clients) {
    const results = cells.filter((cell) => cell.client === client).map(({ problem }) => problem === null)
    const page = pages.get(client.name)
    if (page) results.push(page.length === 0)
    const failed = results.filter((passed) => !passed).length
    tallies[`${client.name} ${client.version}`] = { passed: results.length - failed, failed }
  }
  return { clients: tallies }
}

function choose(noun: string, all: readonly string[], asked: string | undefined): readonly string[] {
  if (asked === undefined) return all
  const names = asked.split(',')
  const unknown = names.filter((name) => !all.includes(name))
  if (unknown.length > 0) throw new Error(`There is no ${noun} ${unknown.join(', ')}. There is: ${all.join(', ')}.`)
  return names
}

function lineOf(cell: PlayedCell): string {
  return `${cell.problem === null ? '✓' : '✗'} ${formatCell(cell)}`
}
