import { assertQuarantineOf, readQuarantine, withoutOption } from '@episodic/analysis/quarantine/quarantine-file'
import { writeReport } from '@episodic/pages/file/write-report'
import { say, usesColor } from '@episodic/run/base/console'
import { interruptible } from '@episodic/run/base/interruption'
import { flag } from '@episodic/run/base/options'
import { anchorsNote } from '@episodic/run/folder/anchors/anchors-file'
import { foldRun, showSummary, tornNotice } from '@episodic/run/folder/record/report-run'
import { readManifest } from '@episodic/run/folder/record/run-folder'
import { formatSummary } from '@episodic/run/folder/text/format-summary'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'

const reportOptions = z.object({
  allowConflicts: flag('accept conflicting lines of the same episode'),
  anchors: flag('also measure floor and oracle: what doing nothing and the solver of the world earn on these tasks'),
  without: withoutOption,
  json: flag('print the summary as JSON'),
})

export const command = defineCommand('report', reportOptions, {
  argument: ['<folder>', 'folder of the run'],
  async run(folder: string, options, console) {
    const onTorn = (line: number) => say(console.err, tornNotice(line))
    if (options.anchors && !options.without) {
      const { reportAnchors } = await import('../../evaluate/anchors/measure-anchors.ts')
      if (!(await interruptible(console, ({ signal }) => reportAnchors(folder, signal, console)))) return
    }
    const manifest = await readManifest(folder)
    const without = readQuarantine(options.without)
    if (without) {
      assertQuarantineOf(without, manifest)
      const summary = (await foldRun(folder, manifest, { onTorn, without: without.ids })).summarize()
      const text = `\n${formatSummary(summary, { color: usesColor(console.out) })}\n  ${without.note}`
      return void console.out.write(`${options.json ? JSON.stringify({ ...summary, ...without.json }) : text}\n`)
    }
    const summary = await writeReport(folder, await foldRun(folder, manifest, { onTorn }), options)
    showSummary(folder, summary, options, console)
    if (!summary.success.anchors && !options.json) console.out.write(`  ${await anchorsNote(folder)}\n`)
  },
})
