import { CHECKS, type CheckName } from './check-report.ts'

type Err = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>

/** Returns what shows on a terminal how far a check is, and elsewhere a line for each. */
export function showProgress(asked: readonly CheckName[], err: Err, dim: (text: string) => string) {
  const terminal = err.isTTY === true
  const planned = CHECKS.filter((one) => asked.includes(one))
  let begun: CheckName | null = null
  return {
    erase: () => terminal && err.write('\r\x1b[2K'),
    onProgress(name: CheckName, done: number, total: number) {
      const place = `check ${planned.indexOf(name) + 1} of ${planned.length}: ${name}`
      if (terminal) err.write(`\r\x1b[2K${dim(`${place} ${Math.floor((100 * done) / total)} %`)}`)
      else if (done === 0 && name !== begun) err.write(`${place}\n`)
      begun = name
    },
  }
}
