import type { Preview, ResolveAction } from './preview.ts';

/**
 * The model's authority over its own `resolve`: setting `redline.resolve.modelAuthority`. `checked`: apply previews that all checks
 * have passed on, and recommend everything else.
 */
export type ModelAuthority = 'recommend' | 'apply' | 'none' | 'checked';

/** Which pending preview comes first: setting `redline.resolve.order`. */
export type ResolveOrder = 'newestFirst' | 'oldestFirst';

/**
 * When the model is made to resolve: setting `redline.resolve.forcing`. `auto`: once for all previews of a turn, when it would end;
 * `forced`: once for each preview, with the next request; `always`: as `forced`, and again after a reload; `off`: never.
 */
export type Forcing = 'auto' | 'forced' | 'always' | 'off';

/**
 * Whether the model's own `resolve` is executed, executed only if the checks prove it, or only recorded as a recommendation.
 * @param isProtected whether only the user may apply changes of the preview's files (`ResolvingFiles.isProtected`).
 */
export function modelMay(
  authority: ModelAuthority,
  action: ResolveAction,
  preview: Preview,
  { isProtected }: { readonly isProtected: boolean },
): 'execute' | 'prove' | 'recommend' {
  if (preview.kind === 'plan') return action === 'discard' ? 'execute' : 'recommend';
  if (preview.editedByUser) return 'recommend';
  switch (authority) {
    case 'none':
      return 'recommend';
    case 'recommend':
      return action === 'apply' ? 'recommend' : 'execute';
    case 'checked':
      if (action === 'discard') return 'execute';
      return preview.kind !== 'files' || preview.humanOnly || isProtected ? 'recommend' : 'prove';
    case 'apply':
      return action === 'apply' && (preview.humanOnly || isProtected) ? 'recommend' : 'execute';
  }
}
