import { lstatSync, mkdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MachineCommand } from './machine.ts'
import type { WorkingCopy } from './working-copy.ts'

/** What of `/etc` a box has: nothing that describes this computer, or that may have a secret. */
const ETC =
  'alternatives bash.bashrc ca-certificates ca-certificates.conf debian_version fonts inputrc ld.so.cache ld.so.conf ld.so.conf.d locale.alias magic magic.mime mime.types nsswitch.conf os-release perl protocols python3 services ssl/certs ssl/openssl.cnf terminfo'.split(
    ' ',
  )

/** Files of `/etc` that are the same on each computer. */
const MADE: Readonly<Record<string, string>> = {
  passwd: 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n',
  group: 'root:x:0:\nnogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost workspace\n::1 localhost\n',
  hostname: 'workspace\n',
}

const VARIABLES: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
  TZ: 'UTC',
  // What programs keep for later, they keep beside the files.
  XDG_CACHE_HOME: '/var/cache',
  // There is one user.
  TAR_OPTIONS: '--no-same-owner',
}

/** Returns the variables of a command, those that a program can have, beside those that a machine sets. */
export function variablesOf(own: MachineCommand['variables']): [name: string, value: string][] {
  return Object.entries({ ...VARIABLES, ...own }).filter(
    ([name, value]) => /^[^=\0]+$/.test(name) && !value.includes('\0'),
  )
}

/** Returns the arguments of `bwrap` for what is the same in every box, and writes files for it into a folder. */
export function systemArguments(folder: string): string[] {
  const args = ['--unshare-all', '--unshare-user', '--disable-userns', '--uid', '0', '--gid', '0']
  args.push('--hostname', 'workspace', '--die-with-parent', '--new-session', '--clearenv', '--ro-bind', '/usr', '/usr')
  for (const path of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats?.isSymbolicLink()) args.push('--symlink', readlinkSync(path), path)
    else if (stats) args.push('--ro-bind', path, path)
  }
  for (const name of ETC) args.push('--ro-bind-try', `/etc/${name}`, `/etc/${name}`)
  mkdirSync(join(folder, 'etc'))
  for (const [name, text] of Object.entries(MADE)) {
    const file = join(folder, 'etc', name)
    writeFileSync(file, text, { mode: 0o644 })
    args.push('--ro-bind', file, `/etc/${name}`)
  }
  return [...args, '--proc', '/proc', '--dev', '/dev', '--dir', '/run']
}

export function commandArguments(
  { folders, readOnly, variables, network, bounds }: MachineCommand,
  copy: WorkingCopy,
  system: readonly string[],
): string[] {
  const args: string[] = network ? ['--share-net', '--ro-bind-try', '/etc/resolv.conf', '/etc/resolv.conf'] : []
  // These are memory, which their processes share.
  const scratch = ['/dev/shm', '/var', '/tmp', '/root'].filter((path) => !folders.includes(path))
  for (const path of scratch) args.push('--perms', '1777', '--size', String(bounds.memory), '--tmpfs', path)
  for (const path of system) args.push('--ro-bind', path, path)
  for (const folder of folders) args.push('--bind', copy.at(folder), folder)
  for (const path of ['/var/tmp', '/var/cache'])
    if (!folders.includes('/var')) args.push('--perms', '1777', '--dir', path)
  // What has come since is undone after the command. Of a link, `bwrap` would take what it leads to.
  for (const path of readOnly) if (copy.hasFile(path)) args.push('--ro-bind', copy.at(path), path)
  args.push('--remount-ro', '/', '--remount-ro', '/dev')
  for (const [name, value] of variablesOf(variables)) args.push('--setenv', name, value)
  return args
}
