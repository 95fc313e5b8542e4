import type { Split, ToolInfo } from '@episodic/protocol'
import { Command, Option } from 'commander'
import { type Console, shownPath } from '../console.ts'
import { exportRun } from '../export/export-run.ts'
import { EXPORT_FORMATS, type ExportFormatName } from '../export/formats.ts'
import { HarnessError } from '../harness-error.ts'
import { findSealed, type SealedEpisodes } from '../replay/read-recorded.ts'
import { loadRecordedWorld } from '../run/plan/sources.ts'
import { tornNotice } from '../run/record/report-run.ts'
import { seatOf } from '../seats/seat-of.ts'
import { loadWorld } from '../world.ts'

interface ExportCommandOptions {
  readonly format: ExportFormatName
  readonly out?: string
  readonly split?: Split
  readonly successful?: true
  readonly seat?: string
  readonly world?: string
  readonly json?: true
}

const FORMATS = Object.entries(EXPORT_FORMATS)
  .map(([name, { description }]) => `  ${name.padEnd(15)}${description}`)
  .join('\n')

export function exportCommand(console: Console): Command {
  return new Command('export')
    .description('write the sealed episodes of a run in a format that trainers and viewers read')
    .argument('<run>', 'folder of a run, or a file of sealed episodes')
    .addOption(
      new Option('--format <format>', 'format of the file, see below')
        .choices(Object.keys(EXPORT_FORMATS))
        .makeOptionMandatory(),
    )
    .option('--out <file>', 'file to write; default: standard output')
    .addOption(new Option('--split <split>', 'only episodes of this split').choices(['train', 'validation', 'test']))
    .option(
      '--seat <seat>',
      'of an environment of several seats: only this seat (default: each seat has an episode of its own)',
    )
    .option('--successful', 'only episodes that succeeded')
    .option('--world <world>', 'world whose tools are written; default: that of the run')
    .option('--json', 'print the counts as JSON; needs --out')
    .addHelpText(
      'after',
      `
Formats:
${FORMATS}

Failed episodes are left out, and are never a reward of 0; an Inspect log has them as samples with an error. The
ids of calls begin with the hash of the sealed episode, and most formats have it as "episode".`,
    )
    .action(async (run: string, options: ExportCommandOptions) => {
      if (options.json && options.out === undefined)
        throw new HarnessError('option-invalid', '--json prints the counts to standard output: give --out too.')
      const sealed = await findSealed(run)
      if (sealed.manifest) seatOf(sealed.manifest.configuration, options.seat)
      const warn = (notice: string) => void console.err.write(`${notice}\n`)
      const torn = new Set<number>()
      const counts = await exportRun(sealed, {
        ...options,
        format: EXPORT_FORMATS[options.format],
        tools: await toolsOf(sealed, options.world, warn),
        to: options.out ?? console.out,
        // Some formats read the file twice.
        onTorn: (line) => void torn.add(line),
      })
      for (const line of torn) console.err.write(tornNotice(line))
      if (options.json) console.out.write(`${JSON.stringify(counts)}\n`)
      else {
        const { finished, failed, lines } = counts
        const omitted = failed === 0 || options.format === 'inspect' ? '' : `, ${failed} failed ones left out`
        const where = options.out === undefined ? '' : ` to ${shownPath(options.out)}`
        console.err.write(
          `${finished} finished episodes exported${where} as ${options.format}: ${lines === 1 ? '1 line' : `${lines} lines`}${omitted}.\n`,
        )
      }
    })
}

/** The tools of a run's world. An export without them is still of use, so a world that is gone is reported. */
async function toolsOf(
  { folder, name, manifest }: SealedEpisodes,
  given: string | undefined,
  warn: (notice: string) => void,
): Promise<readonly ToolInfo[] | null> {
  if (given !== undefined) return (await loadWorld(given)).environment.toolInfos
  try {
    return (await loadRecordedWorld({ folder, sources: manifest?.sources, name }, warn)).environment.toolInfos
  } catch (error) {
    if (!HarnessError.is(error)) throw error
    warn(`The tools are left out, because the world of the run cannot be loaded: ${error.message}`)
    return null
  }
}
