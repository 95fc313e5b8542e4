import type { EpisodeRecord } from '@episodic/protocol'
import { playRun } from '@episodic/report/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { showProgress } from './progress.ts'

const ESCAPE = String.fromCharCode(27)
const [some] = playRun({ tasks: 1, attempts: 1, failures: 0 }) as [EpisodeRecord]
const paid = (unshaped: number): EpisodeRecord => ({ ...some, returns: { total: 99, unshaped, discounted: 99 } })
const failed: EpisodeRecord = { ...some, returns: null }

function watch(stream: { isTTY?: boolean; columns?: number }, total: number, done = 0) {
  const written: string[] = []
  let time = 0
  const progress = showProgress({ ...stream, write: (text) => written.push(text) }, total, done, { now: () => time })
  const wait = (milliseconds: number) => {
    time += milliseconds
  }
  return { written, progress, wait }
}

afterEach(() => vi.unstubAllEnvs())

describe('showProgress', () => {
  it('logs the share, failures, unshaped return and remaining time at intervals', () => {
    const { written, progress, wait } = watch({}, 100, 10)
    progress.add(paid(1))
    expect(written).toEqual([])
    wait(5_000)
    progress.add(failed)
    wait(4_000)
    progress.add(paid(0))
    expect(written).toEqual(['12 %  12/100  1 failed  return 1.000 ± 0.000  0.4 episodes/s  220 s left\n'].map(minutes))
    wait(1_000)
    progress.add(paid(1))
    progress.stop()
    // Mean 2/3, sample deviation 0.577, over three: 1.96 · 0.577 / √3.
    expect(written.at(-1)).toBe('14 %  14/100  1 failed  return 0.667 ± 0.653  0.4 episodes/s\n')
    expect(written.join('')).not.toContain(ESCAPE)
  })

  it('shows what models cost, and a whole line on a terminal of 0 columns', () => {
    const asked = { model: 'm', promptTokens: 5, completionTokens: 2, cost: 0.0021, text: null }
    const spending: EpisodeRecord = { ...paid(1), undecided: [asked] }
    const { written, progress } = watch({ isTTY: true, columns: 0 }, 2)
    progress.add(spending)
    progress.add(spending)
    progress.stop()
    expect(written.at(-1)).toContain('2/2  return 1.000 ± 0.000')
    expect(written.at(-1)).toContain('  cost 0.0042')
  })

  it('never counts a failure as a return', () => {
    const { written, progress } = watch({}, 2)
    progress.add(failed)
    progress.add(failed)
    progress.stop()
    expect(written.at(-1)).toMatch(/^100 % {2}2\/2 {2}2 failed {2}\d+ episodes\/s\n$/)
  })

  it.each([20, 40, 60, 80, 200])('redraws one line that never wraps, on a terminal of %i columns', (columns) => {
    const { written, progress, wait } = watch({ isTTY: true, columns }, 1_000, 500)
    for (let i = 0; i < 50; i++) {
      wait(60)
      progress.add(i % 9 === 0 ? failed : paid(i))
    }
    progress.stop()
    expect(written.length).toBeGreaterThan(10)
    const codes = new RegExp(`${ESCAPE}\\[\\d*[mK]`, 'g')
    for (const line of written) {
      expect(line.startsWith(`\r${ESCAPE}[2K`)).toBe(true)
      expect(line.replace(codes, '').replace(/^\r|\n$/g, '').length).toBeLessThan(columns)
      expect(line).toContain('/1000')
    }
    expect(written.filter((line) => line.endsWith('\n'))).toHaveLength(1)
    if (columns >= 80) expect(written[0]).toMatch(/█+.*failed.*return .*episodes\/s.* s left/)
  })

  it('writes no colour if NO_COLOR is set', () => {
    vi.stubEnv('NO_COLOR', '1')
    const { written, progress } = watch({ isTTY: true, columns: 80 }, 1)
    progress.add(failed)
    progress.stop()
    expect(written.join('')).not.toMatch(new RegExp(`${ESCAPE}\\[\\d+m`))
  })
})

/** Long waits are shown in minutes. */
function minutes(line: string): string {
  return line.replace('220 s', '4 min')
}
