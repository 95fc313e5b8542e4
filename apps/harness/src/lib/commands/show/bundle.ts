import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { MOST_COMPARED } from '@episodic/analysis/compare/compared-runs'
import { bundleRuns } from '@episodic/pages/server/bundle/bundle-runs'
import type { BundleOptions } from '@episodic/pages/server/bundle/shared-run'
import { type FoundRun, findRuns } from '@episodic/pages/server/folder/find-runs'
import { WITHHELD_PARTS, type WithheldPart } from '@episodic/report/view/withheld'
import { type Console, colorsOf, say, shownPath } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { texts, wholeNumber } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import { writeWhole } from '@episodic/run/base/own-files'
import { readQuery } from '@episodic/run/folder/matching-lines'
import { tornNotice } from '@episodic/run/folder/record/report-run'
import { assertNoSecrets } from '@episodic/run/folder/secret-check'
import { findMembers } from '@episodic/run/folder/set/set-folder'
import { loadViewer } from '@episodic/viewer'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { createStatesSource } from '../../states/episode-states.ts'
import { defineCommand } from '../define-command.ts'
import { contentsOf, formatContents } from './describe-bundle.ts'

const MOST_BYTES = 10_485_760

const bundleOptions = z.object({
  out: option('<path>', 'file to write, whose name ends in .html', z.string()),
  query: option('<query>', 'only episodes that match, as in the list of episodes'),
  states: option('<states>', 'states of whole episodes, by replay', z.enum(['none', 'public', 'all']).default('none')),
  world: option('<world>', 'name or path of a world to replay with; may be repeated', texts),
  withhold: option(
    '<parts>',
    'parts to leave out, with commas: seeds,params,prompts,private',
    z.array(z.enum(WITHHELD_PARTS)).default([]),
    { text: { read: withheldParts } },
  ),
  compare: flag('also compare the runs of each world, the first one as the baseline'),
  bytes: option('<count>', 'most bytes of whole episodes, before compression', wholeNumber(0).default(MOST_BYTES)),
  allowSecrets: flag('write texts that look like keys'),
  json: flag('print what the file holds as JSON'),
})
type BundleCommandOptions = z.infer<typeof bundleOptions>

export const command = defineCommand('bundle', bundleOptions, {
  argument: ['<runs...>', 'folders of runs or of sets of runs'],
  help: `
A file has the pages of episodic view, and opens in a browser without a server
and without any request. The command says what the file holds before it is
written. Runs that are too large for a file are served with episodic view.

Withheld are, with
  seeds    the seeds of the run, its tasks, policies and branches
  params   the parameters of tasks
  prompts  prompts of tasks, and what language models were sent
  private  private states, hashes of states, and raw data from outside
What players saw, said and did stays. Who has the world can compute private
states from seeds and parameters: share held-out tasks with
  --withhold seeds,params,private

Texts that look like keys stop it. Hashes (chain, seal) stay as the names of
episodes; those of lines from which something was withheld no longer match.

Examples:
  episodic bundle runs/my-run --out my-run.html
  episodic bundle runs/june --compare --out june.html
  episodic bundle runs/my-run --query success:no --states public --out lost.html`,
  run: bundle,
})

async function bundle(folders: readonly string[], options: BundleCommandOptions, console: Console): Promise<void> {
  const { query, withhold, world: worlds } = options
  checkOptions(options)
  // Private ones are withheld by either option.
  const states = options.states === 'all' && withhold.includes('private') ? 'public' : options.states
  const { err } = console
  const runs = await runsIn(folders, (problem) => say(err, problem))
  const bundled: BundleOptions = {
    runs,
    query,
    states,
    source: createStatesSource(worlds),
    withhold,
    compared: options.compare ? groupsOf(runs) : [],
    mostCharacters: options.bytes,
    onTorn: ({ folder }, line) => say(err, `${shownPath(folder)}: ${tornNotice(line)}`),
    onProblem: (problem) => say(err, problem),
  }
  const content = await bundleRuns(bundled)
  if (!options.allowSecrets) assertNoSecrets(content)
  const { filePage } = await loadViewer()
  const page = filePage(content)
  const contents = contentsOf(content, bundled, Buffer.byteLength(page))
  if (!options.json) err.write(`${shownPath(resolve(options.out))} is to hold:\n${formatContents(contents)}`)
  const file = await writeWhole(resolve(options.out), page)
  const said = options.json ? JSON.stringify({ file, ...contents }) : colorsOf(console.out).bold(shownPath(file))
  console.out.write(`${said}\n`)
}

function withheldParts(text: string): WithheldPart[] {
  const parts = text.split(',').map((part) => part.trim())
  const isPart = (part: string): part is WithheldPart => WITHHELD_PARTS.some((known) => known === part)
  const unknown = parts.find((part) => !isPart(part))
  if (unknown !== undefined)
    throw new InvalidArgumentError(`There is no part "${unknown}": give some of ${WITHHELD_PARTS.join(',')}.`)
  return WITHHELD_PARTS.filter((part) => parts.includes(part))
}

/** Rejects with `option-invalid` for options that cannot be used, before anything is read. */
function checkOptions({ out, query, compare }: BundleCommandOptions): void {
  if (!out.endsWith('.html'))
    throw invalidOption(
      `--out ${out} does not end in .html: a bundle is one file. Give such a name; runs that are too large for a file are served with episodic view.`,
    )
  if (query === undefined) return
  readQuery(query)
  if (compare)
    throw invalidOption(
      'A comparison is over all episodes, not over those that match a query: leave --query or --compare out.',
    )
}

/**
 * Finds the runs in folders, each once; those of a set in its order. Rejects with `run-invalid` if a folder has none.
 */
async function runsIn(folders: readonly string[], onProblem: (problem: string) => void): Promise<FoundRun[]> {
  const found = new Map<string, FoundRun>()
  for (const folder of folders) {
    if (!existsSync(folder)) throw new HarnessError('run-invalid', `There is no folder ${folder}.`)
    const { runs, problems } = await findRuns(folder)
    const order =
      (await findMembers(folder))?.flatMap(({ members }) => members.map(({ folder }) => folder)).filter(existsSync) ??
      []
    const places = order.map((path) => realpathSync(path))
    for (const problem of problems) onProblem(problem)
    if (runs.length === 0)
      throw new HarnessError('run-invalid', [`There is no run in ${shownPath(resolve(folder))}.`, ...problems])
    const sorted = runs.toSorted((a, b) => places.indexOf(a.folder) - places.indexOf(b.folder))
    for (const run of sorted) if (!found.has(run.id)) found.set(run.id, run)
  }
  return [...found.values()]
}

/** The runs of each world, by their ids. Throws `option-invalid` if there are not two of one world, or too many. */
function groupsOf(runs: readonly FoundRun[]): string[][] {
  const groups = Map.groupBy(runs, ({ manifest: { configuration } }) => configuration.environment.name)
  const compared = [...groups.values()].filter(({ length }) => length > 1).map((group) => group.map(({ id }) => id))
  if (compared.length === 0) throw invalidOption('--compare needs two or more runs of one world.')
  if (compared.some(({ length }) => length > MOST_COMPARED))
    throw invalidOption(`--compare takes up to ${MOST_COMPARED} runs of one world.`)
  return compared
}
