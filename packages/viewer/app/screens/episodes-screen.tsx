import type { Route } from '../route/route.ts'

type EpisodesRoute = Route & { readonly screen: 'episodes' }

export function EpisodesScreen({ route }: { readonly route: EpisodesRoute }) {
  return <h1>{route.screen}</h1>
}
