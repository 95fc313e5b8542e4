import { once } from 'node:events'
import { formatQuery } from '@episodic/report/query/parse-query'
import { formatCount, plural } from '@episodic/report/text/format'
import { type Console, colorsOf, shownPath } from '@episodic/run/base/console'
import { flag, option } from '@episodic/run/base/options'
import { gradesFileOf, readGrades } from '@episodic/run/folder/grades-file'
import { matchingLines, readQuery } from '@episodic/run/folder/matching-lines'
import { findSealed, readRecorded } from '@episodic/run/folder/read-recorded'
import { tornNotice } from '@episodic/run/folder/record/report-run'
import { seatOf } from '@episodic/run/folder/seat-of'
import { episodeLines } from '@episodic/run/folder/text/episode-lines'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'
import { fieldTerm } from '../field-term.ts'

const MOST_SHOWN = 20

const showOptions = z.object({
  failed: flag('only episodes that failed, or finished without success'),
  task: option('<id>', 'only episodes of tasks whose id starts with this'),
  query: option('<query>', 'only episodes that match, as in the list of episodes'),
  json: flag('print the sealed lines of all of them, as JSONL'),
})
type ShowOptions = z.infer<typeof showOptions>

export const command = defineCommand('show', showOptions, {
  argument: ['<run>', 'folder of a run, or a file of sealed episodes'],
  help: `
Prints what episodic view shows of an episode: the task, what a player saw,
thought, said and called, and what each step earned. Of several tries the one
that counts is printed, and of ${MOST_SHOWN + 1} episodes or more the first ${MOST_SHOWN}.

Examples:
  episodic show runs/my-run --failed
  episodic show runs/my-run --task 3f2a
  episodic show runs/my-run --query 'term.cost<-0.2 steps>10'`,
  run: show,
})

async function show(run: string, options: ShowOptions, console: Console): Promise<void> {
  const { out, err } = console
  // An error shows the query as it was given.
  if (options.query !== undefined) readQuery(options.query)
  const { file, folder, manifest } = await findSealed(run)
  const grades = await readGrades(gradesFileOf(folder))
  const seat = manifest ? seatOf(manifest.configuration) : undefined
  const lines = await matchingLines({ file, grades, seat }, queryOf(options))
  const print = async (text: string) => void (out.write(`${text}\n`) || (await once(out, 'drain')))
  let shown = 0
  for await (const { record, line } of readRecorded(file, { onTorn: (torn) => void err.write(tornNotice(torn)) })) {
    if (!lines.has(line)) continue
    if (options.json) await print(JSON.stringify(record))
    else if (shown < MOST_SHOWN) for (const part of episodeLines(record, colorsOf(out))) await print(part)
    else break
    if (!options.json) await print('')
    shown += 1
  }
  if (lines.size === 0) err.write(`No episode in ${shownPath(run)} matches.\n`)
  else if (shown < lines.size)
    err.write(
      `${formatCount(shown)} of ${plural(lines.size, 'episode')} are shown. Choose others with --task, --failed or --query; --json prints all.\n`,
    )
}

function queryOf({ query = '', failed, task }: ShowOptions): string {
  const terms = [
    ...(failed ? [fieldTerm('success', 'yes', true)] : []),
    ...(task === undefined ? [] : [fieldTerm('task', task)]),
    fieldTerm('counts', 'yes'),
  ]
  return `${query} ${formatQuery(terms)}`
}
