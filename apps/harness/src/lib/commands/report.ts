import { Command } from 'commander'
import type { Console } from '../base/console.ts'
import { wholeNumber } from '../base/option-values.ts'
import {
  foldRun,
  showSummary,
  tornNotice,
  type WriteReportOptions,
  writeReport,
} from '../run-folder/record/report-run.ts'
import { readManifest } from '../run-folder/record/run-folder.ts'

export function reportCommand(console: Console): Command {
  return new Command('report')
    .argument('<folder>', 'folder of the run')
    .option('--allow-conflicts', 'accept conflicting lines of the same episode')
    .option('--report-bytes <count>', 'most bytes of whole episodes in the page (default: 10485760)', wholeNumber(0))
    .option('--json', 'print the summary as JSON')
    .action(async (folder: string, options: WriteReportOptions & { readonly json?: true }) => {
      const onTorn = (line: number) => console.err.write(tornNotice(line))
      const fold = await foldRun(folder, await readManifest(folder), { onTorn })
      showSummary(folder, await writeReport(folder, fold, options), options, console)
    })
}
