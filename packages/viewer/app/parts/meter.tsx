import { pixels } from './plots/scale.ts'

export function Meter({ share, kind }: { readonly share: number; readonly kind: string }) {
  return (
    <svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width={100} height={8} />
      <rect class={kind} width={pixels(share * 100)} height={8} />
    </svg>
  )
}
