import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE, openPythonEnvironment } from '../python-environment.ts'
import { OF_NPM, OF_PYPI, type PublicServer } from './public-servers.ts'

/** A server whose program is on this machine. */
export interface InstalledServer extends PublicServer {
  /** The path of its program. */
  readonly path: string
  /** The name of its package, with the version. */
  readonly version: string
}

/**
 * Installs the servers that are not there yet, in folders that are kept between runs, and returns them.
 *
 * @param parts - one of them has to be in the name of the program.
 */
export function installServers(parts: readonly string[], onMake: (text: string) => void): InstalledServer[] {
  const isNamed = ({ program }: PublicServer) => parts.some((part) => program.includes(part))
  const ofNpm = OF_NPM.filter(isNamed)
  const folder = ofNpm.length > 0 ? installFromNpm(ofNpm, onMake) : ''
  return [
    ...ofNpm.map((server) => ({
      ...server,
      path: join(folder, 'node_modules/.bin', server.program),
      version: server.package.replace(/@([^@]+)$/, ' $1'),
    })),
    ...OF_PYPI.filter(isNamed).map((server) => {
      const { python, versionOf } = openPythonEnvironment(server.requirements, onMake)
      return {
        ...server,
        path: join(python, '..', server.program),
        version: `${server.package} ${versionOf(server.package)}`,
      }
    }),
  ]
}

/** Returns the folder of the packages of npm. */
function installFromNpm(servers: readonly PublicServer[], onMake: (text: string) => void): string {
  const packages = servers.map((server) => server.package)
  const digest = createHash('sha256').update(packages.join('\n')).digest('hex').slice(0, 12)
  const folder = join(CACHE, `mcp-servers-npm-${digest}`)
  if (existsSync(folder)) return folder
  onMake('installing the MCP servers of npm')
  const making = `${folder}.new`
  rmSync(making, { recursive: true, force: true })
  mkdirSync(making, { recursive: true })
  writeFileSync(join(making, 'package.json'), '{ "private": true }\n')
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', making, ...packages], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  renameSync(making, folder)
  return folder
}
