import { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { main } from '@episodic/harness'

export { onStart } from './timed-policy.ts'

const POLICY = fileURLToPath(new URL('./timed-policy.ts', import.meta.url))

/**
 * Plays a run at random with the `episodic` command, in this process and with its progress on a terminal. Resolves with
 * the status of the command, and with what it wrote last.
 *
 * @param onLastProgress - called when the last progress is drawn: all episodes are sealed, and the report is still to
 *   be written.
 */
export async function playRunCommand(
  args: readonly string[],
  onLastProgress: () => void = () => {},
): Promise<{ readonly status: number; readonly shown: string }> {
  let shown = ''
  const err = terminal((text) => {
    shown = (shown + text).slice(-2_000)
    if (text.startsWith('\r') && text.endsWith('\n')) onLastProgress()
  })
  const status = await main(['run', ...args, '--policy', POLICY, '--json'], { out: terminal(() => {}), err })
  return { status, shown }
}

/** A terminal of 100 columns. */
function terminal(onText: (text: string) => void): NodeJS.WriteStream {
  const stream = new Writable({
    decodeStrings: false,
    write(text: string, _, done) {
      onText(text)
      done()
    },
  })
  return Object.assign(stream, { isTTY: true, columns: 100 }) as unknown as NodeJS.WriteStream
}
