import type { ExtraRoutes } from '@episodic/mcp-server/http'

/** Each path belongs to the first that owns it. */
export function joinRoutes(all: readonly ExtraRoutes[]): ExtraRoutes {
  const ownerOf = (path: string) => all.find((routes) => routes.owns(path))
  return {
    owns: (path) => ownerOf(path) !== undefined,
    tokenOf: (request, path) => ownerOf(path)?.tokenOf?.(request, path) ?? null,
    answer: (request, response, path, identify) => ownerOf(path)?.answer(request, response, path, identify),
    upgrade(request, socket, head, client) {
      ownerOf((request.url ?? '').split('?', 1)[0] as string)?.upgrade(request, socket, head, client)
    },
    async drain(signal) {
      const left = await Promise.all(all.map((routes) => routes.drain(signal)))
      return left.reduce((sum, count) => sum + count, 0)
    },
    end() {
      for (const routes of all) routes.end()
    },
  }
}
