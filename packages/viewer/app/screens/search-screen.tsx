import type { Route } from '../route/route.ts'

type SearchRoute = Route & { readonly screen: 'search' }

export function SearchScreen({ route }: { readonly route: SearchRoute }) {
  return <h1>{route.screen}</h1>
}
