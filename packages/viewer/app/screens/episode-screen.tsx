import type { Route } from '../route/route.ts'

type EpisodeRoute = Route & { readonly screen: 'episode' }

export function EpisodeScreen({ route }: { readonly route: EpisodeRoute }) {
  return <h1>{route.screen}</h1>
}
