import { spawn } from 'node:child_process'

const PROGRAMS: { readonly [platform: string]: readonly string[] } = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

export function openInBrowser(url: string): void {
  const [program = 'xdg-open', ...given] = PROGRAMS[process.platform] ?? []
  const child = spawn(program, [...given, url], { stdio: 'ignore', detached: true })
  // The address is printed too.
  child.on('error', () => {})
  child.unref()
}
