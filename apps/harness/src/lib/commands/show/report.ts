import { Command } from 'commander'
import { z } from 'zod'
import type { Console } from '../../base/console.ts'
import { wholeNumber } from '../../base/option-values.ts'
import { addOptions, flag, option } from '../../base/options.ts'
import { foldRun, showSummary, tornNotice, writeReport } from '../../run-folder/record/report-run.ts'
import { readManifest } from '../../run-folder/record/run-folder.ts'

const reportOptions = z.object({
  allowConflicts: flag('accept conflicting lines of the same episode'),
  reportBytes: option(
    '<count>',
    'most bytes of whole episodes in the page (default: 10485760)',
    wholeNumber(0).optional(),
  ),
  json: flag('print the summary as JSON'),
})

export function reportCommand(console: Console): Command {
  return addOptions(new Command('report'), reportOptions)
    .argument('<folder>', 'folder of the run')
    .action(async (folder: string, options: z.infer<typeof reportOptions>) => {
      const onTorn = (line: number) => console.err.write(tornNotice(line))
      const fold = await foldRun(folder, await readManifest(folder), { onTorn })
      showSummary(folder, await writeReport(folder, fold, options), options, console)
    })
}
