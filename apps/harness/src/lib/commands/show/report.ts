import { z } from 'zod'
import { say } from '../../base/console.ts'
import { wholeNumber } from '../../base/option-values.ts'
import { flag, option } from '../../base/options.ts'
import { foldRun, showSummary, tornNotice, writeReport } from '../../run-folder/record/report-run.ts'
import { readManifest } from '../../run-folder/record/run-folder.ts'
import { defineCommand } from '../define-command.ts'

const reportOptions = z.object({
  allowConflicts: flag('accept conflicting lines of the same episode'),
  reportBytes: option(
    '<count>',
    'most bytes of whole episodes in the page (default: 10485760)',
    wholeNumber(0).optional(),
  ),
  json: flag('print the summary as JSON'),
})

export const command = defineCommand('report', reportOptions, {
  argument: ['<folder>', 'folder of the run'],
  async run(folder: string, options, console) {
    const onTorn = (line: number) => say(console.err, tornNotice(line))
    const fold = await foldRun(folder, await readManifest(folder), { onTorn })
    showSummary(folder, await writeReport(folder, fold, options), options, console)
  },
})
