import { EmptyNote } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'
import type { Route } from '../route/route.ts'

type UnknownRoute = Route & { readonly screen: 'unknown' }

export function UnknownScreen({ route }: { readonly route: UnknownRoute }) {
  return (
    <EmptyNote whole title="No screen has this address">
      <p>
        <code>#{plain(route.address)}</code>
      </p>
      <p>
        <a href="#/">All runs</a>
      </p>
    </EmptyNote>
  )
}
