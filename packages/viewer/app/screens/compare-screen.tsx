import type { Route } from '../route/route.ts'

type CompareRoute = Route & { readonly screen: 'compare' }

export function CompareScreen({ route }: { readonly route: CompareRoute }) {
  return <h1>{route.screen}</h1>
}
