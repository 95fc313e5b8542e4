import type { Route } from '../route/route.ts'

type UnknownRoute = Route & { readonly screen: 'unknown' }

export function UnknownScreen({ route }: { readonly route: UnknownRoute }) {
  return <h1>{route.screen}</h1>
}
