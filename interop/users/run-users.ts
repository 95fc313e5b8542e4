import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findUserFault, type UserFaultKind } from '@episodic/play/play/users/rules/user-fault'
import { userSheetSchema } from '@episodic/play/play/users/user-sheet'
import type { Grader } from '@episodic/report/grades/grader'
import { getSuiteData } from '../benchmarks/suite-data.ts'
import { readOptions } from '../options.ts'
import type { Report } from '../report.ts'
import { gradeTurns } from './grade-turns.ts'
import { type LabelledTurn, makeUserTurns } from './user-turns.ts'
import { usersOfTasks } from './users-of-tasks.ts'

const FILE = fileURLToPath(
  new URL('../../packages/play/src/lib/play/users/rules/user-turns.fixture.jsonl', import.meta.url),
)

const USAGE = `Usage: pnpm interop users [--write] [--grader <file>] [--json]

Makes 1,300 turns of simulated users from tasks of τ² and of three worlds, of which 300 have a fault of one of eight kinds, compares them with
those in the repository, and counts what rules find. Gets the data of τ² if it is not there.

  --write     put them into the repository
  --grader    a module whose default is a grader of yes (no fault) and no: its agreement with the labels, apart from that of the rules
  --json      print nothing but the line of JSON that ends every run`

export async function runUsers(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, { write: { type: 'boolean' }, grader: { type: 'string' } })
  if (!options) return null
  const { write, grader, say } = options
  getSuiteData('tau2')
  const turns = makeUserTurns(await usersOfTasks())
  const text = turns.map((turn) => `${JSON.stringify(turn)}\n`).join('')
  if (write) writeFileSync(FILE, text)
  const isSame = readFileSync(FILE, 'utf8') === text
  if (!isSame) say('The turns in the repository are others.')
  const found = turns.map((turn) => ({ turn, fault: faultOf(turn) }))
  const faulty = found.filter(({ turn }) => turn.kind !== null)
  for (const [kind, own] of Map.groupBy(faulty, ({ turn }) => turn.kind as UserFaultKind))
    say(
      `${kind}: ${own.filter(({ fault }) => fault).length} of ${own.length} found, ${own.filter(({ fault }) => fault === kind).length} by that name`,
    )
  const missed = faulty.filter(({ fault }) => !fault)
  const wrong = found.filter(({ turn, fault }) => turn.kind === null && fault)
  for (const { turn } of missed) say(`  missed ${turn.kind}: ${turn.turn}`)
  for (const { turn, fault } of wrong) say(`  ${fault} in a clean turn: ${turn.turn}`)
  const clean = turns.length - faulty.length
  say(
    `rules: ${faulty.length - missed.length} of ${faulty.length} faulty turns found, ${wrong.length} of ${clean} clean ones held to be faulty`,
  )
  const judged = grader === undefined ? {} : { judge: await gradeTurns(turns, await graderIn(grader), say) }
  const [recalled, cleared] = [missed.length <= 0.05 * faulty.length, wrong.length <= 0.01 * clean]
  const passed = [isSame, recalled, cleared].filter(Boolean).length
  return {
    clients: { rules: { passed, failed: 3 - passed } },
    details: { missed: missed.length, wrong: wrong.length, ...judged },
  }
}

function faultOf({ sheet, prompt, said, done, turn }: LabelledTurn): UserFaultKind | null {
  return findUserFault(userSheetSchema.parse(sheet), { prompt, said, done: new Set(done) }, turn)?.kind ?? null
}

async function graderIn(file: string): Promise<Grader> {
  return ((await import(pathToFileURL(resolve(file)).href)) as { readonly default: Grader }).default
}
