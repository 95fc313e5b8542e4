import { serverSecrets } from './server-secrets.ts'

/** The control tokens of local servers. */
export const controlTokens = serverSecrets((port) => `control-${port}.token`)

/** Returns the control token of a local server by its URL; `undefined` if there is no readable token file. */
export function findControlToken(url: string): string | undefined {
  const { hostname, port, pathname } = new URL(url)
  if (!/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname) || pathname !== '/env') return undefined
  return controlTokens.find(Number(port || 80))
}
