import { join } from 'node:path'
import { assertQuarantineOf, leftOutOf, readQuarantine } from '@episodic/analysis/quarantine/quarantine-file'
import { type Console, usesColor } from '@episodic/run/base/console'
import { createRunFold } from '@episodic/run/folder/record/report-run'
import { RUN_FILES, readManifest } from '@episodic/run/folder/record/run-folder'
import { readSealed } from '@episodic/run/folder/record/sealed-file'
import { formatSummary } from '@episodic/run/folder/text/format-summary'

/** Prints the figures of a run without the tasks of a quarantine, and says so. */
export async function reportWithout(
  folder: string,
  file: string,
  { json, onTorn }: { readonly json?: boolean | undefined; readonly onTorn: (line: number) => void },
  { out }: Console,
): Promise<void> {
  const left = readQuarantine(file)
  const manifest = await readManifest(folder)
  assertQuarantineOf(left, manifest)
  const fold = createRunFold({ ...manifest, scheduled: undefined })
  for await (const record of readSealed(join(folder, RUN_FILES.episodes), { onTorn }))
    if (!left.ids.has(record.task.id)) fold.add(record)
  const summary = fold.summarize()
  out.write(
    json
      ? `${JSON.stringify({ ...summary, ...leftOutOf(left) })}\n`
      : `\n${formatSummary(summary, { color: usesColor(out) })}\n  ${left.note}\n`,
  )
}
