import { describe, expect, it } from 'vitest'
import { formatTable } from './table.ts'

describe('formatTable', () => {
  it('prints the name of a scene in its first row, and the result of each row', () => {
    const row = { scene: 'files', kind: 'played', asExpected: true } as const
    const table = formatTable([
      { ...row, sessions: 'a session a call', outcome: 'There is no\nday.log.', works: false, opened: 3 },
      { ...row, sessions: 'one session', outcome: 'read', works: true, opened: 1 },
      { scene: 'browser', sessions: 'one session', kind: 'skipped', outcome: 'There is no chromium.' },
    ])
    expect(table).toBe(
      [
        'scene    sessions          opened     what came out',
        'files    a session a call       3  ✗  There is no day.log.',
        '         one session            1  ✓  read',
        'browser  one session               –  skipped: There is no chromium.',
      ].join('\n'),
    )
  })
})
