import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { lockRun, summarySchema } from '@episodic/harness'
import { startProcess } from '../../chaos/processes/start-process.ts'
import { readCpu } from '../process-tree.ts'
import { writeLargeRun } from './large-run.ts'
import { openBrowser, openPage } from './open-page.ts'

const CLI = fileURLToPath(new URL('../../apps/harness/src/cli.ts', import.meta.url))
const GUESSING = fileURLToPath(new URL('../../examples/number-guessing', import.meta.url))
const BEFORE = 100

/**
 * Milliseconds from the append of a sealed line to its row being counted on an open page, for one line after the other.
 * They are appended at different moments of the server's looks at the file.
 */
export async function timeSealedToSeen(folder: string, lines: number): Promise<number[]> {
  const run = join(folder, 'large')
  await writeLargeRun(run, BEFORE + lines)
  const file = join(run, 'episodes.jsonl')
  const sealed = readFileSync(file, 'utf8').trimEnd().split('\n')
  writeFileSync(file, sealed.slice(0, BEFORE).map(withBreak).join(''))
  // As the process that plays the run does.
  using _ = lockRun(run)
  await using browser = await openBrowser()
  await using opened = await openPage(browser, folder)
  const { page } = opened
  await opened.go((id) => `/r/${id}/episodes`)
  await page.locator('main tbody tr a').first().waitFor()
  await page.getByText('1 live').waitFor()
  const times: number[] = []
  for (const [i, line] of sealed.slice(BEFORE).entries()) {
    await sleep(700 + ((i * 190) % 500))
    const began = performance.now()
    appendFileSync(file, withBreak(line))
    await page.getByRole('button', { name: `${BEFORE} → ${BEFORE + i + 1}, show` }).waitFor()
    times.push(performance.now() - began)
  }
  return times
}

function withBreak(line: string): string {
  return `${line}\n`
}

/** Plays runs by turns alone and with a page that follows them. */
export interface FollowedRuns extends AsyncDisposable {
  /**
   * Steps a second of a run, by its own clock. With `followed`, the page of that run is open from its first line on, on
   * a server that has started before: what is measured is following a run, and not the start of a server beside it.
   */
  play(followed: boolean): Promise<number>
  /** Seconds of the processor that the server took, for each second of runs that were followed. */
  readonly serverShare: number
}

/** Starts a server and a browser for {@link FollowedRuns}. */
export async function followRuns(folder: string, tasks: number): Promise<FollowedRuns> {
  await using cleanup = new AsyncDisposableStack()
  mkdirSync(folder)
  const play = async (name: string, count: number, whilePlayed: () => Promise<void>): Promise<number> => {
    const out = join(folder, name)
    await using run = startProcess(process.execPath, [
      ...[CLI, 'run', GUESSING, '--tasks', String(count), '--out', out, '--json'],
    ])
    await whilePlayed()
    const summary = summarySchema.parse(JSON.parse(await run.line()))
    await run.exited
    return summary.time.stepsPerSecond ?? 0
  }
  // Once it has been shown, the server's threads have read their code.
  await play('before', 20, async () => {})
  const browser = cleanup.use(await openBrowser())
  const opened = cleanup.use(await openPage(browser, folder))
  await opened.go((id) => `/r/${id}`)
  await opened.page.getByRole('heading', { name: 'before' }).waitFor()
  const used = { server: 0, runs: 0 }
  let number = 0
  const moved = cleanup.move()
  return {
    async play(followed) {
      const name = `played-${number++}`
      await opened.go(() => '/')
      await opened.page.getByRole('heading', { name: 'Runs' }).waitFor()
      if (!followed) await opened.page.goto('about:blank')
      const [began, before] = [performance.now(), readCpu(opened.server.pid)]
      const rate = await play(name, tasks, async () => {
        if (followed) await opened.page.getByRole('link', { name }).click()
      })
      if (followed) {
        used.server += readCpu(opened.server.pid) - before
        used.runs += (performance.now() - began) / 1_000
      }
      rmSync(join(folder, name), { recursive: true })
      return rate
    },
    get serverShare() {
      return used.server / used.runs
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  }
}
