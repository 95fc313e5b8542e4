import { Command } from 'commander'
import type { Console } from '../console.ts'
import { foldRun, tornNotice, type WriteReportOptions, writeReport } from '../run/report-run.ts'
import { readManifest } from '../run/run-folder.ts'

export function reportCommand(console: Console): Command {
  return new Command('report')
    .description('fold the sealed episodes of a run into its summary and report anew')
    .argument('<folder>', 'folder of the run')
    .option('--allow-conflicts', 'choose between lines that say different things of one episode, and go on')
    .option('--json', 'print the summary as JSON')
    .action(async (folder: string, options: WriteReportOptions) => {
      const onTorn = (line: number) => console.err.write(tornNotice(line))
      await writeReport(folder, await foldRun(folder, await readManifest(folder), { onTorn }), options, console)
    })
}
