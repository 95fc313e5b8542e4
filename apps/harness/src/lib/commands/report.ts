import { Command } from 'commander'
import type { Console } from '../console.ts'
import { foldRun, tornNotice, type WriteReportOptions, writeReport } from '../run/record/report-run.ts'
import { readManifest } from '../run/record/run-folder.ts'

export function reportCommand(console: Console): Command {
  return new Command('report')
    .description('write the summary and report of a run again, from its sealed episodes')
    .argument('<folder>', 'folder of the run')
    .option('--allow-conflicts', 'accept conflicting lines of the same episode')
    .option('--json', 'print the summary as JSON')
    .action(async (folder: string, options: WriteReportOptions) => {
      const onTorn = (line: number) => console.err.write(tornNotice(line))
      await writeReport(folder, await foldRun(folder, await readManifest(folder), { onTorn }), options, console)
    })
}
