import type { Route } from '../route/route.ts'

type RunRoute = Route & { readonly screen: 'run' }

export function RunScreen({ route }: { readonly route: RunRoute }) {
  return <h1>{route.screen}</h1>
}
