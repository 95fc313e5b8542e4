import { mkdir, symlink, writeFile } from 'node:fs/promises'
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
})
