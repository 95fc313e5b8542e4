import { spawnSync } from 'node:child_process'

/** Whether processes have groups, which a child may lead: everywhere but on Windows. */
export const HAS_GROUPS: boolean = process.platform !== 'win32'

/**
 * Signals a process that leads a group, and everything in its group. Windows has neither groups nor signals: the
 * process and all that it has started are ended at once there, whatever the signal. Does nothing if they have ended.
 */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  if (!HAS_GROUPS) {
    // Waits for it: who calls it may be about to exit.
    spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true })
    return
  }
  try {
    process.kill(-pid, signal)
  } catch {
    // The group has no process left.
  }
}
