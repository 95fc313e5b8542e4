import type { Route } from '../route/route.ts'

type RunsRoute = Route & { readonly screen: 'runs' }

export function RunsScreen({ route }: { readonly route: RunsRoute }) {
  return <h1>{route.screen}</h1>
}
