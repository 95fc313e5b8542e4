import { describe, expect, it } from 'vitest'
import { createDisk } from './create-disk.ts'
import { EditedDisk } from './edited-disk.ts'

const open = () =>
  new EditedDisk(
    createDisk({ '/app/a': '1', '/app/ro/fixed': '2' }),
    { hidden: [], readOnly: ['/app/ro'], room: 1_000 },
    () => 0,
  )

describe('EditedDisk', () => {
  it('changes nothing by a move or removal that it refuses', () => {
    const disk = open()
    expect(() => disk.move('/app', '/moved')).toThrow(/EROFS/)
    expect(() => disk.remove('/app', true)).toThrow(/EROFS/)
    expect(disk.changes()).toEqual([])
    expect(disk.read('/app/a')).toBe('1')
  })

  it('refuses names that no disk has', () => {
    const disk = open()
    expect(() => disk.write('/app/con\0trol', '')).toThrow(/EINVAL/)
    expect(() => disk.makeDirectory('/app/\udc80', false)).toThrow(/EINVAL/)
    expect(() => disk.write(`/app/${'é'.repeat(128)}`, '')).toThrow(/ENAMETOOLONG/)
    expect(disk.list('/app')).toEqual(['a', 'ro'])
  })
})
