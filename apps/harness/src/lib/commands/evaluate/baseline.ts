import { Command } from 'commander'
import { type Console, colorsOf, shownPath } from '../../base/console.ts'
import { writeBaseline } from '../../evaluate/gate/baseline.ts'
import { readEntries } from '../../evaluate/gate/gate-entry.ts'

export function command({ out }: Console): Command {
  return new Command('baseline')
    .argument('<name>', 'name of the baseline, such as main')
    .argument('<run>', 'folder of a run or of a set of runs')
    .addHelpText(
      'after',
      `
Writes baselines/<name>.json: how each episode ended, its return, steps, tokens
and cost, and the configuration with its seeds. No text that was seen, said or
done is in it. Commit the file, and episodic gate --not-worse <name> has what it
compares with wherever the repository is.

Examples:
  episodic baseline main runs/main
  episodic gate runs/branch --not-worse main --margin 3points`,
    )
    .action(async (name: string, run: string) => {
      const file = await writeBaseline(name, await readEntries(run))
      out.write(`${colorsOf(out).bold(shownPath(file))}\n`)
    })
}
