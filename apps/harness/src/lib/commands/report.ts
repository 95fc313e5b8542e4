import { Command } from 'commander'
import type { Console } from '../console.ts'
import { foldRun, tornNotice, writeReport } from '../run/report-run.ts'
import { readManifest } from '../run/run-folder.ts'

export function reportCommand(console: Console): Command {
  return new Command('report')
    .description('fold the sealed episodes of a run into its summary and report anew')
    .argument('<folder>', 'folder of the run')
    .option('--json', 'print the summary as JSON')
    .action(async (folder: string, { json }: { json?: true }) => {
      const onTorn = (line: number) => console.err.write(tornNotice(line))
      await writeReport(folder, await foldRun(folder, await readManifest(folder), { onTorn }), json === true, console)
    })
}
