import { readPart } from '@episodic/state/internal'
import { DefenseInDepthBox } from 'just-bash'
import type { VirtualClock } from '../clock/virtual-clock.ts'
import type { ReadOnlyDisk } from '../disk/disk.ts'
import { EditedDisk } from '../disk/edited-disk.ts'
import { runShell } from '../shell/run-shell.ts'
import { SYSTEM, systemDisk } from '../shell/shell-parts.ts'
import { runSql } from '../sql/run-sql.ts'
import type { JobResult } from './job-result.ts'
import type { Job, JobAnswer, SentDisk, ToThread } from './messages.ts'

export function createJobRunner(clock: VirtualClock): (message: ToThread) => Promise<JobAnswer> {
  /** Every page that this thread was sent. */
  const pages = new Map<string, string>()
  // The shell blocks parts of the language while a command runs. What blocks them stays in place between commands: to
  // put it there and take it away costs as much as most commands.
  DefenseInDepthBox.getInstance().activate()

  return async ({ job, disk }) => {
    try {
      return { kind: 'done', result: await run(job, await received(disk)) }
    } catch (error) {
      const { message, stack = '' } = error as Error
      return { kind: 'failed', message, stack }
    }
  }

  async function received(disk: SentDisk): Promise<ReadOnlyDisk> {
    if ('plain' in disk) return disk.plain
    for (const [name, text] of disk.pages) pages.set(name, text)
    return (await readPart(disk.page, async (names) => names.map((name) => pages.get(name) ?? null))) as ReadOnlyDisk
  }

  async function run({ access, now, seed, files, task }: Job, disk: ReadOnlyDisk): Promise<JobResult> {
    const isShell = task.kind === 'shell'
    const layers = [files, ...(isShell ? [await systemDisk(task, clock)] : [])]
    clock.begin(now, seed)
    const own = { ...access, readOnly: [...access.readOnly, ...SYSTEM] }
    const edited = new EditedDisk(disk, own, () => clock.now, layers)
    const done = isShell
      ? { ...(await runShell(edited, task.script, task, clock)), transaction: null }
      : { ...(await runSql(edited, task.database, task.sql, task.transaction, { clock, seed })), memory: null }
    return { ...done, changes: edited.changes(), grown: edited.grown, elapsed: isShell ? clock.now - now : 0 }
  }
}
