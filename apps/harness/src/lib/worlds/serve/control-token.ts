import { serverSecrets } from './server-secrets.ts'

export const controlTokens = serverSecrets((port) => `control-${port}.token`)

export function findControlToken(url: string): string | undefined {
  const { hostname, port, pathname } = new URL(url)
  if (!/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname) || pathname !== '/env') return undefined
  return controlTokens.find(Number(port || 80))
}
