import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect, type TestSession } from '../connect.fixture.ts'
import { openTemporaryFolder, type TemporaryFolder } from '../temporary-folder.ts'

const SERVER = './files/files-server.ts'

describe('the files server', () => {
  let folder: TemporaryFolder
  let session: TestSession
  beforeAll(async () => {
    folder = await openTemporaryFolder()
    await mkdir(join(folder.path, 'logs'))
    await writeFile(join(folder.path, 'logs', 'day.log'), 'sunrise\nnoon\nsunset\n')
    session = await connect(SERVER, [folder.path])
  })
  afterAll(async () => {
    await session[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })

  it('keeps the working directory and the position in a file', async () => {
    expect(await session.ask('change_folder', { path: 'logs' })).toEqual({ folder: '/logs' })
    expect(await session.ask('list_files')).toEqual({ folder: '/logs', names: ['day.log'] })
    const { handle } = await session.ask('open_file', { path: 'day.log' })
    expect(await session.ask('read_file', { handle, bytes: 8 })).toEqual({ text: 'sunrise\n', atEnd: false })
    expect(await session.ask('read_file', { handle, bytes: 5 })).toEqual({ text: 'noon\n', atEnd: false })
    expect(await session.ask('read_file', { handle })).toEqual({ text: 'sunset\n', atEnd: true })
    await session.ask('close_file', { handle })
    expect(await session.fail('read_file', { handle })).toContain(`no handle ${handle} in this session`)
    await session.ask('change_folder', { path: '/' })
  })

  it('shares no handle and no working directory with another session', async () => {
    await session.ask('change_folder', { path: 'logs' })
    const { handle } = await session.ask('open_file', { path: 'day.log' })
    await using other = await connect(SERVER, [folder.path])
    expect(await other.fail('read_file', { handle })).toContain('Open handles: none')
    expect(await other.fail('open_file', { path: 'day.log' })).toBe('There is no day.log in /.')
    await session.ask('change_folder', { path: '/' })
  })

  it('returns every text unchanged, however few bytes are read at once', async () => {
    const text = 'Grüße, 世界 🦔 – fin'
    const written = await session.ask('open_file', { path: 'text', mode: 'write' })
    await session.ask('write_file', { handle: written.handle, text: text.slice(0, 5) })
    await session.ask('write_file', { handle: written.handle, text: text.slice(5) })
    expect(await readFile(join(folder.path, 'text'), 'utf8')).toBe(text)
    for (const bytes of [1, 2, 3, 7, 100]) {
      const { handle } = await session.ask('open_file', { path: 'text' })
      let read = ''
      for (let atEnd = false; !atEnd; ) {
        const part = await session.ask('read_file', { handle, bytes })
        read += part.text
        atEnd = part.atEnd as boolean
      }
      expect(read).toBe(text)
      await session.ask('close_file', { handle })
    }
    await session.ask('close_file', { handle: written.handle })
  })

  it('reads and writes nothing outside of its folder', async () => {
    await symlink('/etc', join(folder.path, 'link'))
    for (const path of ['..', '../..', 'link', '/link']) {
      expect(await session.fail('change_folder', { path })).toContain('outside of this server’s folder')
    }
    for (const path of ['../secret', 'link/passwd', '/link/passwd'])
      expect(await session.fail('open_file', { path, mode: 'write' })).toContain('outside of this server’s folder')
    // A path from the root is inside the server's folder, not on the machine.
    expect(await session.fail('open_file', { path: '/etc/passwd' })).toBe('There is no /etc/passwd in /.')
  })

  it('holds a bounded number of open files', async () => {
    await using other = await connect(SERVER, [folder.path])
    for (let i = 0; i < 16; i += 1) await other.ask('open_file', { path: `many-${i}`, mode: 'write' })
    expect(await other.fail('open_file', { path: 'one-more', mode: 'write' })).toContain('Close one first')
    await other.ask('close_file', { handle: 1 })
    await other.ask('open_file', { path: 'one-more', mode: 'write' })
  })

  it('reports a wrong path, without the path on the machine', async () => {
    expect(await session.fail('change_folder', { path: 'nowhere' })).toBe('There is no nowhere in /.')
    expect(await session.fail('change_folder', { path: 'logs/day.log' })).toBe('logs/day.log is no folder.')
    expect(await session.fail('open_file', { path: 'logs', mode: 'write' })).toBe('logs: EISDIR.')
    expect(await session.fail('open_file', { path: 'none/file', mode: 'write' })).toBe('There is no none/file in /.')
    expect(await session.fail('open_file', { path: 'x', mode: 'burn' })).toContain('mode')
  })
})
