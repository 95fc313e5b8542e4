import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunStop } from '@episodic/report/view/run-entry'
import { z } from 'zod'
import { HarnessError } from '../../base/harness-error.ts'
import { jsonInFile } from '../../base/json.ts'
import { RUN_FILES, writeRunFile } from './run-folder.ts'

const stopSchema = z.object({
  format: z.literal(1),
  code: z.string(),
  message: z.string(),
  /** Words of a command line to go on with. Left out for none. */
  raise: z.array(z.string()).optional(),
  at: z.string(),
})

/** Returns why the run in a folder stopped the last time; `null` if it is not known, or it did not. */
export async function readStop(folder: string): Promise<RunStop | null> {
  const read = await jsonInFile(stopSchema, join(folder, RUN_FILES.stop))
  if (!read) return null
  const { format: _, ...stop } = read
  return stop
}

/**
 * Writes why a run stopped. It is no part of what the run records: where it cannot be written there is none.
 *
 * @param cause - what was thrown; `null` if it was interrupted.
 * @param redact - takes secrets out of the message.
 * @param raise - the option that raises the limit which was reached, if one was.
 */
export async function writeStop(
  folder: string,
  cause: unknown,
  { redact, raise }: { readonly redact: (text: string) => string; readonly raise: readonly string[] },
): Promise<void> {
  const { code, message } = toStop(cause)
  const raised = raise.length > 0 && { raise }
  const stop = { format: 1, code, message: redact(message), ...raised, at: new Date().toISOString() }
  await writeRunFile(folder, RUN_FILES.stop, `${JSON.stringify(stop, null, 2)}\n`).catch(() => {})
}

function toStop(cause: unknown): Pick<RunStop, 'code' | 'message'> {
  if (cause === null) return { code: 'interrupted', message: 'It was interrupted, by Ctrl-C or by a signal.' }
  if (HarnessError.is(cause)) return cause
  return { code: 'failed', message: cause instanceof Error ? cause.message : String(cause) }
}

export async function removeStop(folder: string): Promise<void> {
  await rm(join(folder, RUN_FILES.stop), { force: true }).catch(() => {})
}
